"""The survey of academic hardware: what the paper prints, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from advisor.cli.main import main


def test_the_shares_are_those_of_the_paper(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["peers", "--format", "json", "--store", str(own_store)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["respondents"] for row in rows} == {50}
    assert {row["asked"] for row in rows} == {"2024-04"}
    shares = {row["share_percent"]: row["told"] for row in rows if row["share_percent"]}
    assert shares.keys() == {"85", "66", "41", "70", "33", "24", "10", "17", "57", "70–80"}
    assert "no multi-node support" in shares["41"]
    assert all(re.match(r"(section|figure) \d", row["where"]) for row in rows)
