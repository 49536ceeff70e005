"""A share of a campus condo that is bought with grant money: a machine that the campus houses, runs
and powers, for as many years as it says.

Universities sell such shares by the node and serve them for four or five years (Savio, Sherlock,
TSCC, CARC); some charge them as equipment, some as a service, which bears overhead (Florida). Rates
and rules: ``advisor plan --allocations condo``.
"""

from __future__ import annotations

from decimal import Decimal

from advisor.parse import InputError
from advisor.planning.grant.checked_toml import wrong
from advisor.planning.grant.grant_file import GrantAllocation
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.machines import Best, LeftOut, times_of
from advisor.planning.solver.problem import BUY_IN, Machine, PriceLine
from advisor.ranking.snapshot import Snapshot
from price_catalog.model import Quote
from price_catalog.power import PowerFigures

OWN_WORD = "the grant's own word"
NOT_IN_BASE = ("none", "rental")


def shares(
    snapshot: Snapshot, grant: Grant, best: Best, left_out: list[LeftOut]
) -> tuple[list[Machine], dict[str, Quote]]:
    """What each ``buy_in`` of the grant buys, and its price. Raises InputError."""
    machines: list[Machine] = []
    quotes: dict[str, Quote] = {}
    for n, asked in enumerate(grant.allocations, start=1):
        if asked.buy_in is None:
            continue
        priced_on = asked.buy_in_on
        assert priced_on is not None
        try:
            (gpu_id,) = snapshot.gpu_ids([asked.gpu])
        except InputError as error:
            raise wrong(grant.file, f"allocations[{n}].gpu", str(error)) from None
        gpu_name = next(gpu.short_name for gpu in snapshot.gpus if gpu.gpu_id == gpu_id)
        label = f"share of {asked.name}, {asked.max_gpus} × {gpu_name}"
        counts = range(1 if grant.share_gpus else asked.max_gpus, asked.max_gpus + 1)
        if not any(times_of(best, gpu_id, count, grant) for count in counts):
            reason = f"no time of {gpu_name} for any model asked for"
            left_out.append(LeftOut(label=asked.name, reason=reason))
            continue
        quote = Quote(
            quote_id=f"allocations[{n}].buy_in",
            item_kind="server",
            item_id=f"condo:{n}",
            price_usd=grant.currency.to_usd(Decimal(asked.buy_in)),
            kind="reseller-quote",
            vendor=asked.name,
            quoted_on=priced_on,
            source_id=asked.source or OWN_WORD,
            url=None,
            note=None,
            price_set=None,
        )
        quotes[quote.quote_id] = quote
        machines.append(
            Machine(
                machine_id=f"condo:{n}:{gpu_id}:{asked.max_gpus}",
                label=label,
                gpu_id=gpu_id,
                gpu_name=gpu_name,
                gpu_count=asked.max_gpus,
                times=times_of(best, gpu_id, asked.max_gpus, grant),
                lines=(_line(quote, label),),
                # Its power is the campus's.
                power=PowerFigures(
                    gpu_w=None, gpu_count=asked.max_gpus, base_w=None, stated_w=Decimal(0)
                ),
                share_of=asked.name,
                in_base=_in_base(asked),
            )
        )
    return machines, quotes


def _in_base(asked: GrantAllocation) -> bool | None:
    """Whether overhead is charged; None: as on equipment, by its price."""
    if asked.overhead == "equipment":
        return None
    return asked.overhead not in NOT_IN_BASE


def _line(quote: Quote, label: str) -> PriceLine:
    return PriceLine(
        item_kind=quote.item_kind,
        item_id=quote.item_id,
        label=label,
        quantity=1,
        unit_usd=quote.price_usd,
        quote_id=quote.quote_id,
        quote_kind=BUY_IN,
        vendor=quote.vendor,
        quoted_on=quote.quoted_on,
        source_id=quote.source_id,
    )
