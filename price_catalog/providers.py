"""One name for each provider of rented GPUs, and which of them only lets strangers' machines."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from price_catalog.model import RentalKind

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
    {"akash", "clore-ai", "io-net", "runpod-community", "salad", "tensordock", "vast-ai"}
)
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
