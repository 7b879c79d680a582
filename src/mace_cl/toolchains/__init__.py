"""Offline compilers: clang, and any vendor's by a template. None needs the device."""
