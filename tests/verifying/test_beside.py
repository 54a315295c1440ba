"""Work beside the main thread: one piece after the other, errors kept, nothing left running."""

from __future__ import annotations

import threading

import pytest

from setpoint.verifying.beside import Beside


@pytest.mark.parametrize("threaded", [True, False])
def test_work_is_done_in_order_and_its_error_is_kept(threaded: bool) -> None:
    """What follows a failed piece is still done; who asks for its result hears of the error."""
    done: list[int] = []

    def fail() -> None:
        done.append(2)
        raise ValueError("two")

    with Beside(threaded=threaded) as beside:
        first = beside.do(lambda: done.append(1))
        second = beside.do(fail)
        third = beside.do(lambda: len(done))
        assert first.result() is None
        with pytest.raises(ValueError, match="two"):
            second.result()
        assert third.result() == 2
    assert done == [1, 2]


def test_it_is_another_thread_only_when_told_so() -> None:
    """Without threads the caller's own does the work, at once."""
    with Beside(threaded=True) as beside:
        assert beside.do(threading.get_ident).result() != threading.get_ident()
    with Beside(threaded=False) as beside:
        assert beside.do(threading.get_ident).result() == threading.get_ident()


def test_an_error_outside_waits_for_what_is_under_way() -> None:
    """No thread touches a copy any more when the copies are dropped."""
    begun, may_end = threading.Event(), threading.Event()
    done: list[str] = []

    def slow() -> None:
        begun.set()
        may_end.wait()
        done.append("slow")

    def fail_meanwhile() -> None:
        with Beside(threaded=True) as beside:
            beside.do(slow)
            begun.wait()
            may_end.set()
            raise ValueError("outside")

    with pytest.raises(ValueError, match="outside"):
        fail_meanwhile()
    assert done == ["slow"]
