"""What each column of each table may hold, derived from the records that the rows become.

Every row from outside is held against it: of a file, of another store, of the store that is opened.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cache, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from advisor.ranking.audit import Verdict
from advisor.ranking.times import Model, TrainingTime
from advisor.store.rows import KEYS, Values
from advisor.typed_input import shown
from bench_runner.records.measurement import Measurement, Method, Settings, Status
from price_catalog.csv_table import nearest
from price_catalog.model import ITEM_KINDS, Gpu, Host, Part, Quote, Rental, Source

CENT, MAX_USD, MAX_QUOTED = Decimal("0.01"), Decimal(10) ** 9, Decimal(10) ** 11
"""Of a price in US dollars, or as quoted in another currency; all of them fit the columns."""
FIRST_DAY, LAST_DAY = date(1990, 1, 1), date(2200, 1, 1)
LONGEST_ID, LONGEST_TEXT = 200, 16_000_000
"""Letters; what a record tells about its environment may be long."""
_LARGEST = 2**31 - 1
_Id = Annotated[str, Meta(min_length=1, max_length=LONGEST_ID)]
_Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
_Index = Annotated[int, Meta(ge=0, le=_LARGEST)]
_Count = Annotated[int, Meta(ge=1, le=_LARGEST)]
_Large = Annotated[int, Meta(ge=1, le=2**63 - 1)]
_Amount = Annotated[float, Meta(ge=0, le=1e40)]
_Positive = Annotated[float, Meta(ge=1e-3, le=1e40)]
_Days = Annotated[float, Meta(ge=1e-9, le=1e9)]
_PLAIN: Mapping[object, Any] = {str: _Text, int: _Index, float: _Amount}
_NARROWER: Mapping[str, Any] = {
    **dict.fromkeys(("gpu_count", "max_gpus", "batch_size", "node_count"), _Count),
    **dict.fromkeys(("parameters", "training_steps"), _Large),
    **dict.fromkeys(("flops_lowest", "flops_full"), _Positive),
    **dict.fromkeys(("sequence_length", "image_size"), _Count | None),
    **dict.fromkeys(("micro_batch_size", "gradient_accumulation_steps"), _Count | None),
    **dict.fromkeys(("training_days", "training_days_high", "paper_settings_days"), _Days | None),
    "precision": Literal["fp16", "bf16", "fp32"],
    "family": Literal["decoder", "encoder", "ssm", "convnet", "vit", "own"],
    "takes": tuple[Literal["passive", "blower", "open"], ...],
    "cooling": Literal["passive", "blower", "open-air", "flow-through"] | None,
    "psu_efficiency": Annotated[float, Meta(ge=0.05, le=1)] | None,
    "item_kind": Literal[ITEM_KINDS],
    "method": Method,
    "status": Status,
    "verdict": Verdict | None,
}
"""What a column of this name holds, where its type says too little."""
_MERGED = {"merged_from": str | None}
"""The file that a row came from, and its day; NULL for the user's own and what ships."""
_EXTRA: Mapping[str, Mapping[str, Any]] = {
    **dict.fromkeys(("host", "quote", "rental"), _MERGED),
    "gpu": {"memory_gib": _Positive, **_MERGED},
    "host_part": {"host_id": str, "position": int},
    "recipe": {"definition": str | None, **_MERGED},
    "measurement": {"environment": str, "gpu_id": str | None},
    "prediction": {"host_memory_gib": float},
}
"""Columns of one table alone."""
_RECORDS: Mapping[str, Sequence[Any]] = {
    "source": (Source,),
    "gpu": (Gpu,),
    "host": (Host,),
    "host_part": (Part,),
    "recipe": (Model,),
    "measurement": (TrainingTime, Measurement, Settings),
    "quote": (Quote,),
    "rental": (Rental,),
    "prediction": (TrainingTime, Settings),
}
_NO_COLUMNS = {"parts", "settings", "origin"}
_SEVERAL_LINES = {"reason", "environment", "definition", "verdict_reason"}
Column = tuple[str, Any, Any]
"""Its name, its type, and what it is where a row leaves it out (MISSING: no row may)."""


@cache
def columns_of(table: str) -> tuple[Column, ...]:
    """What a row of the table holds."""
    found: dict[str, Column] = {}
    for record in _RECORDS[table]:
        if is_dataclass(record):
            given = {each.name: each.default for each in fields(record)}
        else:
            given = dict(getattr(record, "_field_defaults", {}))
        for name, kind in get_type_hints(record, localns={"Settings": Settings}).items():
            if record is Settings:  # NULL, all of them, where the settings are not known
                kind = kind | None
            found[name] = name, kind, given.get(name, MISSING)
    found |= {name: (name, kind, MISSING) for name, kind in _EXTRA.get(table, {}).items()}
    return tuple(
        (name, typed, None if default is MISSING and NoneType in get_args(kind) else default)
        for name, kind, default in found.values()
        if name not in _NO_COLUMNS
        for typed in [_Id if name in KEYS[table] and kind is str else _narrow(name, kind)]
    )


def _narrow(name: str, kind: Any) -> Any:
    """The type with the limits that every column of it has."""
    if (known := _NARROWER.get(name)) is not None:
        return known
    if get_origin(kind) in (Union, UnionType):
        return reduce(or_, (_narrow("", each) for each in get_args(kind)))
    if get_origin(kind) is tuple:
        return tuple[_narrow("", get_args(kind)[0]), ...]  # type: ignore[misc]
    return _PLAIN.get(kind, kind)


@cache
def _struct(table: str, names: tuple[str, ...] | None = None) -> Any:
    """The type of a row by names; with ``names`` of one as DuckDB hands it out."""
    columns = columns_of(table)
    if names is not None:
        kinds = {name: kind for name, kind, _ in columns}
        made: list[Any] = [(name, kinds.get(name, Any)) for name in names]
        return msgspec.defstruct(f"{table}_row", made, array_like=True)
    made = [each[:2] if each[2] is MISSING else each for each in columns]
    return msgspec.defstruct(f"{table}_row", made, kw_only=True, forbid_unknown_fields=True)


@cache
def _bounded(kind: Any) -> tuple[str, ...]:
    """The fields with an amount or a day, whose limits msgspec does not know."""
    types = kind.__annotations__
    bounded = {Decimal, date}
    return tuple(n for n, each in types.items() if bounded & {each, *get_args(each)})


def check_row(table: str, row: Mapping[str, Any]) -> Values:
    """A row from outside with a value for every column. Raises ValueError."""
    if table == "measurement":
        return _check_time(row)
    values = msgspec.structs.asdict(_converted(table, row, _struct(table)))
    for name, value in values.items():
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, str) and not each.isprintable() and name not in _SEVERAL_LINES:
                raise ValueError(f"{name} {shown(each)} holds control characters")
    for name in KEYS[table]:
        if isinstance(values[name], str) and not values[name].strip():
            raise ValueError(f"a row of {table} needs a {name}")
    _check_past(values)
    if (url := values.get("url")) and not re.match(r"https?://[^\s/]+", url):
        raise ValueError(f"url {shown(url)} is no web address: begin it with https://")
    if values.get("definition") is not None:
        from advisor.prediction.own_training import read_definition

        read_definition(values["definition"])
    return values


ROW_WORDS = {"measurement": "record", "host": "machine", "host_part": "part", "recipe": "model"}


def row_words(table: str, row: Mapping[str, Any]) -> str:
    """``quote 'q-1'``: what a person calls a row."""
    named = " ".join(str(row.get(column)) for column in KEYS[table])
    return f"{ROW_WORDS.get(table, table)} {shown(named)}"


def _check_past(values: Values) -> None:
    """Raise ValueError for a day to come: of a price or a time the newest counts most."""
    latest = date.today() + timedelta(days=1)  # elsewhere on earth it may be tomorrow already
    for name in ("measured_on", "quoted_on", "priced_on"):
        if (day := values.get(name)) is not None and day > latest:
            raise ValueError(f"{name} is {day}, which is still to come: write the day that it was")


WIDEST = 100
"""How many times a time its upper bound may be, and it its lower one; those of a time that is
printed in whole days are within 2."""


def _check_time(row: Mapping[str, Any]) -> Values:
    """A measurement from outside. Raises ValueError."""
    values = dict(row)
    _converted("measurement", [*values.values()], _struct("measurement", tuple(values)))
    days = values["training_days"]
    low, high = values["training_days_low"] or days, values["training_days_high"] or days
    _check_past(values)
    if (values["status"] == "ok") != (days is not None):
        raise ValueError("has a time exactly where its status is ok")
    if days is not None and not days / WIDEST <= low <= days <= high <= days * WIDEST:
        raise ValueError(f"training_days is {days:g}, and no bounds of it are {low:g} and {high:g}")
    return values


def wrong_stored_row(table: str, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str | None:
    """What the first of these rows of an open store holds that none of ours does; or None."""
    kind = _struct(table, tuple(names))
    for row in rows:
        try:
            _converted(table, row, kind)
        except ValueError as error:
            values = dict(zip(names, row, strict=True))
            return f"{row_words(table, values)}: {error}"
    return None


def _converted(table: str, row: Mapping[str, Any] | Sequence[Any], kind: Any) -> Any:
    try:
        made = msgspec.convert(row, kind)
    except msgspec.ValidationError as error:
        said = str(error)
        if not isinstance(row, Mapping):
            names = kind.__struct_fields__
            row = dict(zip(names, row, strict=True))
            said = re.sub(r"\$\[(\d+)\]", lambda at: f"$.{names[int(at[1])]}", said)
        raise ValueError(in_words(said, table, row)) from None
    for name in _bounded(kind):
        value = getattr(made, name)
        if isinstance(value, Decimal):
            most = MAX_USD if name.endswith("_usd") else MAX_QUOTED
            if not (value.is_finite() and CENT <= value <= most):
                raise ValueError(
                    f"{name} is {shown(str(value))}, not an amount from {CENT} to {most:,}"
                )
        if isinstance(value, date) and not FIRST_DAY <= value <= LAST_DAY:
            raise ValueError(f"{name} is {value}, not a day from {FIRST_DAY.year} on")
    return made


_TYPES = {
    "`str`": "text",
    "`int`": "a whole number",
    "`float`": "a number",
    "`bool`": "true or false",
    "`decimal`": "an amount",
    "`date`": "a day such as 2026-11-22",
    "`array`": "a list",
    "`object`": "an object",
    "`null`": "nothing",
}


def in_words(message: str, table: str, row: Mapping[str, Any]) -> str:
    """What msgspec finds wrong with the row of a table, as a person says it; other words stay."""
    said, _, place = message.partition(" - at `$.")
    if not said.startswith(("Expected", "Invalid", "Object")):
        return message
    name = place.rstrip("`").partition("[")[0]
    if unknown := re.match(r"Object contains unknown field `(.*)`", said):
        return f"the table {table} has no column {shown(unknown[1])}"
    if missing := re.match(r"Object missing required field `(\w+)`", said):
        return f"{missing[1]} is missing"
    value = row.get(name)
    if said.startswith("Invalid enum value"):
        choices = _choices(next(kind for column, kind, _ in columns_of(table) if column == name))
        return f"{name} {shown(str(value))} is not known; {nearest(str(value), choices)}"
    if said.startswith("Invalid"):
        said = f"Expected `{said.rpartition(' ')[2]}`"
    wanted = re.sub(r"`(.+?)`", r"\1", said.removeprefix("Expected ").partition(", got")[0])
    for word, plain in _TYPES.items():
        wanted = re.sub(rf"\b{word[1:-1]}\b", plain, wanted)
    wanted = wanted.replace(" | ", " or ").replace(">=", "of at least").replace("<=", "of at most")
    return f"{name} is {shown(str(value))}, not {wanted}"


def _choices(kind: Any) -> list[str]:
    if get_origin(kind) is Literal:
        return list(get_args(kind))
    return [each for part in get_args(kind) for each in _choices(part)]
