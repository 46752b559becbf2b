"""The download of a file whose checksum is known, within a few seconds' patience."""

from __future__ import annotations

import io
import logging
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from urllib.parse import urlsplit

MAX_BYTES = 10_000_000
"""No list of names is larger; the lecture's has 228,145 bytes."""


class DownloadFailed(Exception):
    """A file could not be downloaded; the message is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file that never changes: where it is, what its bytes must be."""

    url: str
    sha256: str

    @property
    def host(self) -> str:
        """Short enough to stand in a sentence."""
        return urlsplit(self.url).netloc


@dataclass(frozen=True, slots=True)
class Download:
    """A file's bytes, checked; `not_kept` says why the cache does not hold them now, if so."""

    content: bytes
    not_kept: str = ""


def default_cache() -> Path:
    """The folder for cached copies that is usual on this operating system.

    Raises:
        ImportError: pooch is not installed.
    """
    import pooch

    return Path(pooch.os_cache("makemore_data"))


def download(remote: RemoteFile, path: Path, patience: float) -> Download:
    """Download `remote` to `path`, waiting `patience` seconds at most.

    Where nothing can be written at `path`, the file is downloaded all the same, but not kept.

    Raises:
        DownloadFailed: no connection, no whole answer in time, a wrong checksum, no disk space.
    """
    try:
        try:
            _make_room(path)
        except OSError as error:
            with tempfile.TemporaryDirectory() as folder:
                content = _retrieve(remote, Path(folder) / path.name, patience)
            return Download(content, f"{path} cannot be written ({error.strerror})")
        return Download(_retrieve(remote, path, patience))
    except OSError as error:
        raise DownloadFailed(_failure(remote, f"{error.strerror or error}")) from error


def _make_room(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path.parent):
        pass
    # What stands there has been read already, and is of no use. Left to pooch, it would be read
    # again to compare checksums, and reading a named pipe waits for ever.
    path.unlink(missing_ok=True)


def _retrieve(remote: RemoteFile, path: Path, patience: float) -> bytes:
    import pooch

    def fetch(url: str, output_file: str, _pooch: object) -> None:
        Path(output_file).write_bytes(_fetch(remote, patience))

    try:
        with _silenced(pooch.get_logger()):
            pooch.retrieve(
                remote.url,
                known_hash=f"sha256:{remote.sha256}",
                fname=path.name,
                path=path.parent,
                downloader=fetch,
            )
    except ValueError as error:  # how pooch says that a checksum differs
        raise DownloadFailed(_failure(remote, "the file has another checksum")) from error
    return path.read_bytes()


def _fetch(remote: RemoteFile, patience: float) -> bytes:
    """The bytes of `remote`, or DownloadFailed after `patience` seconds in all.

    The time limits of requests hold for each wait on the network alone, and for none while a name
    is looked up, so a server that sends a byte a second would keep us for days. Hence a thread
    that can be left behind: it ends by itself, since its buffer is closed.
    """
    import pooch

    received = _Received()
    outcome: SimpleQueue[Exception | None] = SimpleQueue()

    def run() -> None:
        try:
            # Its own time limit only ends a thread that was left behind; ours comes first.
            pooch.HTTPDownloader(timeout=2 * patience)(remote.url, received, None)
        except Exception as error:  # whatever it is, the one who waits must hear of it
            outcome.put(error)
        else:
            outcome.put(None)

    threading.Thread(target=run, name="download of names", daemon=True).start()
    try:
        error = outcome.get(timeout=patience)
    except Empty:
        received.close()
        reason = f"no whole answer within {patience:g} seconds"
        raise DownloadFailed(_failure(remote, reason)) from None
    if error is not None:
        raise DownloadFailed(_failure(remote, _reason(error))) from error
    return received.getvalue()


class _Received(io.BytesIO):
    """A buffer that refuses to grow without end."""

    def write(self, data: bytes) -> int:  # type: ignore[override]  # pooch writes bytes only
        if self.tell() + len(data) > MAX_BYTES:
            raise _TooLarge
        return super().write(data)


class _TooLarge(Exception):
    pass


def _reason(error: Exception) -> str:
    response = getattr(error, "response", None)
    if response is not None:
        return f"the server answered with status {response.status_code}"
    if isinstance(error, _TooLarge):
        return f"the server sent more than {MAX_BYTES // 1_000_000} MB"
    return f"the connection failed ({type(error).__name__})"


def _failure(remote: RemoteFile, reason: str) -> str:
    return f"The download from {remote.host} failed: {reason}."


@contextmanager
def _silenced(logger: logging.Logger) -> Iterator[None]:
    """One line says where the names come from, and it is not this logger's."""
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
