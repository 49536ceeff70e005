"""What peers have: the paper's survey of academic hardware as it prints it, beside one's own."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.store import Reader

SURVEY = (
    "50 researchers of 35 institutions were asked for 3 weeks in April 2024 (about 60 % PhD "
    "students; arXiv 2410.23261, section 2), about what one person or project can use, not a whole "
    "lab. The paper does not print how many answered each question."
)
COLUMNS = ("topic", "share_percent", "told", "respondents", "asked", "where")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """One finding of the survey, in the paper's figures."""

    topic: str
    share_percent: str
    """As printed, a number or a range; empty where the paper prints no share."""
    told: str
    where: str

    def as_row(self) -> dict[str, object]:
        """For a table or a script."""
        return {
            "topic": self.topic,
            "share_percent": self.share_percent or None,
            "told": self.told,
            "respondents": 50,
            "asked": "2024-04",
            "where": self.where,
        }


def peers() -> list[Peer]:
    """The survey's findings in the order of its topics."""
    with Path(__file__).with_name("survey.csv").open(encoding="utf-8", newline="") as file:
        return [Peer(**row) for row in csv.DictReader(file)]


def own_words(reader: Reader) -> list[str]:
    """The user's own machines, as they were added or measured; [] where none is known."""
    gpus = {gpu.gpu_id: gpu.name for gpu in reader.gpus()}
    words = [host.name for host in reader.hosts() if host.kind == "owned"]
    measured = {
        (time.gpu_count, gpus.get(time.gpu_id, time.gpu_id), time.node_count)
        for time in reader.times(origin="local")
        if time.lab is None and time.status == "ok" and time.gpu_id in gpus
    }
    for count, name, nodes in sorted(measured):
        where = f" on {nodes} nodes" if nodes > 1 else ""
        words.append(f"{count} × {name}{where} (measured by you)")
    return words


def peers_sentence(found: Iterable[Peer]) -> str:
    """What most of them have, in one sentence."""
    rows = list(found)
    typical = next(peer.told for peer in rows if peer.told.startswith("the typical "))
    newest = next(share_words(peer) for peer in rows if "H100" in peer.told)
    return f"{typical[:1].upper()}{typical[1:]}; {newest}."


def share_words(peer: Peer) -> str:
    """``41 % have no multi-node support``."""
    return f"{peer.share_percent} % {peer.told}" if peer.share_percent else peer.told
