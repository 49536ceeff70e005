"""Long runs, by hand: memory and processor time at the start and at the end, as one table.

    python tests/attack/soak.py [--minutes 5] [--only records,plans,quotes,serve]

A benchmark's loop of records, plans of a grant whose budget changes, a store that a quote a day of
each GPU comes to, and eight people at the keys of one `advisor serve`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import io
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
Step = Callable[[], None]
PAGES = 8


def _append(store: Path, folder: Path) -> Iterator[Step]:
    """What a benchmark does at the end of each trial."""
    from advisor.store import Store
    from bench_runner.records import journal
    from tests.store_for_tests import record

    number = 0

    def step() -> None:
        nonlocal number
        number += 1
        one = journal.with_id(record(f"s-{number}", gpu_count=1 + number % 8))
        journal.append(folder / "records.jsonl", one)
        Store(store).add(measurement=[one])

    yield step


def _plans(store: Path, folder: Path) -> Iterator[Step]:
    """The example's grant with another budget each time."""
    from advisor.cli.main import main

    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        main(["plan", "--example"])
    grant, dice = folder / "grant.toml", random.Random(1)

    def step() -> None:
        amount = f'total = "${dice.randrange(60, 180)},000"'
        changed, found = re.subn(r"(?m)^total = .*", amount, text.getvalue())
        assert found == 1
        grant.write_text(changed)
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            code = main(["--store", str(store), "plan", str(grant), "--quick", "--seconds", "20"])
        assert code in (0, 1), code

    yield step


def _quotes(store: Path, folder: Path) -> Iterator[Step]:
    """A quote of each GPU a day for a year, then the same days again, and a question after each."""
    from advisor.cli.main import main
    from advisor.store import Store

    with Store(store).reading() as reader:
        held = [q for q in reader.quotes() if q.item_kind == "gpu"]
    newest = list({quote.item_id: quote for quote in held}.values())
    day = date.today() - timedelta(days=364)
    number = 0

    def step() -> None:
        nonlocal number
        number += 1
        when = day + timedelta(days=number % 365)
        rows = [
            quote._replace(
                quote_id=f"soak:{number}:{quote.item_id}",
                price_usd=quote.price_usd + Decimal(number % 7),
                quoted_on=when,
                corrects=None,
            )
            for quote in newest
        ]
        Store(store).add(quote=rows)
        with contextlib.redirect_stdout(io.StringIO()):
            assert main(["--store", str(store), "rank", "--model", "pythia-1b"]) == 0

    yield step


def _serve(store: Path, folder: Path) -> Iterator[Step]:
    """Eight pages, as many as a server holds; a step is eight keys on each, answered by all."""
    import aiohttp

    from tests.tui.test_serve import free_port

    port = free_port()
    (folder / "state.json").write_text("{}")
    words = [sys.executable, "-m", "advisor", "--store", str(store), "serve", "--port", str(port)]
    environment = os.environ | {"ADVISOR_STATE": str(folder / "state.json")}
    server = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT)
    assert server.stderr is not None
    token = server.stderr.readline().partition("token=")[2].partition(" ")[0]
    loop = asyncio.new_event_loop()
    dice = random.Random(1)

    async def opened() -> tuple[aiohttp.ClientSession, list[aiohttp.ClientWebSocketResponse]]:
        session = aiohttp.ClientSession()
        address = f"ws://127.0.0.1:{port}/ws/{token}?width=120&height=40"
        return session, [await session.ws_connect(address) for _ in range(PAGES)]

    async def typed(page: aiohttp.ClientWebSocketResponse, drawing: set[object]) -> None:
        # The last one draws the table again, whatever came before it.
        keys = "".join(dice.choice(["\\u001b[A", "\\u001b[B", "d"]) for _ in range(7)) + "o"
        await page.send_str(f'["stdin", "{keys}"]')
        assert (await page.receive(timeout=60)).type in (1, 2), "a page has ended"  # text, bytes
        while drawing:  # until all have drawn: what it does not read holds up its program
            try:
                assert (await page.receive(timeout=0.3)).type in (1, 2), "a page has ended"
            except TimeoutError:
                drawing.discard(page)

    async def all_typed() -> None:
        drawing: set[object] = {*pages}
        await asyncio.gather(*(typed(page, drawing) for page in pages))

    session, pages = loop.run_until_complete(opened())
    try:
        yield lambda: loop.run_until_complete(all_typed())
    finally:
        loop.run_until_complete(session.close())
        server.terminate()
        server.wait(30)


SOAKS = {
    "a benchmark's records": _append,
    "plans of a changing budget": _plans,
    "a store of daily quotes": _quotes,
    "serve with eight pages": _serve,
}


def _memory_mib() -> float:
    """Of this process and all that it started."""
    here = psutil.Process()
    held = 0
    for each in (here, *here.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            held += each.memory_info().rss
    return held / 2**20


def _processor_s() -> float:
    """Processor seconds of this process and all that it started, on a busy machine too."""
    here = psutil.Process()
    used = 0.0
    for each in (here, *here.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            used += sum(each.cpu_times()[:4])  # own and of ended children, user and system
    return used


def main() -> int:
    """Run them, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5, help="for each")
    parser.add_argument("--only", help="words of their names, by commas (default: all)")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="soak-"))
    os.environ["PYTHONPATH"] = str(ROOT)
    from advisor.store import build_store

    build_store(folder / "whole.duckdb")
    print("| soak | minutes | steps | MiB: start, end | CPU-s a step: start, end |")
    print("|---|---:|---:|---:|---:|")
    for name, soak in SOAKS.items():
        if options.only and not any(word in name for word in options.only.split(",")):
            continue
        place = folder / name.replace(" ", "-")
        place.mkdir()
        store = Path(shutil.copy(folder / "whole.duckdb", place / "results.duckdb"))
        took: list[float] = []
        memory: list[float] = []
        began = time.monotonic()
        for step in soak(store, place):
            while time.monotonic() - began < 60 * options.minutes:
                at = _processor_s()
                step()
                took.append(_processor_s() - at)
                memory.append(_memory_mib())
        part = max(1, len(took) // 10)  # a tenth, the first step left out: it loads what it needs
        speeds = [statistics.median(took[1 : part + 1] or took), statistics.median(took[-part:])]
        mib = [statistics.median(memory[1 : part + 1] or memory), statistics.median(memory[-part:])]
        minutes = (time.monotonic() - began) / 60
        print(
            f"| {name} | {minutes:.1f} | {len(took):,} | {mib[0]:,.0f}, {mib[1]:,.0f} |"
            f" {speeds[0]:.3g}, {speeds[1]:.3g} |",
            flush=True,
        )
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
