"""``advisor prices cost``, ``rent`` and ``check``."""

from __future__ import annotations

import argparse
from datetime import date
from decimal import Decimal

from advisor.answers.checklist import doubt_objects
from advisor.answers.prices.owning_and_renting import BuildCosts, costs_asked
from advisor.answers.prices.owning_and_renting_text import (
    cost_doubts,
    cost_rows,
    cost_sentence,
    cost_text,
    rent_doubts,
    rent_rows,
    rent_sentence,
    rent_text,
)
from advisor.answers.prices.price_check import Problem, check_text, price_problems
from advisor.cli.command import ANSWERED, terminal_width, typed_terms
from advisor.costs.cost_terms import read_terms
from advisor.ranking.snapshot import take_snapshot
from advisor.ranking.times import parse_evidence_rule
from advisor.store import Store
from advisor.tables.plain_values import to_json
from advisor.tables.table_formats import render_rows
from advisor.typed_input import (
    InputError,
    parse_count,
    parse_decimal,
    parse_price_rule,
    parse_whole,
    shown,
)

MOST_WATTS = 10_000
"""No GPU draws more; who types more means another unit."""


def _costs(options: argparse.Namespace, store: Store, *, to_rent: bool = False) -> BuildCosts:
    """The costs of what was typed. Raises InputError."""
    terms, errors = read_terms(typed_terms(options))
    if errors:
        raise InputError(next(iter(errors.values())))
    units, what = options.rack_units, "number of rack units, such as 4"
    return costs_asked(
        store,
        model=options.model,
        gpu=options.gpu,
        gpu_count=parse_whole(options.count, "--count"),
        machine=options.machine,
        prices=parse_price_rule(options.prices),
        evidence=parse_evidence_rule(options.evidence),
        terms=terms,
        power_w=None if options.power is None else _watts(options.power),
        rack_units=None if units is None else parse_decimal(units, "--rack-units", what, ("u",)),
        to_rent=to_rent,
    )


def _watts(text: str) -> float:
    watts = parse_count(text, "--power", "310 W", ("watts", "watt", "w"))
    if not 1 <= watts <= MOST_WATTS:
        raise InputError(
            f"--power {shown(text)} is out of range: write the watts of one GPU, from 1 to "
            f"{MOST_WATTS:,}, such as 310 W"
        )
    return watts


def answer_cost(options: argparse.Namespace, store: Store) -> int:
    """Print what owning costs. Raises InputError."""
    costs = _costs(options, store)
    rows = cost_rows(costs)
    if options.format == "json":
        verdict = {"sentence": cost_sentence(costs), "doubts": doubt_objects(cost_doubts(costs))}
        print(to_json({"verdict": verdict, "build": costs.heading, "terms": rows}))
    elif options.format == "csv":
        print(render_rows(rows, "csv"))
    else:
        print(cost_text(costs, terminal_width(), details=options.details))
    return ANSWERED


def answer_rent(options: argparse.Namespace, store: Store) -> int:
    """Print what renting costs beside owning. Raises InputError."""
    costs, number = _costs(options, store, to_rent=True), None
    if (days := costs.training_days) is None:
        raise InputError(f"{costs.heading}: without a time there is nothing to compare")
    if not costs.evens:
        name = costs.build.gpu.name
        raise InputError(f"no rental price of {name} is known: advisor prices refresh")
    if options.experiments is not None:
        number = Decimal(parse_whole(options.experiments, "--experiments"))
    rows, own = rent_rows(costs, number), costs.own
    if options.format == "json":
        doubts = doubt_objects(rent_doubts(costs, number))
        answer = {
            "verdict": {"sentence": rent_sentence(costs), "doubts": doubts},
            "build": None if own is None else costs.heading,
            "own": None
            if own is None
            else {"life_usd": own.life_usd, "experiment_usd": own.experiment_usd(days)},
            "rent": rows,
        }
        print(to_json(answer))
    elif options.format == "csv":
        print(render_rows(rows, "csv"))
    else:
        print(rent_text(costs, number, terminal_width(), details=options.details))
    return ANSWERED


def check_prices(options: argparse.Namespace, store: Store) -> int:
    """Print the check. Raises InputError."""
    rule = parse_price_rule(options.prices)
    if rule == "paper":
        raise InputError("the paper's prices are of one day: check latest, or a day")
    today = rule if isinstance(rule, date) else date.today()
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
    problems = price_problems(snapshot, snapshot.prices(rule, today=today), today=today)
    if options.format == "table":
        print(check_text(problems, terminal_width()))
    else:
        rows = [each._asdict() for each in problems]
        print(render_rows(rows, options.format, Problem._fields))
    return ANSWERED
