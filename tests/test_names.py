"""A file's name is enough to say which one is meant."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_no_two_files_of_the_product_have_one_name() -> None:
    files = [
        path
        for room in ("advisor", "bench_runner", "price_catalog")
        for path in (ROOT / room).rglob("*.py")
    ]
    names = Counter(path.name for path in files if not path.name.startswith("__"))
    assert len(names) > 200
    assert [name for name, count in names.items() if count > 1] == []


def test_few_modules_lie_directly_in_advisor() -> None:
    assert len(list((ROOT / "advisor").glob("*.py"))) <= 6
