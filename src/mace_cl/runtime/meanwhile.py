"""Work of Python's that is done while a driver works: its calls leave the interpreter to others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Meanwhile(Generic[T]):
    """The result of a function that runs in a thread, or at once where nobody started it.

    Args:
        function: What to do; once.
    """

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._thread: threading.Thread | None = None
        self._results: list[T] = []
        self._error: BaseException | None = None

    def start(self) -> None:
        """Begin in a thread, if it has not begun."""
        if self._thread is None and not self._results:
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def result(self) -> T:
        """What the function gave, or raise what it raised."""
        if self._thread is not None:
            self._thread.join()
        elif not self._results and self._error is None:
            self._run()
        if self._error is not None:
            raise self._error
        return self._results[0]

    def _run(self) -> None:
        try:
            self._results.append(self._function())
        except BaseException as error:
            self._error = error
