from __future__ import annotations

import signal
import threading

import pytest

from grader.commands.interrupts import no_interrupt


def test_ctrl_c_waits_for_the_end_of_the_block() -> None:
    done = False
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), no_interrupt():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        done = True
    assert done
    assert signal.getsignal(signal.SIGINT) is before


def test_without_ctrl_c_nothing_happens() -> None:
    before = signal.getsignal(signal.SIGINT)
    with no_interrupt():
        pass
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_hears_of_it_afterwards() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        with no_interrupt():
            signal.raise_signal(signal.SIGINT)
            assert heard == []
        assert heard == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_where_it_is_ignored_it_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with no_interrupt():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_have_no_handlers_to_set() -> None:
    reached = threading.Event()

    def work() -> None:
        with no_interrupt():
            reached.set()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert reached.is_set()
