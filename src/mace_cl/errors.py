"""Every exception of mace-cl.

    MaceError                     root; exit code 1
    ├── UsageError                wrong flag, name, path or value given by the user; exit code 2
    │   └── InputError            an input array of the wrong name, shape or type
    ├── FormatError               a file's bytes are not what its format says
    ├── ImportModelError          a model file that cannot be read as a network
    ├── UnsupportedError          well-formed, but not built here (operator, attribute, feature)
    ├── ShapeError                shapes or types that do not fit together
    ├── VerifyError               the graph or plan is broken after a step (a fault of ours)
    ├── CodegenError              no kernel can be made for a node
    ├── BuildError                a compiler refused a program; carries its log
    ├── DeviceError               an OpenCL call failed, or no device fits
    │   ├── NoDeviceError         no OpenCL device at all
    │   └── NoFitError            a file holds nothing that this device can use
    ├── CacheError                the user's cache folder; never fails a run
    ├── SignatureError            missing, unknown or wrong signature
    ├── RunInterrupted            a time limit or Ctrl-C stopped a run between steps
    └── TuneError                 the search of kernel parameters failed

A message says what is wrong, where, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Sequence


class MaceError(Exception):
    """Root of the family.

    Args:
        message: What is wrong, in one sentence without a full stop at its end.
        where: The file, node, key or OpenCL call that it is about.
        hint: What the user can do.
    """

    exit_code = 1

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text}; {self.hint}" if self.hint else text


class UsageError(MaceError):
    """A flag, name, path or value that the user gave is wrong."""

    exit_code = 2


class InputError(UsageError):
    """An input array has the wrong name, shape or type."""


class FormatError(MaceError):
    """Bytes that are not what the file's format says.

    Args:
        offset: Byte offset in the file, where known.
        field: Dotted path of the field, where known.
    """

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        offset: int | None = None,
        field: str | None = None,
    ) -> None:
        place = [p for p in (where, field, None if offset is None else f"offset {offset}") if p]
        super().__init__(message, where=", ".join(place) or None, hint=hint)
        self.offset = offset
        self.field = field


class ImportModelError(MaceError):
    """A model file that cannot be read as a network."""


class UnsupportedError(MaceError):
    """Well-formed, but not built here.

    Args:
        items: One line for each unsupported thing, all of them at once.
    """

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        items: Sequence[str] = (),
    ) -> None:
        text = message if not items else message + ":\n" + "\n".join(f"  - {i}" for i in items)
        super().__init__(text, where=where, hint=hint)
        self.items = tuple(items)


class ShapeError(MaceError):
    """Shapes or types that do not fit together."""


class VerifyError(MaceError):
    """The graph or the plan breaks its rules after a step: a fault of mace-cl."""


class CodegenError(MaceError):
    """No kernel can be made for a node."""


class BuildError(MaceError):
    """A compiler refused a program.

    Args:
        log: The compiler's own text.
    """

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None, log: str = "") -> None:
        super().__init__(message, where=where, hint=hint)
        self.log = log

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}\n{self.log.strip()}" if self.log.strip() else text


class DeviceError(MaceError):
    """An OpenCL call failed, or no device fits."""


class NoDeviceError(DeviceError):
    """No OpenCL device was found."""


class NoFitError(DeviceError):
    """A file holds nothing that this device can use.

    Args:
        reasons: One line for each entry of the file.
    """

    def __init__(
        self,
        message: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        reasons: Sequence[str] = (),
    ) -> None:
        text = message if not reasons else message + ":\n" + "\n".join(f"  - {r}" for r in reasons)
        super().__init__(text, where=where, hint=hint)
        self.reasons = tuple(reasons)


class CacheError(MaceError):
    """The user's cache folder is in trouble. It never fails a run."""


class SignatureError(MaceError):
    """A signature is missing, unknown or wrong."""


class RunInterrupted(MaceError):  # noqa: N818  a stop that was asked for is no error
    """A time limit or Ctrl-C stopped a run between steps."""


class TuneError(MaceError):
    """The search of kernel parameters failed."""
