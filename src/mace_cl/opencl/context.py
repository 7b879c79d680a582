"""One context per process and device, or nothing could be shared; and queues on it."""

from __future__ import annotations

import threading
from typing import Any

from mace_cl.opencl import driver
from mace_cl.opencl.devices import DeviceInfo

_contexts: dict[int, Any] = {}
_lock = threading.Lock()


def context_of(device: DeviceInfo) -> Any:
    """The context of a device; made when first asked for.

    Raises:
        DeviceError: The driver refuses.
    """
    cl = driver.binding()
    with _lock:
        key = int(device.handle.int_ptr)
        if key not in _contexts:
            try:
                _contexts[key] = cl.Context([device.handle])
            except cl.Error as error:
                raise driver.translate(error, f"opening {device.label}") from error
        return _contexts[key]


def new_queue(device: DeviceInfo, profiling: bool = False) -> Any:
    """An in-order command queue.

    Raises:
        DeviceError: The driver refuses.
    """
    cl = driver.binding()
    context = context_of(device)
    try:
        if profiling:
            return cl.CommandQueue(context, device.handle, cl.command_queue_properties.PROFILING_ENABLE)
        return cl.CommandQueue(context, device.handle)
    except cl.Error as error:
        raise driver.translate(error, f"making a queue on {device.label}") from error
