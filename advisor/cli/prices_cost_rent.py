"""``advisor prices cost`` and ``rent``: what owning costs, beside renting."""

from __future__ import annotations

import argparse
from pathlib import Path

from advisor.answers.ownership import _decimal, ask, cost_rows, even_words, rent_row
from advisor.costs.amounts import usd_whole
from advisor.costs.rental import break_even, rent_offers
from advisor.parse import InputError
from advisor.store import Store
from advisor.tables import render_rows, to_json


def answer_cost(store: Store, options: argparse.Namespace) -> list[str]:
    """What `advisor prices cost` prints. Raises InputError."""
    asked, _ = ask(store, options)
    rows = cost_rows(asked)
    if options.format == "json":
        return [to_json({"build": asked.heading, "terms": rows})]
    table = render_rows(rows, options.format)
    return [table] if options.format == "csv" else [asked.heading, table]


def answer_rent(store: Store, options: argparse.Namespace) -> list[str]:
    """What `advisor prices rent` prints; draws the picture where one is asked for."""
    asked, rentals = ask(store, options)
    days = asked.training_days
    if days is None:
        raise InputError(f"{asked.heading}: without a time there is nothing to compare")
    build = asked.build
    offers = rent_offers(rentals, build.gpu.gpu_id, build.gpu_count, today=asked.as_of)
    if not offers:
        raise InputError(
            f"nobody's rental price of {build.gpu.name} is known: advisor prices refresh"
        )
    evens = [break_even(asked.own, offer, days) for offer in offers]
    number = None
    if options.experiments is not None:
        number = _decimal(options.experiments, "--experiments", "number of training runs")
    rows = [rent_row(asked, even, days, number) for even in evens]
    if options.svg is not None:
        from advisor.answers.break_even_svg import break_even_svg
        from advisor.files import write_whole

        try:
            write_whole(Path(options.svg), break_even_svg(asked, evens), overwrite=False)
        except FileExistsError:
            raise InputError(f"{options.svg} is already there: name a new file") from None
    if options.format == "json":
        own = {"life_usd": asked.own.life_usd, "experiment_usd": asked.own.experiment_usd(days)}
        return [to_json({"build": asked.heading, "own": own, "rent": rows})]
    if options.format == "csv":
        return [render_rows(rows, "csv")]
    life = asked.own.life_usd
    words = "no data: the power is not known" if life is None else usd_whole(life)
    own_line = f"Own for {asked.own.terms.lifetime_years} years: {words}"
    return [asked.heading, own_line, render_rows(rows, "table"), *even_words(evens)]
