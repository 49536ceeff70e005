"""A grant that is being written: what is wrong with each field of its text (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from advisor.parse import InputError
from advisor.planning.grant.cross_field_checks import check_days
from advisor.planning.grant.grant_file import GrantFile
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.read_grant import grant_of
from advisor.planning.grant.toml_reader import MAX_BYTES, parse_toml, read_table, toml_problem
from advisor.ranking.snapshot import Snapshot
from bench_runner.outside import OutsideError


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantCheck:
    """A grant, or what is wrong with its text."""

    grant: Grant | None
    errors: dict[str, str]
    """By field, as ``budget.total`` or ``experiments[2].by``; what is wrong with the text as a
    whole has the empty name. Empty where there is a grant."""


def check_grant(text: str, path: Path, today: date | None = None) -> GrantCheck:
    """The grant that a text is, or an error for each field that is wrong.

    ``path`` is where it would be kept: rules of an institution are looked for beside it.
    """
    if len(text) > MAX_BYTES:
        return _wrong("", f"is larger than {MAX_BYTES:,} bytes")
    try:
        file, errors = read_table(GrantFile, parse_toml(text))
    except OutsideError as error:
        return _wrong("", str(error))
    except (RecursionError, ValueError) as error:
        return _wrong("", toml_problem(error))
    if file is None:
        return GrantCheck(grant=None, errors=errors)
    try:
        grant = grant_of(file, path)
        if today is not None:
            check_days(grant, today)
        return GrantCheck(grant=grant, errors={})
    except InputError as error:
        return _wrong(*_parted(str(error), path.name))


def unknown_names(grant: Grant, snapshot: Snapshot) -> dict[str, str]:
    """Models and GPUs of a grant that the store does not know, by field, with the nearest ones."""
    gpus = [
        *((f"owned[{n}].gpu", [each.gpu]) for n, each in enumerate(grant.owned, start=1)),
        *((f"allocations[{n}].gpu", [each.gpu]) for n, each in enumerate(grant.allocations, 1)),
        ("purchases.gpus", grant.buy_gpus or ()),
        ("rentals.gpus", grant.rent_gpus or ()),
    ]
    errors: dict[str, str] = {}
    for number, experiment in enumerate(grant.experiments, start=1):
        try:
            snapshot.model(experiment.model)
        except InputError as error:
            errors[f"experiments[{number}].model"] = str(error)
    for place, names in gpus:
        try:
            snapshot.gpu_ids(names)
        except InputError as error:
            errors[place] = str(error)
    return errors


def _wrong(field: str, problem: str) -> GrantCheck:
    return GrantCheck(grant=None, errors={field: problem})


def _parted(message: str, file: str) -> tuple[str, str]:
    """The field that a message names, and the rest of it."""
    head, colon, rest = message.partition(": ")
    start = f"{file}, "
    return (head.removeprefix(start), rest) if colon and head.startswith(start) else ("", message)
