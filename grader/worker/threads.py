"""Threads: what an answer would do in others is done in the one that its process may have."""

from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing
import sys
import threading
import time
from _thread import allocate_lock
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import starmap
from threading import Thread
from types import MappingProxyType, SimpleNamespace
from typing import Any, Self

Work = Callable[..., Any]
Several = Iterable[Any]
NONE: Mapping[str, Any] = MappingProxyType({})

FOR_EVER = "this waits for another thread, and while answers are checked there is none"

_waiting: list[Thread] = []
"""Threads that were started, and run when somebody waits for what they do."""

_running: list[Thread] = []


class Waits(BaseException):
    """What a thread waits for cannot come as long as it runs."""


def do_without_threads(torch: Any) -> None:
    """Let an answer use threads, and what needs one, in vain: a child may start none.

    Args:
        torch: the module, if it was imported.
    """
    _run_threads_at_once()
    if torch is not None:
        # Torch 2.11 would wait without end for those that it could not start.
        torch.set_num_threads = _nothing
        # A loader makes its batches itself, not in processes of its own.
        torch.utils.data.DataLoader.num_workers = property(lambda _: 0, lambda _, __: None)
        _measure_nothing(torch)


def _nothing(*_: object, **__: object) -> None:
    """Stands in for what would need a thread."""


def _run_threads_at_once() -> None:
    """Let threads, and pools of threads or processes, work where work is handed to them.

    A thread runs to its end when it is started. One that works in the background runs when it is
    joined or something else is waited for; so does one that would wait, from its beginning.
    """
    python: Any = threading
    python.Thread.start, python.Thread.join = _start, _join
    python.Thread.is_alive = lambda thread: thread is threading.main_thread()
    # The lock by which a condition waits, and so an event, a queue and a result to come.
    python._allocate_lock = _Turn
    python = concurrent.futures
    python.ThreadPoolExecutor.submit = _submit
    python.ProcessPoolExecutor = ThreadPoolExecutor
    python = multiprocessing
    pools: Any = SimpleNamespace(Pool=_Pool, ThreadPool=_Pool)
    python.pool = sys.modules["multiprocessing.pool"] = pools


def forget_threads() -> None:
    """Run none any more that was started until now."""
    _waiting.clear()


def _start(thread: Thread) -> None:
    # Many loop until they are told to stop; a timer is mostly cancelled.
    if thread.daemon or isinstance(thread, threading.Timer):
        _waiting.append(thread)
    else:
        _run(thread)


def _join(thread: Thread, _: float | None = None) -> None:
    if thread in _waiting:
        _waiting.remove(thread)
        _run(thread)


def _run(thread: Thread) -> None:
    # `run` throws away what to call.
    before = dict(vars(thread))
    _running.append(thread)
    try:
        thread.run()
    except Waits:
        vars(thread).update(before)
        _waiting.append(thread)
    finally:
        _running.pop()


class _Turn:
    """A lock which lets the threads that wait have their turn before it waits itself."""

    def __init__(self) -> None:
        self._lock = allocate_lock()
        self.release = self._lock.release

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        if self._lock.acquire(False):
            return True
        if blocking and _running:
            raise Waits
        # One may wait for what another hands on.
        for thread in [*_waiting] * len(_waiting) if blocking else ():
            _join(thread)
            if self._lock.acquire(False):
                return True
        if blocking and timeout < 0:
            raise RuntimeError(FOR_EVER)
        return self._lock.acquire(blocking, timeout)


def _submit(_: object, work: Work, /, *args: Any, **kwargs: Any) -> _Result:
    done = _Result()
    try:
        done.set_result(work(*args, **kwargs))
    except Exception as error:
        done.set_exception(error)
    return done


class _Result(Future[Any]):
    """What comes of one piece of work, as `concurrent.futures` and `multiprocessing` have it."""

    get, ready = Future.result, Future.done

    def wait(self, timeout: float | None = None) -> None:
        """Nothing is left to wait for."""

    def successful(self) -> bool:
        return self.exception() is None


class _Pool:
    """A pool of `multiprocessing`, of threads or processes: its work is done when it is asked."""

    def __init__(
        self,
        processes: int | None = None,
        initializer: Work | None = None,
        initargs: Several = (),
        *_: object,
        **__: object,
    ) -> None:
        if initializer is not None:
            initializer(*initargs)

    def map(self, func: Work, iterable: Several, chunksize: int | None = None) -> list[Any]:
        return [*map(func, iterable)]

    def starmap(self, func: Work, iterable: Several, chunksize: int | None = None) -> list[Any]:
        return [*starmap(func, iterable)]

    def imap(self, func: Work, iterable: Several, chunksize: int | None = None) -> Iterator[Any]:
        return map(func, iterable)

    def apply(self, func: Work, args: Several = (), kwds: Mapping[str, Any] = NONE) -> Any:
        return func(*args, **kwds)

    def apply_async(
        self,
        func: Work,
        args: Several = (),
        kwds: Mapping[str, Any] = NONE,
        callback: Work | None = None,
        error_callback: Work | None = None,
    ) -> _Result:
        done = _submit(self, func, *args, **kwds)
        called, what = (callback, "result") if done.successful() else (error_callback, "exception")
        if called is not None:
            called(getattr(done, what)())
        return done

    def map_async(self, func: Work, iterable: Several, *_: Any, **calls: Any) -> _Result:
        return self.apply_async(self.map, (func, iterable), **calls)

    def starmap_async(self, func: Work, iterable: Several, *_: Any, **calls: Any) -> _Result:
        return self.apply_async(self.starmap, (func, iterable), **calls)

    def close(self) -> None:
        """All its work is done."""

    imap_unordered, join, terminate = imap, close, close

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """All its work is done."""


# --- profilers: they run in an answer, and measure nothing


def _measure_nothing(torch: Any) -> None:
    """Let a profiler around right lines run them.

    PyTorch's has a thread of its own, which no child may start; Python's would see into functions
    that are not the answer's.
    """
    older, newer = torch.autograd.profiler, torch.profiler.profiler
    for name in ("_prepare_profiler", "_enable_profiler", "_disable_profiler"):
        setattr(older, name, _nothing)
    older.kineto_available = newer.kineto_available = _nothing
    # It would ask the compiler, whose source is kept from answers, for a setting.
    vars(torch)["_lazy_modules"].discard("_inductor")
    native: Any = SimpleNamespace(Profiler=_Profiler)
    sys.modules["_lsprof"] = native


class _Profiler:
    """What `cProfile.Profile` is made from; it needs no timer, and no function was called."""

    __init__ = enable = disable = clear = _nothing

    def getstats(self) -> list[Any]:
        return []


# --- a loop of asyncio's that needs no socket, as a sandbox has none


def run_to_end(coroutine: Coroutine[Any, Any, None]) -> None:
    """Run what awaits to its end, with all that it awaits, though another loop may run here."""
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    loop = _Loop()
    try:
        loop.run_until_complete(coroutine)
    finally:
        loop.close()
        asyncio._set_running_loop(outer)


class _Loop(asyncio.BaseEventLoop):
    """A loop that waits for nothing but the clock, and so never has to be woken."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = SimpleNamespace(select=lambda seconds: time.sleep(seconds or 0))

    _process_events = _write_to_self = _nothing
