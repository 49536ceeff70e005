"""``advisor doctor``: what is there, what is missing, and how to get it."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from advisor.benchmark.measurement_request import BENCH_PACKAGES, KERNEL_PACKAGES
from advisor.cli.command import ANSWERED, NO_ANSWER, store_path, terminal_width
from advisor.planning.report.formats.write_report import REPORT_PACKAGES
from advisor.store import Store, StoreError
from advisor.tables.plain_values import fill
from advisor.typed_input import install_words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """None of its own."""


def run(options: argparse.Namespace) -> int:
    """Look at everything that a question could trip over, and print it."""
    checks = _examine(options)
    print(f"{_verdict(checks)}\n")
    for check in checks:
        print(check.lines(terminal_width()))
    return ANSWERED if all(check.ok for check in checks) else NO_ANSWER


def _verdict(checks: Sequence[Check]) -> str:
    """Whether the installation is all right, in one sentence."""
    broken = [check.what for check in checks if not check.ok]
    if broken:
        return f"This installation cannot answer yet: see {' and '.join(broken)}."
    missing = [check.what for check in checks if check.mended_by]
    if missing:
        return f"This installation is all right; it has no {' and no '.join(missing)}."
    return "This installation is all right."


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing looked at."""

    what: str
    found: str
    ok: bool = True
    """False only for what stops the program from answering."""
    mended_by: str | None = None
    """How to get what is not there, and only some questions need."""

    def lines(self, width: int) -> str:
        """As printed; a command stands whole on a line of its own."""
        said = f"{'ok  ' if self.ok else 'FAIL'}  {self.what}: {self.found}"
        if self.mended_by is None:
            return fill(said, width, subsequent_indent=" " * 6, break_long_words=False)
        where, _, command = self.mended_by.partition(": ")
        return f"{fill(f'{said}; {where}:', width, subsequent_indent=' ' * 6)}\n      {command}"


def _examine(options: argparse.Namespace) -> list[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    return [
        Check(ok=sys.version_info >= (3, 11), what="Python", found=version),
        _store(options),
        _terminal(),
        _packages("benchmark packages", BENCH_PACKAGES, "bench"),
        _packages("fused kernels", KERNEL_PACKAGES, "kernels"),
        _packages("report packages", REPORT_PACKAGES, "report"),
        _gpus(),
    ]


def _store(options: argparse.Namespace) -> Check:
    try:
        path = store_path(options)
        store = Store(path)
        with store.reading() as reader:
            models, quotes = len(reader.models()), len(reader.quotes())
            times = reader.count_times()
        store.check_whole()
    except StoreError as error:
        return Check(ok=False, what="store", found=str(error))
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    found = f"{path}, {models} models, {times} times, {quotes} quotes"
    return Check(what="store", found=found + ("" if writable else ", read-only (cannot add rows)"))


def _terminal() -> Check:
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # no stdout at all; not a terminal; closed
        return Check(what="terminal", found="none here (output is redirected)")
    colour = "no colour (NO_COLOR)" if os.environ.get("NO_COLOR") else "colour"
    small = " - the program wants 80x24" if size.columns < 80 or size.lines < 24 else ""
    return Check(what="terminal", found=f"{size.columns}x{size.lines}, {colour}{small}")


_WANTED_BY = {
    "bench": "a benchmark needs",
    "kernels": "a faster Mamba or attention needs",
    "report": "the report of a plan needs",
}


def _packages(what: str, names: tuple[str, ...], extra: str) -> Check:
    from importlib.util import find_spec

    missing = [name for name in names if find_spec(name) is None]
    if not missing:
        return Check(what=what, found="all there")
    found = f"missing {', '.join(missing)} (only {_WANTED_BY[extra]} them)"
    return Check(what=what, found=found, mended_by=install_words(extra))


def _gpus() -> Check:
    import subprocess

    try:
        listed = subprocess.run(
            ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return Check(what="GPUs", found="none seen (nvidia-smi does not answer)")
    gpus = [line.strip() for line in listed.splitlines() if line.strip()]
    return Check(what="GPUs", found="; ".join(gpus) or "none")
