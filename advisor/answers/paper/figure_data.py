"""What the paper's figures are drawn from: published times, the user's own, prices of machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.answers.paper.findings import PAPER_SOURCES
from advisor.planning.report.pictures import MARKERS, OKABE_ITO
from advisor.ranking.build_prices import build_cents, price_keys
from advisor.ranking.snapshot import Snapshot, take_snapshot
from advisor.ranking.times import TrainingTime
from advisor.store import Store
from price_catalog.builds import enumerate_builds
from price_catalog.model import Gpu


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the figures are drawn from."""

    snapshot: Snapshot
    naive: tuple[TrainingTime, ...]
    optimal: tuple[TrainingTime, ...]
    original: tuple[TrainingTime, ...]
    own: tuple[TrainingTime, ...]
    """The user's own, the fastest for each model, GPU and count."""
    gpus: Mapping[str, Gpu]
    cents: Mapping[tuple[str, int], int]
    """Cheapest machine with so many of a GPU."""

    def colour(self, gpu_id: str) -> tuple[str, str]:
        """Colour and marker of a GPU: the same in every figure."""
        at = self._order.index(gpu_id)
        return OKABE_ITO[at % len(OKABE_ITO)], MARKERS[at % len(MARKERS)]

    def model_ids(self, prefix: str = "") -> list[str]:
        """The models with published times, by family and size as the store orders them."""
        timed = {t.recipe_id for t in self.optimal}
        return [
            model.recipe_id
            for model in self.snapshot.models
            if model.recipe_id in timed and model.recipe_id.startswith(prefix)
        ]

    def gpu_ids(self) -> list[str]:
        """The GPUs with published times, oldest first."""
        timed = {t.gpu_id for t in self.optimal}
        return [gpu_id for gpu_id in self.gpus if gpu_id in timed]

    def unpriced(self) -> list[str]:
        """The user's own times that no figure of costs can show."""
        return [
            f"{self.name(t.recipe_id)} on {t.gpu_count} × {self.gpus[t.gpu_id].name}"
            for t in self.own
            if (t.gpu_id, t.gpu_count) not in self.cents
        ]

    @property
    def _order(self) -> list[str]:
        used = {t.gpu_id for t in (*self.optimal, *self.own)}
        return [gpu_id for gpu_id in self.gpus if gpu_id in used]

    def name(self, recipe_id: str) -> str:
        """A model's name."""
        return next(m.name for m in self.snapshot.models if m.recipe_id == recipe_id)


def gather(store: Store) -> Evidence:
    """Read what the figures need. Raises StoreError."""
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
        times = reader.times()
    paper = [t for t in times if t.source_id in PAPER_SOURCES]
    known = {gpu.gpu_id: gpu for gpu in snapshot.gpus}
    models = {model.recipe_id for model in snapshot.models}
    own: dict[tuple[str, str, int], TrainingTime] = {}
    for t in times:
        usable = t.origin == "local" and t.status == "ok" and t.training_days is not None
        if not usable or t.gpu_id not in known or t.recipe_id not in models:
            continue
        key = (t.recipe_id, t.gpu_id, t.gpu_count)
        held = own.get(key)
        if held is None or (t.training_days or 0) < (held.training_days or 0):
            own[key] = t
    return Evidence(
        snapshot=snapshot,
        naive=tuple(t for t in paper if t.method == "naive"),
        optimal=tuple(t for t in paper if t.method == "optimal"),
        original=tuple(t for t in paper if t.method == "original"),
        own=tuple(own[key] for key in sorted(own)),
        gpus=known,
        cents=_prices(snapshot),
    )


def _prices(snapshot: Snapshot) -> dict[tuple[str, int], int]:
    """The paper's machine and GPU prices; else the cheapest machine at the latest ones."""
    found: dict[tuple[str, int], int] = {}
    for rule in ("paper", "latest"):
        book = snapshot.prices(rule)
        builds = (
            enumerate_builds(
                snapshot.gpus, [h for h in snapshot.hosts if h.gpu_id is None], checked=False
            )
            if rule == "paper"
            else snapshot.builds_under(rule, book)
        )
        cheapest: dict[tuple[str, int], int] = {}
        for build in builds:
            gpu_key, host_key = price_keys(build)
            gpu, host = book.get(gpu_key), book.get(host_key)
            if gpu is None or host is None or build.obstacle or build.gpus_owned:
                continue
            cents = build_cents(build, gpu.price_usd, host.price_usd)
            key = (build.gpu.gpu_id, build.gpu_count)
            cheapest[key] = min(cents, cheapest.get(key, cents))
        for key, cents in cheapest.items():
            found.setdefault(key, cents)
    return found
