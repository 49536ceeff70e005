"""JSON of others: what is said twice or has no end is refused in words for a person."""

from __future__ import annotations

import json

import pytest

from bench_runner.outside import OutsideError, json_outside

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


def test_what_is_sound_is_read_as_ever_and_what_is_no_json_stays_that() -> None:
    text = '{"a": [1, {"a": 2.5}], "b": {"a": null}}'
    assert json_outside(text) == json.loads(text)
    with pytest.raises(json.JSONDecodeError):
        json_outside('{"a": ')
