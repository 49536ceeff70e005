"""A funder's form: the names of its budget lines, its paper, what it asks to be checked."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Struct

from advisor.planning.grant.grant_keys import FUNDER_FOLDER, CostKind, Funder
from advisor.planning.grant.toml_reader import Limits, Line, read_toml

_Usd = Annotated[Decimal, Limits(0, 1e9)]
Paper = Literal["a4", "us-letter"]


class BudgetLines(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What each line of a budget is called on the form."""

    equipment: Line
    """What costs the threshold or more."""
    supplies: Line
    """Computers and parts below it."""
    computer_services: Line
    facility: Line | None = None
    """A share of a condo that the campus charges as a service; None: with computer services."""
    electricity: Line
    storage: Line
    network: Line
    racks: Line
    warranty: Line
    staff: Line
    other: Line
    direct: Line
    indirect: Line
    total: Line


class Modules(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A form that takes direct costs in modules instead of lines, in US dollars."""

    usd: _Usd
    """Of one module."""
    most_direct_usd: _Usd
    """Direct costs of a year, at most; above it the lines count."""


LimitOf = Literal["asked", "system", "item", "years"]
"""What a limit is of: what the funder is asked for; all machines before tax; the dearest of them as
its buyers pay it; the years of the grant."""


class Limit(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A warning for a request that is outside what the funder accepts."""

    of: LimitOf
    above: _Usd | None = None
    """Told of more than that ..."""
    below: _Usd | None = None
    """... or of less than this."""
    currency: Line | None = None
    """Of its amount; a grant in another is not held against it."""
    says: Line
    source: Line


class FunderForm(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of the folder ``funders``."""

    name: Line
    paper: Paper | None = None
    """None: the usual one of the country of the grant's currency."""
    pays: Annotated[Decimal, Limits(0, 1, above=True)] | None = None
    """The share of the total that the funder pays; None: all of it."""
    adds_indirect: bool = False
    """Whether the funder adds indirect costs to what is asked for, by itself."""
    decimal_comma: bool = False
    """Whether the spreadsheets of its offices take 1,50 for one and a half."""
    depreciates: bool = False
    """Whether only the depreciation of equipment is paid, unless the call says otherwise."""
    names_cost_share: bool = True
    """Whether budget and justification may say what others pay."""
    apart: tuple[CostKind, ...] = ()
    """Which costs stand on their own line also where they are paid with every machine."""
    rules: Line | None = None
    """The shipped money rules that count where the grant names none: the funder's own flat rate."""
    modular: Modules | None = None
    lines: BudgetLines
    threshold_usd: _Usd | None = None
    """From which a machine counts as equipment where the grant names no rules; its source is that
    of ``threshold``."""
    before_you_send: dict[str, Line] = {}
    """What to check, a sentence or two each; ``eligible`` is whether it is paid at all."""
    only_with: dict[str, tuple[str, ...]] = {}
    """Which of those apply only where the budget has one of these lines."""
    limits: tuple[Limit, ...] = ()
    """Each with the warning for a request beyond it."""
    sources: dict[str, Line] = {}


def paper_of(form: FunderForm, currency: str) -> Paper:
    """What the pages of its report are printed on."""
    return form.paper or ("us-letter" if currency in ("USD", "CAD") else "a4")


def funder_form(funder: Funder) -> FunderForm:
    """The form of a funder. Raises InputError where its file is wrong."""
    path = FUNDER_FOLDER / f"{funder}.toml"
    return read_toml(path, FunderForm, "reinstall the program: this file is a part of it")
