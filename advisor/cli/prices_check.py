"""``advisor prices check``: for who keeps the prices."""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

from advisor.answers.prices.price_check import (
    MODELS,
    budget_checks,
    budget_rows,
    check_text,
    price_problems,
    problem_rows,
)
from advisor.cli.command import ANSWERED, terminal_width
from advisor.parse import InputError, parse_price_rule
from advisor.ranking.question import CandidatesKey
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store
from advisor.tables.json_text import to_json
from advisor.tables.table_formats import to_csv


def check_prices(options: argparse.Namespace, store: Store) -> int:
    """Print the check, or write the page of prices. Raises InputError."""
    rule = parse_price_rule(options.prices)
    if rule == "paper":
        raise InputError("the paper's prices are of one day: check latest, or a day")
    today = rule if isinstance(rule, date) else date.today()
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
        if options.out is not None:
            from advisor.answers.prices.price_page import checked_prices
            from advisor.files import write_whole

            path = Path(options.out)
            write_whole(path, checked_prices(snapshot), overwrite=True)
            print(f"{path}: written", file=sys.stderr)
            return ANSWERED
        book = snapshot.prices(rule, today=today)
        problems = price_problems(snapshot, book, today=today)
        candidates = [
            make_candidates(reader, snapshot, CandidatesKey(name, rule, "sound")) for name in MODELS
        ]
    checks = budget_checks(candidates, problems, today=today)
    if options.format == "json":
        print(to_json({"rankings": budget_rows(checks), "problems": problem_rows(problems)}))
    elif options.format == "csv":
        rows = problem_rows(problems)
        print(to_csv(rows, list(rows[0]) if rows else ("problem", "item")))
    else:
        print(check_text(problems, checks, terminal_width()))
    return ANSWERED
