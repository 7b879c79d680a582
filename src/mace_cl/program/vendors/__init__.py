"""Recognises and describes the binaries that drivers make, without a driver."""
