"""What builds, machines and cards are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.costs.amount_words import usd_and_cents
from price_catalog.builds import Build
from price_catalog.model import OWN_QUOTE

if TYPE_CHECKING:
    from advisor.costs.rental import RentOffer
    from advisor.ranking.fabric import Fabric
    from price_catalog.power import Supply


def rented_words(build: Build) -> str:
    """``4 × A6000``: as many of its GPUs, in a machine of whoever rents them out."""
    return f"{build.gpu_count} × {build.gpu.short_name}"


def hourly_words(offer: RentOffer) -> str:
    """``$2.99 an hour``; ``4 × $1.69 an hour`` where its provider names a price of one GPU."""
    each = usd_and_cents(offer.middle.price_per_hour_usd)
    return f"{each} an hour" if offer.times == 1 else f"{offer.times} × {each} an hour"


def over_words(build: Build, fabric: Fabric | None) -> str:
    """`` over 25 Gbit/s Ethernet``; nothing for one machine."""
    if build.machines == 1 or fabric is None:
        return ""
    from advisor.ranking.fabric import fabric_words  # late: most ask for one machine

    return f" over {fabric_words(fabric)}"


def limit_words(build: Build) -> str:
    """`` limited to 280 W``, where the lab's circuit carries it only so; else nothing."""
    if build.limit is None:
        return ""
    each = " each" if build.gpu_count > 1 else ""
    return f" limited to {build.limit.watts:.0f} W{each}"


def supply_words(supply: Supply) -> str:
    """``120 V 15 A``."""
    return f"{supply.volts} V {supply.breaker_a} A"


def set_limit(build: Build) -> str | None:
    """What sets the power limit that its time assumes, before it is measured; None without one."""
    return None if build.limit is None else f"sudo nvidia-smi -pl {build.limit.watts:.0f}"


_PAPER_HOSTS = ("desktop-1gpu", "desktop-2gpu", "server-4gpu", "server-8gpu")
"""One of each size; a build without a machine's name stands in these."""


def build_words(build: Build) -> str:
    """``4 × A6000``; an upgrade says so, and so does every machine but the paper's."""
    words = _gpus_words(build)
    if build.host.gpu_id is not None:
        mark = f", {OWN_QUOTE}" if build.host.is_own_quote else ""
        return f"{words} ({build.host.name}{mark})"
    notes = [build.host.name] if build.host.host_id not in _PAPER_HOSTS else []
    if build.host.is_own_quote:
        notes.append(OWN_QUOTE)
    if build.gpus_owned:
        notes.append(f"{build.gpus_owned} owned, {build.gpu_count - build.gpus_owned} to buy")
    return f"{words} ({'; '.join(notes)})" if notes else words


def machine_words(build: Build) -> str:
    """The machine without the GPUs that its name repeats: ``tinybox G4 128 GB``."""
    name = build.host.name
    if build.host.gpu_id is not None:
        return name.partition(f", {build.gpu_count} x ")[0]
    plural = "s" if build.host.max_gpus > 1 else ""
    name = name.replace(f" for {build.host.max_gpus} GPU{plural}", "")
    return name.replace(", by parts", " from parts")


def in_machine(build: Build) -> str:
    """``in the tinybox G4 128 GB``; ``in My host``, which is a name that the user gave."""
    if build.host.is_own_quote:
        return f"in {machine_words(build)}"
    return f"in the {machine_words(build).replace('Desktop', 'desktop')}"


def owned_words(build: Build) -> str:
    """``your 2 × A6000 (our old one)``; of a machine that is not there ``2 × A6000 in the ...``."""
    if not build.host_owned:
        return f"{gpus_words(build)} {in_machine(build)}"
    own = f"your {gpus_words(build)}"
    return own if build.host.name == own else f"{own} ({build.host.name})"


def added_words(build: Build) -> str:
    """``2 × A6000 to your 2``: what is bought beside the GPUs that are there."""
    more = build.gpu_count - build.gpus_owned
    return f"{more} × {build.gpu.short_name} to your {build.gpus_owned}"


def gpus_words(build: Build) -> str:
    """``2 × RTX PRO 6000 Max-Q``; two machines of it are ``2 × [2 × RTX PRO 6000 Max-Q]``; a
    machine that the user entered is marked."""
    words = _gpus_words(build)
    return f"{words} ({OWN_QUOTE})" if build.host.is_own_quote else words


def _gpus_words(build: Build) -> str:
    words = f"{build.gpu_count} × {build.gpu.short_name}{limit_words(build)}"
    return words if build.machines == 1 else f"{build.machines} × [{words}]"
