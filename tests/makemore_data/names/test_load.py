from __future__ import annotations

import errno
import hashlib
import logging
import os
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from makemore_data import UnusableNames, load_names
from makemore_data.names.download import MAX_BYTES, RemoteFile
from makemore_data.names.load import LECTURE_LIST

TEN = ["ada", "bo", "cy", "dee", "eve", "fay", "gus", "hal", "ivy", "jo"]
CONTENT = "\n".join(TEN).encode()
SHA256 = hashlib.sha256(CONTENT).hexdigest()
EXPECTED = (
    "Expected: a text file with one name a line, or the word bundled; "
    "or neither, for the lecture's own list."
)
SHORT = 0.3
"""Seconds of patience with a server that will not answer in time."""


class Server(ThreadingHTTPServer):
    """A server on this machine, good or bad according to the path asked for."""

    daemon_threads = False  # joined at the end, so that no test leaves a connection behind

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.stopping = threading.Event()
        self.asked: list[str] = []

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that have lost patience are no news."""

    def file(self, path: str, sha256: str = SHA256) -> RemoteFile:
        return RemoteFile(f"http://127.0.0.1:{self.server_address[1]}/{path}", sha256)


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        kind = self.path.strip("/")
        self.server.asked.append(kind)
        if kind == "silent":
            self.server.stopping.wait(20)
            return
        self.send_response(404 if kind == "missing" else 200)
        if kind != "endless":
            self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        if kind == "half":
            self.wfile.write(CONTENT[:20])
        elif kind == "endless":
            # Endless for a client that stops at 10 MB, and bounded for one that does not.
            for _ in range(30):
                self.wfile.write(b"emma\n" * 100_000)
        elif kind == "dripping":
            # Slow, yet complete in the end: without a deadline the download would succeed.
            for byte in CONTENT:
                self.server.stopping.wait(0.1)
                self.wfile.write(bytes([byte]))
        else:
            self.wfile.write(CONTENT)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.stopping.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def refusing() -> RemoteFile:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return RemoteFile(f"http://127.0.0.1:{port}/names.txt", SHA256)


@pytest.fixture(autouse=True)
def nothing_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MAKEMORE_NAMES", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def only_line(capfd: pytest.CaptureFixture[str]) -> str:
    """The one line that was printed; nothing else may be, on either stream."""
    printed = capfd.readouterr()
    assert printed.err == ""
    assert printed.out.count("\n") == 1
    return printed.out.rstrip("\n")


# The bundled list


def test_the_bundled_list_is_long_sorted_and_unique(bundled_names: list[str]) -> None:
    assert len(bundled_names) >= 5_000
    assert bundled_names == sorted(set(bundled_names))


# A list that was asked for


def test_a_path_in_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(CONTENT)
    monkeypatch.setenv("MAKEMORE_NAMES", str(path))
    assert load_names() == TEN
    assert only_line(capfd) == f"10 names from {path} (MAKEMORE_NAMES)."


def test_the_argument_comes_before_the_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(CONTENT)
    monkeypatch.setenv("MAKEMORE_NAMES", "/no/such/file")
    assert load_names(path) == TEN
    assert only_line(capfd) == f"10 names from {path} (given to load_names)."


def test_capitals_become_lower_case_and_the_line_says_so(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.txt"
    path.write_bytes(CONTENT.replace(b"e", b"E"))
    assert load_names(path) == TEN
    assert only_line(capfd) == (
        f"10 names from {path} (given to load_names), 2 of them put into lower case."
    )


def test_the_word_bundled(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], bundled_names: list[str]
) -> None:
    capfd.readouterr()
    monkeypatch.setenv("MAKEMORE_NAMES", "bundled")
    assert load_names() == bundled_names
    count = f"{len(bundled_names):,}"
    assert only_line(capfd) == f"{count} names from the bundled list (MAKEMORE_NAMES)."


def test_a_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.txt").write_bytes(CONTENT)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MAKEMORE_NAMES", "~/mine.txt")
    assert load_names() == TEN


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("missing", "PATH (MAKEMORE_NAMES) does not exist."),
        ("folder", "PATH (MAKEMORE_NAMES) is a folder."),
        ("pipe", "PATH (MAKEMORE_NAMES) is a pipe or a device, not a file."),
        ("circle", "PATH (MAKEMORE_NAMES) cannot be read: Too many levels of symbolic links."),
        ("huge", "PATH (MAKEMORE_NAMES) is larger than 10 MB, too large for a list of names."),
        ("empty", "PATH (MAKEMORE_NAMES) is empty."),
        ("binary", "PATH (MAKEMORE_NAMES) is not a text file: it holds null bytes."),
        (
            "accent",
            "Line 11 of PATH (MAKEMORE_NAMES) is 'zoë', but 'ë' is not a letter from a to z.",
        ),
    ],
)
def test_a_list_that_was_asked_for_and_cannot_be_used_is_an_error(
    kind: str,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "names.txt"
    make_trouble(kind, path)
    monkeypatch.setenv("MAKEMORE_NAMES", str(path))
    with pytest.raises(UnusableNames) as raised:
        load_names()
    assert str(raised.value) == f"{sentence.replace('PATH', str(path))} {EXPECTED}"
    assert capfd.readouterr().out == ""


def make_trouble(kind: str, path: Path) -> None:
    """Put at `path` something that is not a list of names."""
    match kind:
        case "missing":
            pass
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "circle":
            path.symlink_to(path)
        case "huge":
            path.write_bytes(b"emma\n" * (MAX_BYTES // 5 + 1))
        case "empty":
            path.touch()
        case "binary":
            path.write_bytes(b"\x7fELF\0\0\0")
        case "accent":
            path.write_bytes(CONTENT + "\nzoë\n".encode())
        case "cut off":
            path.write_bytes(CONTENT[:-7])


def test_a_path_that_no_file_can_have() -> None:
    with pytest.raises(UnusableNames, match=r"is not a path: (stat: )?embedded null (byte|char)"):
        load_names("names\0.txt")


def test_a_path_that_cannot_be_printed_can_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/mine\xff.txt"))
    path.write_bytes(CONTENT)
    assert load_names(path) == TEN
    # capsys, since capfd prints question marks of its own.
    assert only_line(capsys) == f"10 names from {tmp_path}/mine?.txt (given to load_names)."


# Nothing asked for: cached copy, download, bundled list


def test_a_download_is_kept_and_then_found_without_a_server(
    server: Server, refusing: RemoteFile, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    remote = server.file("names.txt")
    assert load_names(cache=cache, remote=remote) == TEN
    assert only_line(capfd) == (
        f"10 names downloaded from {remote.host}, kept in {cache / 'names.txt'}."
    )
    assert load_names(cache=cache, remote=refusing) == TEN
    assert only_line(capfd) == f"10 names from the cached copy {cache / 'names.txt'}."
    assert server.asked == ["names.txt"]


def test_an_empty_variable_asks_for_nothing(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAKEMORE_NAMES", " ")
    assert load_names(cache=cache, remote=server.file("names.txt")) == TEN


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("missing", "the server answered with status 404."),
        ("half", "the connection failed (ChunkedEncodingError)."),
        ("dripping", "no whole answer within 0.3 seconds."),
        ("silent", "no whole answer within 0.3 seconds."),
    ],
)
def test_a_download_that_fails_leaves_the_bundled_list(
    kind: str,
    reason: str,
    server: Server,
    cache: Path,
    capfd: pytest.CaptureFixture[str],
    bundled_names: list[str],
) -> None:
    capfd.readouterr()
    remote = server.file(kind)
    patience = SHORT if kind in ("dripping", "silent") else 20
    assert load_names(cache=cache, remote=remote, patience=patience) == bundled_names
    assert only_line(capfd) == fallback(
        bundled_names, f"The download from {remote.host} failed: {reason}"
    )
    assert list(cache.iterdir()) == []


def fallback(bundled_names: list[str], *reasons: str) -> str:
    count = f"{len(bundled_names):,}"
    line = f"{count} names from the bundled list, so figures will differ from the lecture's."
    return " ".join([line, *reasons])


def test_more_than_a_list_of_names_can_hold_is_not_downloaded(
    server: Server, cache: Path, capfd: pytest.CaptureFixture[str], bundled_names: list[str]
) -> None:
    capfd.readouterr()
    remote = server.file("endless")
    assert load_names(cache=cache, remote=remote, patience=20) == bundled_names
    assert only_line(capfd) == fallback(
        bundled_names,
        f"The download from {remote.host} failed: the server sent more than 10 MB.",
    )


def test_a_wrong_checksum(
    server: Server, cache: Path, capfd: pytest.CaptureFixture[str], bundled_names: list[str]
) -> None:
    capfd.readouterr()
    remote = server.file("names.txt", sha256=LECTURE_LIST.sha256)
    assert load_names(cache=cache, remote=remote) == bundled_names
    assert only_line(capfd) == fallback(
        bundled_names, f"The download from {remote.host} failed: the file has another checksum."
    )
    assert list(cache.iterdir()) == []


def test_no_connection(
    refusing: RemoteFile,
    cache: Path,
    capfd: pytest.CaptureFixture[str],
    bundled_names: list[str],
) -> None:
    capfd.readouterr()
    assert load_names(cache=cache, remote=refusing) == bundled_names
    assert only_line(capfd) == fallback(
        bundled_names,
        f"The download from {refusing.host} failed: the connection failed (ConnectionError).",
    )


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("empty", "The cached copy PATH was of no use: it is not the file that was downloaded."),
        ("cut off", "The cached copy PATH was of no use: it is not the file that was downloaded."),
        ("pipe", "The cached copy PATH is a pipe or a device, not a file."),
        ("huge", "The cached copy PATH is larger than 10 MB, too large for a list of names."),
        ("circle", "The cached copy PATH cannot be read: Too many levels of symbolic links."),
    ],
)
def test_a_broken_cached_copy_is_replaced(
    kind: str,
    reason: str,
    server: Server,
    cache: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    cache.mkdir()
    path = cache / "names.txt"
    make_trouble(kind, path)
    remote = server.file("names.txt")
    assert load_names(cache=cache, remote=remote) == TEN
    assert only_line(capfd) == (
        f"10 names downloaded from {remote.host}, kept in {path}. "
        f"{reason.replace('PATH', str(path))}"
    )
    assert path.read_bytes() == CONTENT


def test_a_broken_cached_copy_without_a_connection(
    refusing: RemoteFile,
    cache: Path,
    capfd: pytest.CaptureFixture[str],
    bundled_names: list[str],
) -> None:
    capfd.readouterr()
    cache.mkdir()
    path = cache / "names.txt"
    make_trouble("cut off", path)
    assert load_names(cache=cache, remote=refusing) == bundled_names
    assert only_line(capfd) == fallback(
        bundled_names,
        f"The cached copy {path} was of no use: it is not the file that was downloaded.",
        f"The download from {refusing.host} failed: the connection failed (ConnectionError).",
    )


# The tests may run as root, whom no permission stops: hence folders that nobody can write to.


def test_a_file_where_the_cache_folder_should_be(
    server: Server, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    cache.touch()
    remote = server.file("names.txt")
    assert load_names(cache=cache, remote=remote) == TEN
    assert only_line(capfd) == (
        f"10 names downloaded from {remote.host}, "
        f"not kept: {cache / 'names.txt'} cannot be written (File exists)."
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is a folder of Linux")
def test_a_cache_folder_that_cannot_be_made(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    remote = server.file("names.txt")
    assert load_names(cache=Path("/proc/makemore_data"), remote=remote) == TEN
    assert only_line(capfd) == (
        f"10 names downloaded from {remote.host}, not kept: "
        "/proc/makemore_data/names.txt cannot be written (No such file or directory)."
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is a folder of Linux")
def test_a_cache_folder_that_cannot_be_written_to(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    remote = server.file("names.txt")
    assert load_names(cache=Path("/proc/self"), remote=remote) == TEN
    assert only_line(capfd).startswith(
        f"10 names downloaded from {remote.host}, not kept: "
        "/proc/self/names.txt cannot be written ("
    )


def test_a_folder_where_the_cached_copy_should_be(
    server: Server, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = cache / "names.txt"
    path.mkdir(parents=True)
    remote = server.file("names.txt")
    assert load_names(cache=cache, remote=remote) == TEN
    line = only_line(capfd)
    assert line.startswith(f"10 names downloaded from {remote.host}, not kept: {path} cannot be")
    assert line.endswith(f"The cached copy {path} is a folder.")


def test_no_cache_and_no_temporary_folder(
    server: Server,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    bundled_names: list[str],
) -> None:
    capfd.readouterr()
    cache.touch()

    def nowhere() -> None:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr("makemore_data.names.download.tempfile.TemporaryDirectory", nowhere)
    remote = server.file("names.txt")
    assert load_names(cache=cache, remote=remote) == bundled_names
    assert only_line(capfd) == fallback(
        bundled_names,
        f"The download from {remote.host} failed: No usable temporary directory found.",
    )


def test_without_pooch(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], bundled_names: list[str]
) -> None:
    capfd.readouterr()
    monkeypatch.setitem(sys.modules, "pooch", None)
    assert load_names() == bundled_names
    assert only_line(capfd) == fallback(
        bundled_names, "No download without the package pooch, which is not installed."
    )


def test_a_server_whose_good_checksum_belongs_to_no_list_of_names(
    server: Server,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    bundled_names: list[str],
) -> None:
    capfd.readouterr()
    content = b"<html>" + b" " * len(CONTENT)
    monkeypatch.setattr(sys.modules[__name__], "CONTENT", content)
    remote = server.file("names.txt", hashlib.sha256(content).hexdigest())
    assert load_names(cache=cache, remote=remote) == bundled_names
    assert only_line(capfd) == fallback(
        bundled_names,
        f"Line 1 of the file from {remote.host} is '<html>', but '<' is not a letter from a to z.",
    )


def test_the_logger_of_pooch_is_left_as_it_was(server: Server, cache: Path) -> None:
    import pooch

    logger = pooch.get_logger()
    logger.setLevel(logging.DEBUG)
    load_names(cache=cache, remote=server.file("names.txt"))
    assert logger.level == logging.DEBUG
