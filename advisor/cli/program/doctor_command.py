"""``advisor doctor``: what is there, what is missing, and how to get it."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from importlib.util import find_spec
from typing import NamedTuple

from advisor.benchmark.measurement_request import BENCH_PACKAGES, KERNEL_PACKAGES
from advisor.cli.command import ANSWERED, NO_ANSWER, store_path, terminal_width
from advisor.planning.report.formats.write_report import REPORT_PACKAGES
from advisor.store import Store, StoreError
from advisor.tables.plain_values import fill
from advisor.typed_input import install_words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


class Check(NamedTuple):
    """One thing looked at."""

    what: str
    found: str
    mended_by: str | None = None
    """How to get what is not there, and only some questions need."""
    ok: bool = True
    """False only for what stops the program from answering."""


def run(options: argparse.Namespace) -> int:
    """Look at everything that a question could trip over, and print it."""
    checks = [
        Check("Python", platform.python_version()),
        _store(options),
        _terminal(),
        _packages("benchmark packages", BENCH_PACKAGES, "bench", "a benchmark needs"),
        _packages("fused kernels", KERNEL_PACKAGES, "kernels", "a faster Mamba or attention needs"),
        _packages("report packages", REPORT_PACKAGES, "report", "the report of a plan needs"),
        _gpus(),
    ]
    broken = [check.what for check in checks if not check.ok]
    missing = [check.what for check in checks if check.mended_by]
    words = "This installation is all right"
    if broken:
        words = f"This installation cannot answer yet: see {' and '.join(broken)}"
    elif missing:
        words += f"; it has no {' and no '.join(missing)}"
    print(f"{words}.\n")
    for check in checks:
        print(_lines(check, terminal_width()))
    return NO_ANSWER if broken else ANSWERED


def _lines(check: Check, width: int) -> str:
    """As printed; a command stands whole on a line of its own."""
    said = f"{'ok  ' if check.ok else 'FAIL'}  {check.what}: {check.found}"
    if check.mended_by is None:
        return fill(said, width, subsequent_indent=" " * 6, break_long_words=False)
    where, _, command = check.mended_by.partition(": ")
    return f"{fill(f'{said}; {where}:', width, subsequent_indent=' ' * 6)}\n      {command}"


def _store(options: argparse.Namespace) -> Check:
    try:
        path = store_path(options)
        store = Store(path)
        with store.reading() as reader:
            models, quotes = len(reader.models()), len(reader.quotes())
            times = reader.count_times()
        store.check_whole()
    except StoreError as error:
        return Check("store", str(error), ok=False)
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    found = f"{path}, {models} models, {times} times, {quotes} quotes"
    return Check("store", found + ("" if writable else ", read-only (cannot add rows)"))


def _terminal() -> Check:
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # no stdout at all; not a terminal; closed
        return Check("terminal", "none here (output is redirected)")
    colour = "no colour (NO_COLOR)" if os.environ.get("NO_COLOR") else "colour"
    small = " - the program wants 80x24" if size.columns < 80 or size.lines < 24 else ""
    return Check("terminal", f"{size.columns}x{size.lines}, {colour}{small}")


def _packages(what: str, names: tuple[str, ...], extra: str, wanted: str) -> Check:
    missing = [name for name in names if find_spec(name) is None]
    if not missing:
        return Check(what, "all there")
    found = f"missing {', '.join(missing)} (only {wanted} them)"
    return Check(what, found, install_words(extra))


def _gpus() -> Check:
    try:
        listed = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return Check("GPUs", "none seen (nvidia-smi does not answer)")
    gpus = [line.strip() for line in listed.splitlines() if line.strip()]
    return Check("GPUs", "; ".join(gpus) or "none")
