"""Who may be first instead of first place, in a few words (pure)."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from advisor.answers.build_words import short_gpus_words
from advisor.answers.ranking.no_result import MOST_NAMED
from advisor.answers.wording import is_unquoted
from advisor.costs.amounts import usd_rounded
from advisor.ranking.rank import Ranking

if TYPE_CHECKING:
    from price_catalog.builds import Build


def _kind_words(build: Build) -> str:
    """``2 × RTX 5090``; ``two machines of 2 × RTX 5090``."""
    if build.machines == 1:
        return short_gpus_words(build)
    return f"two machines of {short_gpus_words(build._replace(machines=1))}"


def kinds_words(
    ranking: Ranking, builds: Collection[int], *, priced: bool = False, most: int = MOST_NAMED
) -> str:
    """``2 × RTX 5090`` however many machines have them; of more than ``most`` kinds how many.

    ``priced`` adds what the cheapest with a seller costs, where that is less than first place:
    ``2 × RTX 5090 ($15,200) or 2 × RTX 6000 Ada``, ``5 others (from $9,870)``.
    """
    candidates = ranking.candidates
    # In the order of the ranking; what is left out has none, and comes as it is given.
    order = [i for i in ranking.order if i in builds] or builds
    kinds = dict.fromkeys(_kind_words(candidates.builds[i]) for i in order)
    price, cheapest = "", None
    if priced:
        cents, placed = candidates.cents, candidates.placed_cents
        low = min(
            (i for i in order if candidates.offered[i] and not candidates.builds[i].host_owned),
            key=lambda i: (placed[i], candidates.is_summed(i)),  # as a ranking names it
            default=None,
        )
        if low is not None and cents[low] < cents[ranking.order[0]]:
            cost, quote = candidates.cost_usd(low), candidates.host_quotes[low]
            assert cost is not None and quote is not None  # it is ranked
            summed = is_unquoted(candidates.builds[low], quote)
            price = f"{usd_rounded(cost)}{' as a sum' if summed and most else ''}"
            cheapest = _kind_words(candidates.builds[low])
    if len(kinds) == 1 > most:
        return "another" + (f" ({price})" if price else "")
    if len(kinds) > most:
        return f"{len(kinds)} others" + (f" (from {price})" if price else "")
    return " or ".join(f"{kind} ({price})" if kind == cheapest else kind for kind in kinds)
