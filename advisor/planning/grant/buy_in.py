"""Which keys a share of a condo has that is bought, and which belong to hours alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.planning.grant.checked_toml import wrong

_NEEDED = {
    "buy_in_on": "must be the day of that price: write buy_in_on = 2026-11-02",
    "lasts_years": "must be the years that the share is served: write lasts_years = 5",
    "max_gpus": "must be the GPUs in one share: write max_gpus = 8",
}
_OF_HOURS = (
    *("gpu_hours_a_year", "usd_per_gpu_hour", "price_per_gpu_hour", "credit", "odds"),
    *("queue_days", "max_job_days", "starts", "ends"),
)
KEYS = ("gpu", "kind", "max_gpus", "buy_in", "buy_in_on", "lasts_years", "overhead")
"""What a share is planned with."""


def check_buy_in(file: str, place: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """What a share has that its table does not say; nothing where none is bought. Raises
    InputError."""
    if "buy_in" not in own:
        for key in ("buy_in_on", "lasts_years"):
            if key in own:
                raise wrong(
                    file, f"{place}.{key}", "belongs to a share that is bought: write buy_in"
                )
        return {}
    for key in _OF_HOURS:
        if key in own:
            problem = (
                "stands beside buy_in, which buys machines and not hours: remove one of the two"
            )
            raise wrong(file, f"{place}.{key}", problem)
    if own.get("kind", "condo") != "condo":
        raise wrong(file, f"{place}.kind", 'must be "condo", of which a share can be bought')
    for key, problem in _NEEDED.items():
        if key not in own:
            raise wrong(file, f"{place}.{key}", problem)
    # As text, which is read as an amount again.
    return {
        "kind": "condo",
        "overhead": own.get("overhead", "equipment"),
        "buy_in": f"{own['buy_in']:f}",
    }
