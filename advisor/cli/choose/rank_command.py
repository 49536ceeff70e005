"""``advisor rank``: the ranking as a table, JSON or CSV."""

from __future__ import annotations

import argparse

from advisor.cli.command import (
    ANSWERED,
    NO_ANSWER,
    add_fine_tuning,
    add_format,
    add_terms,
    network_of,
    open_store,
    terminal_width,
    typed_fine_tuning,
    typed_terms,
)
from advisor.typed_input import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add = parser.add_argument
    add("--model", required=True, help="a recipe, such as pythia-1b, or a model that you keep")
    add("--budget", metavar="USD", help="40000, 40k, $40,000 or 40k EUR; without it, no limit")
    add("--max-days", metavar="D", help="longest acceptable training time: 60, 8w or 2 months")
    add(
        "--by",
        metavar="RULE",
        default="days",
        help="days (default: fastest first), cost (cheapest) or experiment-cost (cheapest a run)",
    )
    add("--prices", default="latest", help="paper, latest (default), or as known on YYYY-MM-DD")
    add(
        "--evidence",
        default="sound",
        help="sound (default: never ranks an impossible time) or published (at face value)",
    )
    add("--gpus", metavar="NAMES", help='only these, as in "RTX 3090,H100"')
    add(
        "--buy-in", metavar="CC", help="where you buy, as in US or DE: who does not deliver is last"
    )
    add(
        "--circuit",
        metavar="V/A",
        help="only what the lab's circuit carries, as in 120V/15A",
    )
    add("--nodes", default="1", metavar="N", help="2: also two machines of a kind for one model")
    add("--fabric", metavar="NET", help="between them: ethernet-25, infiniband-ndr and others")
    add("--software", metavar="WHOSE", help="ours (default), plain (PyTorch) or tuned for speed")
    add("--details", action="store_true", help="everything: all offers, reasons, sources")
    add_fine_tuning(parser)
    add_format(parser)
    add_terms(parser)


def run(options: argparse.Namespace) -> int:
    """Rank and print. Raises InputError and StoreError."""
    from advisor.ranking.row_order import rank
    from advisor.ranking.snapshot import make_candidates, take_snapshot
    from advisor.ranking.typed_question import TypedQuestion, read_question

    tuning = typed_fine_tuning(options)
    typed = TypedQuestion(
        model=options.model if tuning is None else tuning.of(options.model),
        budget=options.budget,
        max_days=options.max_days,
        rule=options.by,
        terms=typed_terms(options),
        buy_in=options.buy_in,
        prices=options.prices,
        evidence=options.evidence,
        gpus=options.gpus,
        circuit=options.circuit,
        network=network_of(options.nodes, options.fabric, most=2)[1],
        software=options.software,
    )
    with open_store(options).reading() as reader:
        snapshot = take_snapshot(reader)
        asked, errors = read_question(typed, snapshot)
        if asked is None:
            raise InputError(next(iter(errors.values())))
        key, question = asked
        answer = rank(make_candidates(reader, snapshot, key), question)
        # What is rented instead where nothing is sold, else what the first row has.
        gpus = [answer.lead(0).build.gpu.gpu_id] if answer.sold_rows else None
        rentals = () if options.format == "csv" else reader.rentals(gpus)
        sources = reader.sources() if options.format == "table" and options.details else ()
    if options.format == "json":
        from advisor.answers.ranking.rank_json_csv import ranking_object
        from advisor.tables.plain_values import to_json

        print(to_json(ranking_object(answer, rentals, key)))
    elif options.format == "csv":
        from advisor.answers.ranking.rank_json_csv import ranking_csv

        print(ranking_csv(answer))
    elif options.details:
        from advisor.answers.ranking.rank_details import ranking_text

        print(ranking_text(answer, rentals, key, sources, width=terminal_width()))
    else:
        from advisor.answers.ranking.rank_answer import rank_answer

        print(rank_answer(answer, rentals, key, width=terminal_width()))
    return ANSWERED if len(answer) else NO_ANSWER
