"""One function for each operator of TensorFlow Lite, one module a family; `registry` finds them by listing."""
