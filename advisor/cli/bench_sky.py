"""``advisor bench --on sky``: a rented GPU's task file, what it may cost, and what to type."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.command import ANSWERED, NO_ANSWER, open_store
from advisor.cli.job_words import job_request, say, whole_number
from advisor.costs.rented_trial import MINUTES
from advisor.files import typed_path
from advisor.parse import InputError, parse_positive

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.benchmark.request import Request
    from advisor.costs.rented_trial import SkyPrice
    from advisor.store import Store
    from price_catalog.model import Rental

MAX_SKY_MINUTES = 24 * 60


def run_on_sky(options: argparse.Namespace) -> int:
    """Write the folders, show the tasks, say what to type. Raises InputError and StoreError."""
    if options.device == "cpu":
        raise InputError("a CPU is not rented for this: leave --device out")
    minutes: float = MINUTES
    if options.time is not None:
        minutes = parse_positive(options.time, "job's time", "minutes", MAX_SKY_MINUTES)
    if options.first is not None:
        return _try_first(options, minutes)
    for name in ("budget", "max_days"):
        if getattr(options, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} goes with --first")
    if options.gpu is None:
        raise InputError(
            "name the GPU to rent, as the catalogue calls it (--gpu H100), or try the first of a "
            "ranking: --first 3 --budget 40k"
        )
    store = open_store(options)
    with store.reading() as reader:
        rentals = reader.rentals()
    lines, price = _one(options, store, rentals, job_request(options), options.gpu, minutes)
    say(price.words())
    say("Nothing was launched. Type:")
    for line in lines:
        say(f"  {line}")
    return ANSWERED


def _one(
    options: argparse.Namespace,
    store: Store,
    rentals: Sequence[Rental],
    request: Request,
    gpu: str,
    minutes: float,
) -> tuple[list[str], SkyPrice]:
    """Write one task's folder and print the task; what to type, and its price."""
    from advisor.benchmark.jobs import prepare

    wheel = _wheel(options.wheel)
    prepared = prepare.prepare_sky(
        store,
        rentals,
        request,
        gpu,
        minutes=minutes,
        folder=typed_path(options.folder) if options.folder else None,
        wheel=None if wheel is None else wheel.name,
    )
    prepare.write(prepared)
    if wheel is not None:
        shutil.copy(wheel, prepared.folder)
    print(prepared.text, end="")
    assert prepared.price is not None
    return list(prepared.lines), prepared.price


def _try_first(options: argparse.Namespace, minutes: float) -> int:
    """Tasks for the first builds of a ranking, and what all of them may cost."""
    from advisor.answers.build_words import short_gpus_words
    from advisor.answers.ranking.rented_trials import first_trials
    from advisor.ranking.rank import rank
    from advisor.ranking.snapshot import make_candidates, take_snapshot
    from advisor.ranking.typed_question import TypedQuestion, read_question

    for name in ("gpu", "gpus", "folder"):
        if getattr(options, name) is not None:
            raise InputError(f"--{name} goes without --first: the ranking says which GPUs")
    count = whole_number(options.first, "the number after --first")
    store = open_store(options)
    typed = TypedQuestion(model=options.model, budget=options.budget, max_days=options.max_days)
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
        asked, errors = read_question(typed, snapshot)
        if asked is None:
            raise InputError(next(iter(errors.values())))
        key, question = asked
        ranking = rank(make_candidates(reader, snapshot, key), question)
        rentals = reader.rentals()
    trials = first_trials(ranking, rentals, first=count, minutes=minutes)
    for build in trials.not_rented:
        say(f"no offer is known for renting {short_gpus_words(build)} in one machine: left out")
    if not trials.tried:
        say("none of the first can be rented: measure one where it stands, by advisor bench")
        return NO_ANSWER
    to_type: list[str] = []
    for at, (build, _) in enumerate(trials.tried):
        options.gpus = str(build.gpu_count)
        if at:
            print("---")
        request = job_request(options)
        lines, price = _one(options, store, rentals, request, build.gpu.gpu_id, minutes)
        say(f"{short_gpus_words(build)}: {price.words()}")
        to_type += lines
    words = trials.words()
    say(f"{words[0].upper()}{words[1:]}. Nothing was launched. Type:")
    for line in to_type:
        say(f"  {line}")
    return ANSWERED


def _wheel(named: str | None) -> Path | None:
    if named is None:
        return None
    path = typed_path(named)
    if path.suffix != ".whl" or not path.is_file():
        raise InputError(f"--wheel {named} is no wheel that is there: build one by pip wheel .")
    return path
