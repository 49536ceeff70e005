"""What ``advisor merge`` says of what it brought in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.cli.main import main
from bench_runner import journal
from tests.store_for_tests import record


def test_times_that_no_gpu_can_reach_are_told_of_as_they_come_in(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fast = {"training_days": 1e-4, "training_days_low": None, "training_days_high": None}
    for name, changes in (("good", [{}]), ("fast", [fast]), ("both", [{}, fast, fast])):
        lines = [
            journal.to_json(record(f"{name}-{n}")) | change for n, change in enumerate(changes)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    files = [str(tmp_path / f"{name}.jsonl") for name in ("good", "fast", "both", "fast")]
    assert main(["merge", *files, "--store", str(own_store)]) == 0
    good, fast_, both, again = capsys.readouterr().err.splitlines()
    assert good.endswith("good.jsonl: 1 new row")
    assert fast_.endswith(
        ": 1 new row, one of a time that no such GPU can reach, which no ranking uses "
        "(advisor data times)"
    )
    assert ": 3 new rows, 2 of times that no such GPU can reach" in both
    assert again.endswith("fast.jsonl: 0 new rows")
