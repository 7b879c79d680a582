"""Files that Xiaomi's MACE wrote: versions 1 and 2 of the compiled program, and files of tuned parameters."""
