"""Text tables with a broken row, as a checkout that somebody edits has them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import advisor

_ROOT = Path(advisor.__file__).parent.parent
_BROKEN = {
    "price_catalog/gpus.csv": b"x,y\n",
    "price_catalog/machines.csv": b"x,y\n",
    "price_catalog/machine_parts.csv": b"desktop-1gpu,CPU,x,-5,2024-09-21,paper-table6\n",
    "price_catalog/quotes/paper-2024-09.csv": b"\xff\n",
    "bench_runner/recipes/pythia-1b.toml": b"[training\n",
    "bench_runner/published/paper_times.csv": b'"\n',
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout of one's own, to break."""
    folder = tmp_path_factory.mktemp("checkout")
    leave_out = shutil.ignore_patterns("__pycache__", "tui", "report", "plan", "*.duckdb")
    for package in ("advisor", "bench_runner", "price_catalog"):
        shutil.copytree(_ROOT / package, folder / package, ignore=leave_out)
    return folder


@pytest.mark.parametrize("name", _BROKEN)
def test_a_broken_row_is_one_line_and_the_store_stays(
    checkout: Path, own_store: Path, name: str
) -> None:
    file = checkout / name
    whole, store = file.read_bytes(), own_store.read_bytes()
    file.write_bytes(whole + _BROKEN[name])
    try:
        done = subprocess.run(
            [sys.executable, "-m", "advisor", "rank", "--model", "vit", "--store", str(own_store)],
            cwd=checkout,
            env=os.environ | {"PYTHONPATH": str(checkout)},
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        file.write_bytes(whole)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("advisor: the text tables have a fault")
    assert done.stderr.count("\n") == 1
    assert file.name in done.stderr
    assert own_store.read_bytes() == store
