"""What one key of a grant alone does not show: terms, costs and allocations held against it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.planning.grant.checked_toml import wrong

if TYPE_CHECKING:
    from advisor.planning.grant.grant import Grant


def check_terms(grant: Grant) -> None:
    """Raises InputError."""
    years = len(grant.year_dates) - 1
    by_year = grant.utilisation_by_year
    if by_year is not None and len(by_year) != years:
        problem = f"has {len(by_year)} shares for {years} years: write one for each"
        raise wrong(grant.file, "running.utilisation_by_year", problem)
    if by_year is not None and grant.utilisation != 1:
        problem = "is there with utilisation: remove one of the two"
        raise wrong(grant.file, "running.utilisation_by_year", problem)
    if grant.cost_share and grant.cost_share_by is None:
        problem = "somebody must pay it: write cost_share_by with their name"
        raise wrong(grant.file, "purchases.cost_share_by", problem)
    names: set[str] = set()
    for number, cost in enumerate(grant.costs, start=1):
        place = f"costs[{number}]"
        if (cost.amount is None) == (cost.share_of_price is None):
            raise wrong(grant.file, place, "needs either amount or share_of_price")
        if cost.share_of_price is not None and cost.per != "machine":
            problem = 'a share of the price is paid for each machine: write per = "machine"'
            raise wrong(grant.file, f"{place}.per", problem)
        if cost.year > years:
            raise wrong(grant.file, f"{place}.year", f"must be a whole number from 1 to {years}")
    for number, allocation in enumerate(grant.allocations, start=1):
        place = f"allocations[{number}]"
        if allocation.name in names:
            problem = f"'{allocation.name}' is there twice: give each its own name"
            raise wrong(grant.file, f"{place}.name", problem)
        names.add(allocation.name)
        first, last = allocation.starts, allocation.ends
        for key, day in (("starts", first), ("ends", last)):
            if day is not None and not grant.start <= day <= grant.end:
                problem = f"{day} is outside the grant, from {grant.start} to {grant.end}"
                raise wrong(grant.file, f"{place}.{key}", problem)
        if first and last and last <= first:
            raise wrong(grant.file, f"{place}.ends", f"{last} is not after starts, {first}")
