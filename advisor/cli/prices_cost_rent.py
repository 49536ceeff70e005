"""``advisor prices cost`` and ``rent``: what owning costs, beside renting."""

from __future__ import annotations

import argparse
import re
from decimal import Decimal
from pathlib import Path
from textwrap import fill

from advisor.answers.before import doubt_block, doubt_objects
from advisor.answers.ownership import (
    OwnershipRequest,
    break_evens,
    cheapest_ownership,
    cost_doubts,
    cost_rows,
    cost_sentence,
    even_words,
    life_words,
    rent_row,
    rent_sentence,
)
from advisor.cli.command import terminal_width
from advisor.costs.tco import CostTerms
from advisor.parse import InputError, parse_decimal, parse_price_rule, shown
from advisor.ranking.times import parse_evidence_rule
from advisor.store import Store
from advisor.tables import render_rows, to_json

_TERMS = {
    "lifetime_years": "lifetime_years",
    "utilisation": "utilisation",
    "electricity": "electricity_usd_per_kwh",
    "pue": "pue",
    "hosting": "hosting_usd_per_u_month",
    "staff": "staff_usd_per_year",
    "resale": "resale_share",
    "financing": "financing_rate",
}
"""The flag of each term."""


def read_request(options: argparse.Namespace) -> OwnershipRequest:
    """What was typed, understood. Raises InputError."""
    terms = _read_terms(options)
    prices = parse_price_rule(options.prices)
    evidence = parse_evidence_rule(options.evidence)
    if not re.fullmatch(r"\d{1,3}", options.count, re.ASCII) or int(options.count) == 0:
        raise InputError(f"the count {shown(options.count)} is not a number of GPUs: write 1 to 8")
    power = _decimal(options.power, "power", "W, such as 310")
    return OwnershipRequest(
        model=options.model,
        gpu=options.gpu,
        gpu_count=int(options.count),
        machine=options.machine,
        prices=prices,
        evidence=evidence,
        terms=terms,
        power_w=None if power is None else float(power),
        rack_units=_decimal(options.rack_units, "--rack-units", "number of rack units, such as 4"),
    )


def _read_terms(options: argparse.Namespace) -> CostTerms:
    given = {}
    for flag, name in _TERMS.items():
        what = f"--{flag.replace('_', '-')}"
        amount = _decimal(getattr(options, flag), what, "number, such as 0.5")
        if amount is not None:
            given[name] = amount
    try:
        return CostTerms(**given)
    except ValueError as error:
        raise InputError(str(error)) from None


def _decimal(text: str | None, what: str, unit: str) -> Decimal | None:
    if text is None:
        return None
    return parse_decimal(text, what, unit)


def answer_cost(store: Store, options: argparse.Namespace) -> list[str]:
    """What `advisor prices cost` prints. Raises InputError."""
    owned, _ = cheapest_ownership(store, read_request(options))
    rows = cost_rows(owned)
    if options.format == "json":
        verdict = {"sentence": cost_sentence(owned), "doubts": doubt_objects(cost_doubts(owned))}
        return [to_json({"verdict": verdict, "build": owned.heading, "terms": rows})]
    table = render_rows(rows, options.format)
    if options.format == "csv":
        return [table]
    width = terminal_width()
    doubts = doubt_block("Before you rely on it", cost_doubts(owned), width)
    return [fill(cost_sentence(owned), width), owned.heading, table, *doubts]


def answer_rent(store: Store, options: argparse.Namespace) -> list[str]:
    """What `advisor prices rent` prints; draws the picture where one is asked for."""
    owned, rentals = cheapest_ownership(store, read_request(options))
    days = owned.training_days
    if days is None:
        raise InputError(f"{owned.heading}: without a time there is nothing to compare")
    evens = break_evens(owned, rentals)
    if not evens:
        raise InputError(
            f"nobody's rental price of {owned.build.gpu.name} is known: advisor prices refresh"
        )
    number = _decimal(options.experiments, "--experiments", "number of training runs")
    rows = [rent_row(owned, even, days, number) for even in evens]
    if options.svg is not None:
        from advisor.answers.break_even_svg import break_even_svg
        from advisor.files import write_whole

        try:
            write_whole(Path(options.svg), break_even_svg(owned, evens), overwrite=False)
        except FileExistsError:
            raise InputError(f"{options.svg} is already there: name a new file") from None
    if options.format == "json":
        own = {"life_usd": owned.own.life_usd, "experiment_usd": owned.own.experiment_usd(days)}
        verdict = {"sentence": rent_sentence(owned, evens), "doubts": []}
        return [to_json({"verdict": verdict, "build": owned.heading, "own": own, "rent": rows})]
    if options.format == "csv":
        return [render_rows(rows, "csv")]
    first = fill(rent_sentence(owned, evens), terminal_width())
    return [first, owned.heading, life_words(owned), render_rows(rows, "table"), *even_words(evens)]
