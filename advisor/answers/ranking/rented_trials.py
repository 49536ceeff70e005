"""Trying the first builds of a ranking on rented GPUs before one is bought."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from advisor.answers.build_words import gpus_words
from advisor.costs.amount_words import usd_and_cents
from advisor.costs.rental import MINUTES, SkyPrice, price_of, skypilot_name
from advisor.ranking.row_order import Ranking
from advisor.typed_input import InputError
from price_catalog.builds import Build
from price_catalog.model import Rental

FIRST = 3
MOST = 10
"""Further down a ranking no one looks for what can be rented."""


class RentedTrials(NamedTuple):
    """The first builds whose GPUs can be rented, each with its price."""

    tried: tuple[tuple[Build, SkyPrice], ...]
    not_rented: tuple[Build, ...]
    """Passed over: no provider rents out this many of its GPU in one machine."""

    @property
    def most_usd(self) -> Decimal:
        return sum((price.most_usd for _, price in self.tried), Decimal(0))

    def words(self) -> str:
        """``measure the first 3 that can be rented (...), for at most $4.10 in all``."""
        which = "the first" if len(self.tried) == 1 else f"the first {len(self.tried)}"
        can = " that can be rented" if self.not_rented else " on rented GPUs"
        builds = ", ".join(gpus_words(build) for build, _ in self.tried)
        most = usd_and_cents(self.most_usd)
        return f"measure {which}{can} ({builds}), for at most {most} in all"


def _first_kinds(ranking: Ranking) -> list[Build]:
    """The first kinds of GPUs of a ranking; the same GPUs in several chassis are one."""
    found: dict[tuple[str, int], Build] = {}
    for at in ranking.order:
        build = ranking.candidates.builds[at]
        if build.machines == 1:
            found.setdefault((build.gpu.gpu_id, build.gpu_count), build)
        if len(found) >= MOST:
            break
    return list(found.values())


def first_gpus(ranking: Ranking) -> list[str]:
    """The GPUs of the builds that `first_trials` may look at."""
    return list(dict.fromkeys(build.gpu.gpu_id for build in _first_kinds(ranking)))


def first_trials(
    ranking: Ranking, rentals: Iterable[Rental], *, first: int = FIRST, minutes: float = MINUTES
) -> RentedTrials:
    """The first builds whose GPUs can be rented, and those before them that cannot."""
    held, today = tuple(rentals), date.today()
    tried: list[tuple[Build, SkyPrice]] = []
    missing = []
    for build in _first_kinds(ranking):
        gpu = build.gpu.gpu_id
        if len(tried) >= first:
            break
        try:
            price = price_of(held, gpu, build.gpu_count, minutes, today=today)
        except InputError:
            missing.append(build)
        else:
            if skypilot_name(gpu) is None:
                missing.append(build)
            else:
                tried.append((build, price))
    return RentedTrials(tried=tuple(tried), not_rented=tuple(missing))
