"""One name for each provider of rented GPUs, and which of them only lets strangers' machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from price_catalog.model import RentalKind

_SPELLINGS = {
    "alibaba-cloud": "alibaba",
    "amazon": "aws",
    "azure": "azure",
    "cudo-compute": "cudo",
    "cudocompute": "cudo",
    "datacrunch": "verda",
    "gcp": "gcp",
    "google-cloud": "gcp",
    "lambda": "lambda",
    "lambda-labs": "lambda",
    "lambdalabs": "lambda",
    "microsoft-azure": "azure",
    "oblivus-cloud": "oblivus",
    "oci": "oci",
    "oracle-cloud": "oci",
    "ovhcloud": "ovh",
    "vast-ai": "vast-ai",
    "vast.ai": "vast-ai",
    "vastai": "vast-ai",
}
_WRITTEN = {
    "aws": "AWS",
    "azure": "Azure",
    "coreweave": "CoreWeave",
    "crusoe": "Crusoe",
    "digitalocean": "DigitalOcean",
    "gcp": "Google Cloud",
    "genesis-cloud": "Genesis Cloud",
    "hyperstack": "Hyperstack",
    "lambda": "Lambda",
    "nebius": "Nebius",
    "oci": "Oracle Cloud",
    "ovh": "OVHcloud",
    "runpod": "RunPod",
    "scaleway": "Scaleway",
    "together": "Together",
    "vast-ai": "Vast.ai",
    "verda": "Verda",
    "vultr": "Vultr",
}
_PEERS = frozenset({"akash", "runpod-community", "salad", "tensordock", "vast-ai"})


def provider_name(spelling: str) -> str:
    """The one name of a provider, however it is spelled: ``Lambda Labs`` is ``lambda``."""
    folded = "-".join(spelling.casefold().split())
    return _SPELLINGS.get(folded, folded)


def written_provider(name: str) -> str:
    """A provider as it writes itself, for texts that leave the program."""
    return _WRITTEN.get(name, name)


def rental_kind(provider: str, kind: RentalKind) -> RentalKind:
    """The kind of a rental: whatever a feed calls them, a stranger's machine is ``peer``."""
    return "peer" if is_peer(provider) else kind


def is_peer(provider: str) -> bool:
    """Whether the machines belong to strangers and the provider is only their marketplace."""
    return provider_name(provider) in _PEERS
