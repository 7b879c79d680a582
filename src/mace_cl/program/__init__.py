"""The file: its records, reader and writer, and everything that looks at it; no OpenCL."""
