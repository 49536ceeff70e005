"""From the store to a set of candidates: the one way that every screen and command asks.

A `Snapshot` is what does not depend on the model; `make_candidates` adds the model's times.
Both work on a reader that the store opened for a moment and closes again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from shlex import quote
from typing import TYPE_CHECKING, Protocol

from advisor.costs.amount_words import day_words
from advisor.costs.parts import with_parts
from advisor.costs.price_book import (
    NEVER,
    PriceBook,
    PriceRange,
    choose_quotes,
    owned_quote,
)
from advisor.ranking.candidates import Candidates, vat_in
from advisor.ranking.fine_tuning import FineTuning, parted
from advisor.ranking.times import BestTime, EvidenceRule, Model
from advisor.typed_input import InputError, PriceRule, no_such_model, shown
from price_catalog.builds import Build, enumerate_builds
from price_catalog.gpu_names import find_gpu, index_gpus
from price_catalog.model import Gpu, Host, Quote, Source

if TYPE_CHECKING:
    from advisor.ranking.fabric import Link
    from advisor.ranking.question import CandidatesKey


FineTuner = Callable[[Model, FineTuning], Model]
"""Counts a model that is fine-tuned (`advisor.store.asked_times`)."""


class Evidence(Protocol):
    """What a snapshot and candidates are made from: the open store (`advisor.store.Reader`)."""

    def models(self) -> tuple[Model, ...]: ...
    def gpus(self) -> tuple[Gpu, ...]: ...
    def hosts(self) -> tuple[Host, ...]: ...
    def quotes(self) -> tuple[Quote, ...]: ...
    def sources(self) -> tuple[Source, ...]: ...
    def best_times(self, recipe_id: str, evidence: EvidenceRule) -> tuple[BestTime, ...]: ...
    def asked_times(
        self, recipe_id: str, software: str = "ours", machines: int = 1, link: Link | None = None
    ) -> tuple[BestTime, ...]: ...
    def fine_tuner(self) -> FineTuner: ...
    def uncounted_models(self) -> dict[str, str]: ...
    def measured_power_w(self) -> dict[str, float]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What the store holds about models, machines and prices at one moment."""

    models: tuple[Model, ...]
    gpus: tuple[Gpu, ...]
    hosts: tuple[Host, ...]
    builds: tuple[Build, ...]
    quotes: tuple[Quote, ...]
    sources: tuple[Source, ...]
    fine_tuner: FineTuner
    measured_w: Mapping[str, float]
    """What one GPU of a kind drew while it was timed, in W; others are absent."""

    def model(self, name: str) -> Model:
        """The model with this id or name, in any case, fine-tuned where the name says so. Raises
        InputError with the nearest ones."""
        name, tuning = parted(name)
        if tuning is not None:
            return self.fine_tuner(self.model(name), tuning)
        wanted = name.strip().lower()
        for model in self.models:
            if wanted in (model.recipe_id.lower(), model.name.lower()):
                return model
        if not wanted:
            raise InputError("no model is named: choose one, such as pythia-1b")
        if wanted.endswith((".json", ".toml")) or "/" in wanted:
            if not wanted.endswith((".json", ".toml")) and wanted[0] not in "./~":
                raise InputError(
                    f"the model {shown(name)} is a folder, or a name of a hub, where nothing is "
                    "fetched: keep its config.json under a name of your own first, with advisor "
                    "predict --model config.json --tokens 300B --keep NAME"
                )
            if not os.path.exists(name):
                raise InputError(
                    f"no file is called {shown(name)}, and no model: advisor data models lists them"
                )
            pasted = quote(name) if name.isprintable() and len(name) < 80 else "FILE"
            raise InputError(
                f"the model {shown(name)} is a file: keep it under a name of your own first, with "
                f"advisor predict --model {pasted} --tokens 300B --keep NAME"
            )
        known = [model.recipe_id for model in self.models]
        raise InputError(no_such_model(name, known))

    def gpu_ids(self, names: Iterable[str]) -> frozenset[str]:
        """The ids of GPUs given by name, id or alias. Raises InputError with the nearest ones."""
        index = index_gpus(self.gpus)
        try:
            found = [find_gpu(name, index).gpu_id for name in names]
        except ValueError as error:
            raise InputError(str(error)) from None
        return frozenset(found)

    def prices(
        self, rule: PriceRule, *, today: date | None = None, vat: Decimal | None = None
    ) -> PriceBook:
        """The quote that counts for each item under a price rule; what is owned costs nothing. With
        ``vat``, what a buyer pays of it, every price is before tax."""
        today, quotes = today or date.today(), self.quotes
        if vat is not None and any(quote.includes and quote.has_tax for quote in quotes):
            from price_catalog.vendors import before_tax  # late: few quotes have tax

            quotes = tuple(before_tax(quote, vat) for quote in quotes)
        book = choose_quotes(quotes, rule, today=today, hosts=self.hosts)
        book = with_parts(book, self.hosts)
        owned = {
            ("server", host.host_id): owned_quote(host, today)
            for host in self.hosts
            if host.kind == "owned"
        }
        if not owned:
            return book
        free = dict.fromkeys(owned, PriceRange(Decimal(0), Decimal(0), 1))
        return replace(book, chosen={**book.chosen, **owned}, ranges={**book.ranges, **free})

    def check_day(self, rule: PriceRule) -> None:
        """Raises InputError for a day on which no price was known yet."""
        if not isinstance(rule, date):
            return
        first = min((q.quoted_on for q in self.quotes if q.kind not in NEVER), default=rule)
        if first > rule:
            raise InputError(
                f"no price of {day_words(rule)} or before is known: the first is of "
                f"{day_words(first)}; write a later day, or latest"
            )

    def builds_under(self, rule: PriceRule, book: PriceBook) -> tuple[Build, ...]:
        """The builds that a price rule knows of; the paper's machines are taken at its word."""
        if rule != "paper":
            return self.builds
        priced = [
            host
            for host in self.hosts
            if ("host", host.host_id) in book or ("server", host.host_id) in book
        ]
        return enumerate_builds(self.gpus, priced, checked=False)


def take_snapshot(reader: Evidence) -> Snapshot:
    """Read everything that does not depend on the model."""
    gpus, hosts = reader.gpus(), reader.hosts()
    return Snapshot(
        models=reader.models(),
        gpus=gpus,
        hosts=hosts,
        builds=enumerate_builds(gpus, hosts),
        quotes=reader.quotes(),
        sources=reader.sources(),
        fine_tuner=reader.fine_tuner(),
        measured_w=reader.measured_power_w(),
    )


def make_candidates(reader: Evidence, snapshot: Snapshot, key: CandidatesKey) -> Candidates:
    """Every build with its cost and its time for the model, as the open store knows them."""
    times = times_asked(reader, key)
    uncounted = None
    if key.evidence == "sound":
        uncounted = why_uncounted(reader, snapshot, key.recipe_id, times)
    return candidates_of(times, snapshot, key, uncounted)


def times_asked(reader: Evidence, key: CandidatesKey) -> tuple[BestTime, ...]:
    """What the store keeps of a model, and what is predicted when somebody asks: other software,
    two machines."""
    if key.software == "ours":
        times = reader.best_times(key.recipe_id, key.evidence)
    else:
        times = reader.asked_times(key.recipe_id, key.software)
    if key.network is not None:
        from advisor.ranking.fabric import link_of  # late: most ask for one machine

        times += reader.asked_times(key.recipe_id, key.software, 2, link_of(key.network))
    return times


def why_uncounted(
    reader: Evidence, snapshot: Snapshot, recipe_id: str, times: Sequence[BestTime]
) -> str | None:
    """Why a model of the user's own, kept by an earlier version, has no estimates; None where it
    has some, and of other models."""
    if snapshot.model(recipe_id).origin != "local":
        return None
    if any(time.chosen is not None and time.chosen.basis == "predicted" for time in times):
        return None
    return reader.uncounted_models().get(recipe_id)


def candidates_of(
    times: Sequence[BestTime],
    snapshot: Snapshot,
    key: CandidatesKey,
    uncounted: str | None = None,
) -> Candidates:
    """Every build with its cost and its time for the model; only of these GPUs, where given.

    What the lab's circuit does not carry, where one is given, cannot be built. With a network two
    machines of each kind are candidates as well.

    A GPU that the price rule knows no price for and that was not timed with this model is no
    candidate: the catalogue's specification alone says nothing about buying it.
    """
    book = snapshot.prices(key.prices, vat=vat_in(key.buy_in))
    wanted = {gpu_id for kind, gpu_id in book if kind == "gpu"}
    wanted.update(
        host.gpu_id
        for host in snapshot.hosts
        if host.gpu_id is not None and ("server", host.host_id) in book
    )
    wanted.update(time.gpu_id for time in times)
    if key.gpu_ids is not None:
        wanted &= key.gpu_ids
    builds = tuple(
        build for build in snapshot.builds_under(key.prices, book) if build.gpu.gpu_id in wanted
    )
    if key.supply is not None:
        from price_catalog.power_limits import on_circuit

        builds = on_circuit(builds, key.supply)
    if key.network is not None:
        builds += tuple(build._replace(machines=2) for build in builds if _sold_twice(build))
    model = snapshot.model(key.recipe_id)
    return Candidates(
        model,
        builds,
        times,
        book,
        key.evidence,
        key.network,
        key.supply,
        uncounted,
        some_gpus=key.gpu_ids is not None,
        buy_in=key.buy_in,
        measured_w=snapshot.measured_w,
    )


def _sold_twice(build: Build) -> bool:
    """Whether two of it may be bought: nothing of it is there already."""
    there = build.host_owned or build.gpus_owned
    return not there and build.obstacle is None and not build.unknown
