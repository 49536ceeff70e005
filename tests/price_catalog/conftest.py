from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from price_catalog.load import CATALOG_FOLDER, Catalog, load_catalog


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    """The shipped catalogue."""
    return load_catalog()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the shipped tables that a test may break."""
    copy = tmp_path / "catalog"
    for path in CATALOG_FOLDER.rglob("*.csv"):
        (copy / path.relative_to(CATALOG_FOLDER)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy / path.relative_to(CATALOG_FOLDER))
    return copy


@pytest.fixture
def broken(folder: Path) -> Callable[[str, str, str], str]:
    """Replaces a text in one table and returns the error that reading then gives."""

    def break_it(table: str, old: str, new: str) -> str:
        path = folder / table
        text = path.read_text(encoding="utf-8")
        assert old in text, f"{table} does not hold {old!r}"
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the test looks at the message
            load_catalog(folder)
        message = str(caught.value)
        assert "\n" not in message
        return message

    return break_it
