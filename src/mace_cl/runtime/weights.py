"""Hashes a file's weights once on a machine, beside the rest of the load."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import partial

from mace_cl.errors import MaceError
from mace_cl.program.records import Blob
from mace_cl.runtime.source import OpenedFile
from mace_cl.store.store import Store
from mace_cl.store.tokens import token


class WeightCheck:
    """A check that runs in threads of its own until `finish`.

    Args:
        opened: The file.
        blobs: Its weights that will be used.
        store: Where it is noted that they are good; None to note nothing.
    """

    def __init__(self, opened: OpenedFile, blobs: Sequence[Blob], store: Store | None) -> None:
        self._store = store if store is not None and store.usable else None
        self._error: MaceError | None = None
        self._token = ""
        if opened.identity is not None:
            self._token = token("weights", os.uname().nodename, str(opened.identity), *(b.sha256 for b in blobs))
        self._known = bool(self._token and self._store and self._store.verified.has(self._token))
        self._left = [] if self._known else sorted(blobs, key=lambda b: b.size)
        self._lock = threading.Lock()
        count = min(len(self._left), os.cpu_count() or 1)
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._left or self._error is not None:
                    return
                blob = self._left.pop()
            try:
                blob.checked()
            except MaceError as error:
                self._error = error

    def finish(self) -> None:
        """Wait for the end of the check.

        Raises:
            FormatError: Weights are damaged.
        """
        for thread in self._threads:
            thread.join()
        if self._error is not None:
            raise self._error
        store = self._store
        if store is not None and self._token and not self._known:
            store.keep(partial(store.verified.add, self._token))
