"""Reads a TOML file key by key: every error is one line with file, key and what to write."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from advisor.parse import InputError, parse_budget, shown
from price_catalog.table import nearest

MAX_BYTES = 1_000_000


def read_toml(path: Path, instead: str) -> TomlTable:
    """The whole file as a table. Raises InputError, which says what to give ``instead``."""
    import tomllib

    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path.name} is larger than {MAX_BYTES:,} bytes: {instead}")
        found = tomllib.loads(path.read_text(encoding="utf-8-sig"), parse_float=Decimal)
    except FileNotFoundError:
        raise InputError(f"there is no file {shown(str(path), 200)}: {instead}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8 text (byte {error.start}): {instead}") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path.name} is not valid TOML: {error}") from None
    except OSError as error:
        raise InputError(
            f"{shown(str(path), 200)} cannot be read ({error.strerror}): {instead}"
        ) from None
    return TomlTable(path.name, "", found)


class TomlTable:
    """A table of the file that knows where it stands. Keys that nobody asked for are refused."""

    def __init__(self, file: str, where: str, values: Mapping[str, Any]) -> None:
        self.file = file
        self.where = where
        self.values = values

    def error(self, key: str, problem: str) -> InputError:
        """An InputError that names file, table and key."""
        place = f"{self.where}.{key}" if self.where and key else self.where or key
        return InputError(f"{self.file}, {place}: {problem}")

    def only(self, known: Collection[str]) -> TomlTable:
        """Itself, if it has no other keys than these."""
        for key in self.values:
            if key not in known:
                raise self.error(key, f"this key is not known; {nearest(key, known)}")
        return self

    def has(self, key: str) -> bool:
        return key in self.values

    def table(self, key: str, known: Collection[str]) -> TomlTable:
        """A table inside; an empty one where the file has none."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"must be a table: write [{key}] on a line of its own")
        return TomlTable(self.file, key, value).only(known)

    def tables(self, key: str, known: Collection[str]) -> list[TomlTable]:
        """An array of tables; empty where the file has none."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            raise self.error(key, f"must be tables: write [[{key}]] above each")
        return [
            TomlTable(self.file, f"{key}[{number}]", each).only(known)
            for number, each in enumerate(value, start=1)
        ]

    def text(self, key: str, default: str | None = None) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, 'must be text: write it between quotes, like "Pythia 1B"')
        if len(value) > 500 or not value.isprintable():
            raise self.error(key, "must be one printable line of at most 500 characters")
        return value.strip()

    def optional_text(self, key: str) -> str | None:
        return self.text(key) if self.has(key) else None

    def choice(self, key: str, known: Collection[str], default: str | None = None) -> str:
        value = self.text(key, default)
        if value not in known:
            raise self.error(key, f"{shown(value)} is not known; {nearest(value, known)}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, "must be true or false")
        return value

    def whole(
        self, key: str, low: int, high: int, default: int | None = None, *, needed: bool = True
    ) -> int | None:
        value = self.values.get(key, default)
        if value is None and not needed:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.error(key, f"must be a whole number from {low} to {high}")
        return value

    def count(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """A whole number that must be there or has a default."""
        value = self.whole(key, low, high, default)
        assert value is not None
        return value

    def number(
        self, key: str, low: str, high: str, default: str | None = None, *, above: bool = False
    ) -> Decimal:
        """A number between bounds; ``above``: the lower bound itself is out."""
        value = self.values.get(key, Decimal(default) if default is not None else None)
        bad = isinstance(value, bool) or not isinstance(value, int | Decimal)
        if not bad:
            assert value is not None
            number = Decimal(value)
            bad = not number.is_finite() or not Decimal(low) <= number <= Decimal(high)
            bad = bad or (above and number == Decimal(low))
        if bad:
            more = "above" if above else "from"
            raise self.error(
                key, f"must be a number {more} {low} {'and at most' if above else 'to'} {high}"
            )
        return Decimal(value)

    def optional_number(self, key: str, low: str, high: str) -> Decimal | None:
        return self.number(key, low, high, above=True) if self.has(key) else None

    def day(self, key: str) -> date:
        value = self.values.get(key)
        if isinstance(value, datetime) or not isinstance(value, date):
            raise self.error(key, "must be a date: write it without quotes, like 2027-01-31")
        return value

    def optional_day(self, key: str) -> date | None:
        return self.day(key) if self.has(key) else None

    def money(self, key: str) -> Decimal:
        """An amount, as a number or as people write it."""
        return self._money(key, self.values.get(key))

    def moneys(self, key: str) -> tuple[Decimal, ...]:
        """A list of amounts; zero is one."""
        value = self.values.get(key)
        if not isinstance(value, list):
            raise self.error(key, 'must be a list of amounts, like ["40k", "40k", "20k"]')
        return tuple(
            Decimal(0) if each == 0 and not isinstance(each, bool) else self._money(key, each)
            for each in value
        )

    def _money(self, key: str, value: Any) -> Decimal:
        if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
            raise self.error(key, 'must be an amount, like "$40,000" or 40000')
        text = value if isinstance(value, str) else format(value, "f")
        try:
            return parse_budget(text, "amount")
        except InputError as error:
            raise self.error(key, str(error)) from None

    def texts(self, key: str) -> tuple[str, ...] | None:
        """A list of texts; None where the file has none."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(v, str) and v for v in value):
            raise self.error(key, 'must be a list of texts, like ["RTX 3090", "H100"]')
        if not value:
            raise self.error(key, "is empty: name at least one, or leave the key out for all")
        return tuple(value)

    def wholes(self, key: str, low: int, high: int) -> tuple[int, ...] | None:
        """A list of whole numbers; None where the file has none."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or not all(
            isinstance(v, int) and not isinstance(v, bool) and low <= v <= high for v in value
        ):
            raise self.error(key, f"must be a list of whole numbers from {low} to {high}")
        return tuple(sorted(set(value)))
