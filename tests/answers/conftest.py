"""What the answers are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.ranking.candidates import Candidates
from advisor.ranking.question import CandidatesKey
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store


@pytest.fixture(scope="session")
def pythia(store_path: Path) -> Candidates:
    """Every build for Pythia 1B at the latest prices."""
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        return make_candidates(reader, snapshot, CandidatesKey("pythia-1b", "latest", "sound"))
