"""Providers of rented GPUs: one name for each, and which of our GPUs their instances have."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from price_catalog.csv_table import read_rows
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import Gpu

if TYPE_CHECKING:
    from price_catalog.model import Rental, RentalKind


_SPELLINGS = {
    "alibaba-cloud": "alibaba",
    "amazon": "aws",
    "amazon-ec2": "aws",
    "amazon-web-services": "aws",
    "cudo-compute": "cudo",
    "datacrunch": "verda",
    "google": "gcp",
    "google-cloud": "gcp",
    "lambda-labs": "lambda",
    "microsoft": "azure",
    "microsoft-azure": "azure",
    "ms-azure": "azure",
    "oblivus-cloud": "oblivus",
    "oracle": "oci",
    "oracle-cloud": "oci",
    "ovhcloud": "ovh",
    "runpod-secure": "runpod",
    "saladcloud": "salad",
    "vast": "vast-ai",
}
_WRITTEN = {
    "akash": "Akash",
    "aws": "AWS",
    "azure": "Azure",
    "coreweave": "CoreWeave",
    "crusoe": "Crusoe",
    "cudo": "CUDO Compute",
    "dataoorts": "Dataoorts",
    "digitalocean": "DigitalOcean",
    "gcp": "Google Cloud",
    "genesis-cloud": "Genesis Cloud",
    "hyperstack": "Hyperstack",
    "jarvis-labs": "Jarvislabs",
    "lambda": "Lambda",
    "modal": "Modal",
    "nebius": "Nebius",
    "novita": "Novita AI",
    "oblivus": "Oblivus",
    "oci": "Oracle Cloud",
    "ovh": "OVHcloud",
    "packet-ai": "Packet.ai",
    "qubrid": "Qubrid",
    "runpod": "RunPod",
    "runpod-community": "RunPod community",
    "salad": "Salad",
    "scaleway": "Scaleway",
    "sesterce": "Sesterce",
    "spheron": "Spheron",
    "tensordock": "TensorDock",
    "together": "Together",
    "vast-ai": "Vast.ai",
    "verda": "Verda",
    "vultr": "Vultr",
}
_PEERS = frozenset(
    {
        *("akash", "clore-ai", "io-net", "runpod-community", "salad", "spheron", "tensordock"),
        "vast-ai",
    }
)
_AGGREGATORS = {"compute-screener": "", "gpu-pricing-tracker": "https://getdeploying.com/"}
"""Sources that show prices of others, with what the address of such a row begins with."""
_COMPANY = frozenset(
    {"ag", "bv", "co", "corp", "corporation", "gmbh", "inc", "limited", "llc", "ltd", "sa", "sas"}
)
"""What ends the name of a company and tells no two providers apart."""
_SERVICE = frozenset(
    {
        *("ai", "cloud", "clouds", "com", "compute", "computing", "gpu", "gpus", "infrastructure"),
        *("io", "labs", "marketplace", "net", "network", "platform"),
        "services",
    }
)
"""What is often put behind the name of a provider: left out where a known name remains."""


def _joined(words: Iterable[str]) -> str:
    return "".join(words)


_KNOWN = {
    _joined(spelling.split("-")): name
    for spelling, name in [
        *((name, name) for name in (*_WRITTEN, *_PEERS, *_SPELLINGS.values())),
        *_SPELLINGS.items(),
    ]
}
"""The one name, by spelling without anything between its words."""


@lru_cache(maxsize=4096)
def provider_name(spelling: str) -> str:
    """The one name of a provider, however it is spelled: ``Lambda Labs, Inc.`` is ``lambda``.

    Case, what stands between words and the company's form tell nothing; ``Cloud`` and the like do
    only where no known name remains without them.
    """
    words = re.findall(r"[^\W_]+", spelling.casefold())
    while len(words) > 1 and words[-1] in _COMPANY:
        words.pop()
    for count in range(len(words), 0, -1):
        known = _KNOWN.get(_joined(words[:count]))
        if known is not None:
            return known
        if words[count - 1] not in _SERVICE:
            break
    return "-".join(words) or spelling


def written_provider(name: str) -> str:
    """A provider as it writes itself, for texts that leave the program."""
    return _WRITTEN.get(name, name)


def rental_kind(provider: str, kind: RentalKind) -> RentalKind:
    """The kind of a rental: whatever a feed calls them, a stranger's machine is ``peer``."""
    return "peer" if is_peer(provider) else kind


def is_peer(provider: str) -> bool:
    """Whether the machines belong to strangers and the provider is only their marketplace."""
    return provider_name(provider) in _PEERS


def is_aggregated(rental: Rental) -> bool:
    """Whether not the provider itself states the price but a site that compares providers."""
    begins = _AGGREGATORS.get(rental.source_id)
    return begins is not None and (rental.url or "").startswith(begins)


_COLUMNS = ("provider", "instance", "gpu_name", "memory_gib", "gpu_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class CloudName:
    """What one family of instances holds."""

    provider: str
    instance: str
    """A pattern as file names have it."""
    gpu_name: str
    memory_gib: float | None
    gpu_id: str


class CloudNames:
    """Finds the GPU of an offer, or admits that the offer does not say which form it has."""

    def __init__(self, gpus: Iterable[Gpu], path: Path | None = None) -> None:
        gpus = tuple(gpus)
        self._index = index_gpus(gpus)
        path = path or Path(__file__).with_name("cloud_names.csv")
        self._names = [
            CloudName(
                provider=row.text("provider"),
                instance=row.text("instance"),
                gpu_name=row.text("gpu_name"),
                memory_gib=row.optional_number("memory_gib"),
                gpu_id=row.choice("gpu_id", [gpu.gpu_id for gpu in gpus]),
            )
            for row in read_rows(path, _COLUMNS)
        ]
        self._in_several_forms = {name.gpu_name for name in self._names} | {"RTXPRO6000"}

    def gpu_id(
        self, provider: str, instance: str, gpu_name: str, memory_gib: float | None
    ) -> str | None:
        """The GPU's id; None where the form cannot be told or no GPU of ours is meant."""
        for name in self._names:
            if (
                name.provider == provider
                and name.gpu_name == gpu_name
                and name.memory_gib in (None, memory_gib)
                and fnmatchcase(instance, name.instance)
            ):
                return name.gpu_id
        if gpu_name in self._in_several_forms:
            return None
        found = self._index.get(normalise(gpu_name))
        if found is None or (memory_gib is not None and abs(found.memory_gib - memory_gib) > 1):
            return None
        return found.gpu_id
