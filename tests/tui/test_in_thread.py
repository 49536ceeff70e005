"""Work in threads: one of a name at a time, the newest alone counts, a fault ends in words."""

from __future__ import annotations

import threading

from textual.app import App

from advisor.tui.widgets.in_thread import in_thread, write_in_thread


async def test_of_many_requests_the_first_and_the_newest_run_and_the_newest_counts() -> None:
    """As where keys come faster than a machine can be looked at."""
    gate, run, shown, wrong, written = threading.Event(), [], [], [], []

    def work(number: int) -> int:
        gate.wait(60)
        run.append(number)
        return 10 // (number - 98)

    app: App[None] = App()
    async with app.run_test() as pilot:
        for number in range(100):
            in_thread(app, "look", lambda number=number: work(number), shown.append, wrong.append)
        for number in range(3):
            write_in_thread(app, lambda n=number: n, written.append, wrong.append)
        assert len([worker for worker in app.workers if worker.group == "look"]) == 1
        gate.set()
        while not shown or len(written) < 3:
            await pilot.pause(0.01)
        assert (run, shown, wrong, sorted(written)) == ([0, 99], [10], [], [0, 1, 2])
        in_thread(app, "look", lambda: work(98), shown.append, wrong.append)
        while not wrong:
            await pilot.pause(0.01)
        assert wrong == ["ZeroDivisionError: integer division or modulo by zero"]


async def test_nothing_is_done_for_what_is_gone() -> None:
    gate, shown = threading.Event(), []
    app: App[None] = App()
    async with app.run_test():
        in_thread(app, "look", lambda: gate.wait(60), shown.append)
        app.exit()
        gate.set()
    assert shown == []
