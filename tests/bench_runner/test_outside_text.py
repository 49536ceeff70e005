"""JSON of others: what is said twice or has no end is refused in words for a person."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.prediction.model.own_model import from_text
from advisor.tui.program.state import State, load_state
from bench_runner.records.journal import records_in_output
from bench_runner.untrusted_text import OutsideError, json_outside

LONG = "9" * 5000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1, "b": 2, "a": 1}', "names 'a' twice in one object: leave one of them"),
        ('[{"a": {"\\u001b[2J": 1, "\\u001b[2J": 2}}]', r"names '\x1b[2J' twice"),
        ('{"' + "k" * 100 + '": 1, "' + "k" * 100 + '": 2}', f"names '{'k' * 59}"),
        (f'{{"a": {LONG}}}', "holds a number of thousands of digits: correct it"),
    ],
)
def test_json_that_says_something_twice_or_without_end(text: str, said: str) -> None:
    with pytest.raises(OutsideError) as refused:
        json_outside(text)
    assert said in str(refused.value) and len(str(refused.value)) < 150


def test_an_event_or_a_setting_that_names_something_twice_is_refused(tmp_path: Path) -> None:
    said = '{"event": "search-finished", "best": null, "best": {"measurement_id": "m"}}\n'
    (tmp_path / "job.log").write_text(said)
    with pytest.raises(ValueError, match=r"job\.log: holds no record"):
        records_in_output(tmp_path / "job.log")
    (tmp_path / "state.json").write_text('{"budget": "1", "budget": "2"}')
    state, note = load_state(tmp_path / "state.json")
    assert state == State() and note is not None and "names 'budget' twice" in note
    with pytest.raises(ValueError, match="the definition names 'id' twice"):
        from_text('{"id": "a", "id": "b"}')
