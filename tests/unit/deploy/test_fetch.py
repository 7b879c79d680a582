"""Downloads from a server of our own: what goes wrong leaves nothing behind."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mace_cl.deploy.fetch import DownloadError, Limits, model_path
from mace_cl.errors import UsageError

CONTENT = bytes(range(256)) * 400
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind = self.path.strip("/").split(".")[0]
        if kind == "loop":
            self.send_response(302)
            self.send_header("Location", self.path)
            self.end_headers()
            return
        if kind == "file":
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd")
            self.end_headers()
            return
        if kind == "missing":
            self.send_error(404)
            return
        self.send_response(200)
        if kind != "endless":
            self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        if kind == "cut":
            self.wfile.write(CONTENT[:1000])
            return
        if kind == "slow":
            for i in range(100):
                self.wfile.write(CONTENT[i : i + 1])
                self.wfile.flush()
                time.sleep(0.05)
            return
        for _ in range(2000 if kind == "endless" else 1):
            self.wfile.write(CONTENT)

    def log_message(self, *_: object) -> None:
        pass

    def handle(self) -> None:
        with contextlib.suppress(OSError):  # the client goes away, as some tests want
            super().handle()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("MACE_CACHE_DIR", str(tmp_path / "cache"))
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    httpd.daemon_threads = True
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_address[1]}"
    httpd.shutdown()
    httpd.server_close()


def left(tmp_path: Path) -> list[Path]:
    return [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]


def test_a_model_is_fetched_once_and_kept(server: str, tmp_path: Path) -> None:
    path = model_path(f"{server}/good.onnx", SHA256, download=True)
    assert path.read_bytes() == CONTENT
    assert path.name == "good.onnx"
    assert model_path(f"{server}/gone/good.onnx", SHA256, download=False) == path
    assert left(tmp_path) == [path]


def test_nothing_is_fetched_without_leave(server: str) -> None:
    with pytest.raises(UsageError, match="--download"):
        model_path(f"{server}/good.onnx", SHA256, download=False)


def test_a_checksum_is_demanded(server: str) -> None:
    with pytest.raises(UsageError, match="model_sha256_checksum"):
        model_path(f"{server}/good.onnx", "", download=True)


@pytest.mark.parametrize(
    ("kind", "sha256", "limits"),
    [
        ("good", "0" * 64, Limits()),
        ("cut", SHA256, Limits()),
        ("loop", SHA256, Limits()),
        ("file", SHA256, Limits()),
        ("missing", SHA256, Limits()),
        ("good", SHA256, Limits(max_bytes=1000)),
        ("endless", SHA256, Limits(max_bytes=1_000_000)),
        ("slow", SHA256, Limits(max_seconds=0.3)),
    ],
)
def test_failures_leave_nothing_behind(server: str, tmp_path: Path, kind: str, sha256: str, limits: Limits) -> None:
    with pytest.raises(DownloadError) as error:
        model_path(f"{server}/{kind}.onnx", sha256, download=True, limits=limits)
    assert kind in str(error.value)
    assert left(tmp_path) == []


def test_nobody_listens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MACE_CACHE_DIR", str(tmp_path / "cache"))
    with pytest.raises(DownloadError, match="cannot be downloaded"):
        model_path("http://127.0.0.1:9/model.onnx", SHA256, download=True)
    assert left(tmp_path) == []


def test_local_files_are_checked_too(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(CONTENT)
    assert model_path(str(path), SHA256, download=False) == path
    with pytest.raises(UsageError, match="SHA-256"):
        model_path(str(path), "1" * 64, download=False)
    with pytest.raises(UsageError, match="no such file"):
        model_path(str(tmp_path / "other.onnx"), SHA256, download=False)
