"""Buffers and copies on one device."""

from __future__ import annotations

from typing import Any

import numpy as np

from mace_cl.errors import DeviceError
from mace_cl.opencl import driver
from mace_cl.opencl.context import context_of
from mace_cl.opencl.devices import DeviceInfo

HOST_ALIGN = 128
"""Host memory is used in place only where it is aligned so: kernels load whole vectors."""


class Memory:
    """Makes buffers on a device.

    Args:
        device: Where.
    """

    def __init__(self, device: DeviceInfo) -> None:
        self.device = device
        self._cl = driver.binding()
        self._context = context_of(device)
        flags = self._cl.mem_flags
        self._access = {"r": flags.READ_ONLY, "w": flags.WRITE_ONLY, "rw": flags.READ_WRITE}

    def buffer(self, size: int, access: str = "rw") -> Any:
        """A buffer whose content nobody knows.

        Args:
            size: Bytes; 0 makes the smallest that there is.
            access: What kernels may do: 'r', 'w' or 'rw'.

        Raises:
            DeviceError: The device has no room.
        """
        return self._make(self._access[access], max(size, 1), None)

    def filled(self, data: np.ndarray, access: str = "rw") -> Any:
        """A buffer with a copy of the bytes.

        Raises:
            DeviceError: The device has no room.
        """
        if not data.nbytes:
            return self.buffer(0, access)
        return self._make(self._access[access] | self._cl.mem_flags.COPY_HOST_PTR, data.nbytes, data)

    def constant(self, data: memoryview) -> Any:
        """A read-only buffer of the bytes: the host's own where the device can use them in place.

        Raises:
            DeviceError: The device has no room.
        """
        array = np.frombuffer(data, np.uint8)
        aligned = array.__array_interface__["data"][0] % HOST_ALIGN == 0
        if not (array.nbytes and aligned and self.device.shares_host_memory):
            return self.filled(array, "r")
        return self._make(self._access["r"] | self._cl.mem_flags.USE_HOST_PTR, array.nbytes, array)

    def part(self, buffer: Any, offset: int, size: int, access: str) -> Any:
        """A sub-buffer.

        Args:
            buffer: Whole buffer.
            offset: Bytes from its start; a multiple of the device's base alignment.
            size: Bytes, at least 1.
            access: What kernels may do.

        Raises:
            DeviceError: The driver refuses.
        """
        try:
            return buffer.get_sub_region(offset, size, self._access[access])
        except self._cl.Error as error:
            raise driver.translate(error, f"taking {size} bytes at {offset} of a buffer") from error

    def _make(self, flags: Any, size: int, data: np.ndarray | None) -> Any:
        try:
            if data is None:
                return self._cl.Buffer(self._context, flags, size)
            return self._cl.Buffer(self._context, flags, hostbuf=data)
        except self._cl.Error as error:
            raise driver.translate(
                error, f"making a buffer of {size} bytes on {self.device.label}", "close other sessions"
            ) from error
        except (TypeError, ValueError, MemoryError) as error:
            raise DeviceError(f"cannot make a buffer of {size} bytes ({error})") from error


def write(queue: Any, buffer: Any, array: np.ndarray) -> None:
    """Put a contiguous array into a buffer, in the queue's order. It must live until the queue has finished."""
    if array.nbytes:
        driver.binding()._enqueue_write_buffer(queue, buffer, array, 0, None, False)


def read(queue: Any, buffer: Any, array: np.ndarray) -> None:
    """Fill a contiguous array from a buffer, once all before it in the queue is done."""
    if array.nbytes:
        driver.binding()._enqueue_read_buffer(queue, buffer, array, 0, None, False)
