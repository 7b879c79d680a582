"""The OpenCL C: plain `.cl` files, one a kernel family, with a `.py` beside each."""
