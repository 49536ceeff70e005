"""``advisor plan``: what to ask the funder for, or what to relax where there is no plan.

stdout holds the plan, stderr which files were written.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

from advisor.answers.checklist import quoted
from advisor.cli.command import (
    ANSWERED,
    NO_ANSWER,
    add_format,
    add_terms,
    open_store,
    terminal_width,
    typed_terms,
)
from advisor.typed_input import InputError, parse_date, parse_positive, shown

if TYPE_CHECKING:
    from advisor.planning.grant.problem_of_grant import Loaded
    from advisor.planning.planned_grant import Planned
    from advisor.planning.sensitivity.explain import Explanation
    from advisor.planning.solver.plan import Plan
    from advisor.planning.solver.search_clock import Progress
    from advisor.planning.solver_process import Search

MAX_SECONDS = 86_400


def add_arguments(plan: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add = plan.add_argument
    add("grant", nargs="?", metavar="grant.toml", help="what is asked (see --example)")
    add(
        "--out",
        action="append",
        default=[],
        metavar="FILE",
        help="write the report: .pdf, .md, .xlsx, .csv or .json; may be given several times",
    )
    add("--bid", metavar="FOLDER", help="write what procurement asks for: specification, quotes")
    add("--force", action="store_true", help="overwrite files that are there already")
    add(
        "--objective", metavar="WHAT", help="cheapest, most-runs or soonest, whatever the file says"
    )
    add("--how-many", metavar="MODEL", help="instead: how many runs of this model are possible")
    add("--largest", action="store_true", help="instead: the same for every model, largest first")
    add(
        "--by", metavar="DATE", help="with these two: to be over by then (default: the grant's end)"
    )
    add("--seconds", metavar="S", default="120", help="for all of it: 120 or 2 min (default: 120)")
    add("--details", action="store_true", help="also what binds and all that would change it")
    add("--quick", action="store_true", help="do not try what would change the decision")
    add(
        "--allocations",
        nargs="?",
        const="",
        metavar="WORD",
        help="list known rates and programmes (campus, national, cloud credits) and stop",
    )
    add("--example", action="store_true", help="print a worked example of a grant.toml and stop")
    add_terms(plan)
    add_format(plan)


def run(options: argparse.Namespace) -> int:
    """Plan and print. Raises InputError and StoreError."""
    from advisor.planning.plan_grant import EXAMPLE

    if options.example:
        print(EXAMPLE.read_text(encoding="utf-8"), end="")
        return ANSWERED
    if options.allocations is not None:
        return _allocations(options)
    if options.grant is None:
        raise InputError(
            "no grant is named; for one to change: advisor plan --example > grant.toml"
        )
    seconds = parse_positive(options.seconds, "time for a search", "seconds", MAX_SECONDS)
    if options.how_many is not None or options.largest:
        return _reach(options, seconds)
    if options.by is not None:
        raise InputError("--by goes with --how-many or --largest; dates of a plan are in its file")
    from advisor.planning.report.formats.write_report import check_targets

    check_targets(options.out, force=options.force)  # before any work
    folder = None
    if options.bid is not None:
        from advisor.planning.report.bid import check_bid_folder

        folder = check_bid_folder(options.bid, force=options.force)
    planned, printed = _planned(options, seconds)
    if planned.plan is None or planned.explanation is None:
        print(_no_plan(planned, options.format))
        for name in (*options.out, *filter(None, [options.bid])):
            print(f"{shown(name, 200)} is not written: there is no plan", file=sys.stderr)
        return NO_ANSWER
    began = time()
    try:
        return _answered(options, planned, printed, folder)
    except KeyboardInterrupt:
        _stopped_writing(options.out, began)
        raise


def _answered(
    options: argparse.Namespace, planned: Planned, printed: bool, folder: Path | None
) -> int:
    """Print what explains the plan, and write its files."""
    assert planned.plan is not None
    done = ANSWERED if planned.plan.runs else NO_ANSWER
    if folder is not None:
        from advisor.planning.report.bid import write_bid

        for path in write_bid(planned, folder, force=options.force):
            print(f"wrote {path}", file=sys.stderr)
    if options.format == "table":
        if not printed:
            _decided(options, planned.loaded, planned.plan)
        _explained(options, planned)
        if not options.out:
            return done
    from advisor.planning.report.formats.markdown_csv_json import to_csv_text, to_json_text
    from advisor.planning.report.formats.write_report import write_planned

    report, written = write_planned(planned, options.out, force=options.force)
    for path in written:
        print(f"wrote {path}", file=sys.stderr)
    if options.format == "json":
        from advisor.answers.plan.plan_verdict import plan_verdict

        verdict = plan_verdict(planned, _again(options), quick=options.quick)
        print(to_json_text(replace(report, objects={"verdict": verdict, **report.objects})), end="")
    elif options.format == "csv":
        print(to_csv_text(report), end="")
    return done


def _no_plan(planned: Planned, form: str) -> str:
    if form == "json":
        from advisor.answers.plan.plan_verdict import no_plan_verdict
        from advisor.tables.plain_values import to_json

        return to_json({"verdict": no_plan_verdict(planned)})
    from advisor.answers.plan.plan_text import no_plan_text

    return no_plan_text(planned, terminal_width())


def _stopped_writing(names: Sequence[str], began: float) -> None:
    """Say which files there are though Ctrl-C came: all are made before the first is written."""
    there = [path for path in map(Path, names) if path.exists() and path.stat().st_mtime >= began]
    for path in there:
        print(f"wrote {path}", file=sys.stderr)
    if names:
        words = "no other file is written" if there else "no file is written"
        print(f"stopped while the report was made: {words}", file=sys.stderr)


def _tell(options: argparse.Namespace, words: str) -> None:
    """Print; where files are asked for too, they are written though nobody reads on."""
    try:
        print(f"{words}\n", end="", flush=True)  # at once, whoever presses Ctrl-C
    except BrokenPipeError:
        if not options.out:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _again(options: argparse.Namespace) -> str:
    """What was typed, without what only chose how it is shown."""
    objective = "" if options.objective is None else f" --objective {quoted(options.objective)}"
    terms = "".join(
        f" --{name} {quoted(text)}" for name, text in typed_terms(options).items() if text
    )
    return f"advisor plan {quoted(options.grant)}{objective}{terms}"


def _decided(options: argparse.Namespace, loaded: Loaded, plan: Plan) -> None:
    """Print what to do and when, short or in full."""
    from advisor.answers.plan.plan_text import decided_text

    _tell(options, decided_text(loaded, plan, terminal_width(), details=options.details))


def _explained(options: argparse.Namespace, planned: Planned) -> None:
    """Print what to settle, short or in full."""
    from advisor.answers.plan.plan_text import explained_text, short_explained

    words = (
        explained_text(planned, terminal_width())
        if options.details
        else short_explained(planned, _again(options), quick=options.quick, width=terminal_width())
    )
    _tell(options, f"\n{words}")


def _planned(options: argparse.Namespace, seconds: float) -> tuple[Planned, bool]:
    """The answer, and whether what to do is printed already. Raises InputError and StoreError.

    Ctrl-C keeps the best plan that was found until then.
    """
    from advisor.answers.plan.plan_text import progress_text
    from advisor.cli.progress_line import ProgressLine
    from advisor.planning.grant.read_grant import read_grant
    from advisor.planning.plan_grant import (
        Explaining,
        explained_so_far,
        grant_at,
        search_for,
        stopped,
    )
    from advisor.planning.runs_on_bought_machines import with_terms

    path = Path(options.grant)
    # What is wrong with the file is said alone, before the store is opened or brought up to date.
    with_terms(read_grant(path, date.today()), typed_terms(options))
    printed = False
    best: Plan | None = None
    explained: Explanation | None = None
    search: Search[Planned] | None = None
    with ProgressLine(f"reading {path.name}") as line:
        try:
            loaded = grant_at(
                open_store(options),
                path,
                objective=options.objective,
                today=date.today(),
                typed=typed_terms(options),
            )

            def hear(at: Progress) -> None:
                nonlocal printed, best, explained
                best = at.plan or best
                explained = explained_so_far(at)
                line.say(progress_text(at, loaded.grant.currency))
                early = options.format == "table" and options.bid is None
                if at.settled and not printed and at.plan is not None and early:
                    line.clear()
                    printed = True  # before it is: Ctrl-C may come as soon as somebody reads it
                    left_out = at.left_out if isinstance(at, Explaining) else loaded.left_out
                    _decided(options, replace(loaded, left_out=left_out), at.plan)

            line.say("no plan yet · trying the plan")
            search = search_for(loaded, seconds, quick=options.quick)
            return search.run(hear), printed
        except KeyboardInterrupt:
            if search is not None:
                search.cancel()
            line.end()
            if best is None:
                print("stopped before any plan was found: nothing is written", file=sys.stderr)
                raise
            kept = "the plan is kept" if printed else "the best plan until now is kept"
            print(f"stopped: {kept}", file=sys.stderr)
            return stopped(loaded, best, explained), printed


def _allocations(options: argparse.Namespace) -> int:
    """What a grant's [[allocations]] can be copied from."""
    from advisor.planning.grant.allocation_programmes import known_allocations
    from advisor.tables.plain_values import fill
    from advisor.tables.table_formats import render_rows

    rows = known_allocations(options.allocations)
    if not rows:
        word = shown(options.allocations)
        raise InputError(f"no known allocation has {word}: leave the word out to see all")
    if options.format == "table":
        narrow = ("provider", "kind", "gpu", "a GPU-hour", "award", "wait", "date")
        priced = [{**row, "a GPU-hour": _price_of_hours(row)} for row in rows]
        shown_rows = [{k: row[k][:28] or "-" for k in narrow} for row in priced]
        least = ("date", "award")  # who gives hours, of what, and how long it takes stay
        print(render_rows(shown_rows, "table", width=terminal_width(), spare=least))
        word = f" {quoted(options.allocations)}" if options.allocations else ""
        words = f"\n{len(rows)} rows. Whole texts, limits, notes and sources:"
        print(f"{words}\n  advisor plan --allocations{word} --format csv")
        print(fill(_programmes_of(options.allocations, rows), terminal_width()))
        if any(row["kind"] == "condo" for row in rows):
            print("A share of a condo is bought with buy_in: advisor plan --example shows how.")
    else:
        print(render_rows([{k: v or None for k, v in row.items()} for row in rows], options.format))
    return ANSWERED


def _programmes_of(word: str, rows: Sequence[Mapping[str, str]]) -> str:
    """Which of the facts a grant may have by name; how the others are written down."""
    from advisor.planning.grant.allocation_programmes import programme_names, programmes

    told = " ".join(row["provider"].lower() for row in rows)
    called = {name: programmes()[name, ""]["name"].value.lower() for name in programme_names()}
    names = [name for name in called if word.lower() in name or called[name] in told]
    if names:
        return f"A grant's [[allocations]] may name a programme: {', '.join(names)}."
    return (
        "None of these is a programme that a grant may name: write name, kind, gpu and "
        "gpu_hours_a_year of what you apply for under [[allocations]], as advisor plan --example "
        "shows."
    )


def _price_of_hours(row: Mapping[str, str]) -> str:
    """Of one GPU-hour; else that it is free, or what is paid for instead."""
    rate = row["usd_per_gpu_hour"]
    if rate:
        return "free" if float(rate) == 0 else f"${rate}"
    return row["units"] if row["free"] in ("no", "partly") else "free"


def _reach(options: argparse.Namespace, seconds: float) -> int:
    from advisor.answers.plan.how_many_answer import reach_rows, reach_text, reach_verdict, reached
    from advisor.planning.grant.read_grant import read_grant
    from advisor.tables.plain_values import to_json
    from advisor.tables.table_formats import render_rows

    if options.out or options.bid is not None:
        raise InputError("--out and --bid write what a plan needs: leave them out here")
    if options.how_many is not None and options.largest:
        raise InputError("--how-many asks for one model and --largest for all: choose one")
    path = Path(options.grant)
    read_grant(path, date.today())
    answer = reached(
        open_store(options),
        path,
        model=options.how_many,
        by=None if options.by is None else parse_date(options.by),
        today=date.today(),
        seconds=seconds,
        typed=typed_terms(options),
    )
    typed = f"advisor plan {quoted(options.grant)}"
    typed += " --largest" if options.largest else f" --how-many {quoted(options.how_many)}"
    typed += "" if options.by is None else f" --by {options.by}"
    if options.format == "table":
        print(reach_text(answer, typed, terminal_width()))
    elif options.format == "json":
        print(to_json({"verdict": reach_verdict(answer, typed), "models": reach_rows(answer)}))
    else:
        print(render_rows(reach_rows(answer), options.format))
    return ANSWERED if answer.first is not None else NO_ANSWER
