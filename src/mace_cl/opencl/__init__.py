"""Devices, identity, building programs, queues: the only place that talks to OpenCL drivers."""
