"""Every combination of the switches is refused with a reason, or labelled, recorded, exported."""

from __future__ import annotations

import ast
import json
from dataclasses import fields, replace
from itertools import product
from pathlib import Path
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from bench_runner import export
from bench_runner.arguments import find_recipe
from bench_runner.recipes import Recipe
from bench_runner.records import journal
from bench_runner.records.measurement import Settings
from bench_runner.settings import configure, obstacles, paper_space, settings_tried
from bench_runner.settings.obstacles import parse_settings, settings_words
from tests.bench_runner.test_export import WINNER

FLASH = "flash_attention_2"
TRIED, EXPORTED = 7, 8
"""Every so manieth of the combinations is tried, and of those that may be trained exported; by hand
all were, and all came back out of a store."""


def choices(kind: object) -> tuple[object, ...]:
    """All values of a switch by its type; a switch that is added is tried without a word here."""
    if kind is bool:
        return (True, False)
    if get_origin(kind) is Literal:
        return get_args(kind)
    if kind is type(None) or int in get_args(kind):
        return (None,)
    return tuple(value for part in get_args(kind) for value in choices(part))


OF_OTHERS = ("matmul", "states")
"""What is never measured here, and stands in records of others alone."""
KINDS = {k: v for k, v in get_type_hints(Settings).items() if k not in OF_OTHERS}
EVERY = [
    Settings(**dict(zip(KINDS, values, strict=True)))
    for values in product(*map(choices, KINDS.values()))
]


def trained(recipe: Recipe, settings: Settings) -> Settings:
    """What is trained, however it is said."""
    return replace(
        settings,
        compilation=configure.compilation(recipe, settings),
        attention=configure.attention(recipe, settings, flash=FLASH),
    )


def refused(recipe: Recipe, settings: Settings, every: frozenset[Settings]) -> str | None:
    """Why, in one line; None where it may be trained."""
    try:
        assert parse_settings(settings_words(settings)) == settings
    except ValueError as error:
        return str(error)
    return obstacles.why_not(recipe, settings, every)


@pytest.mark.parametrize("name", ["pythia-160m", "roberta", "vit", "mamba"])
def test_each_is_refused_with_a_reason_or_goes_all_the_way(name: str, tmp_path: Path) -> None:
    assert len(EVERY) >= 6_144
    assert {*KINDS, *OF_OTHERS} == {field.name for field in fields(Settings)}
    recipe = find_recipe(name)
    every = obstacles.every_setting(recipe)
    labels: dict[str, Settings] = {}
    written: dict[str, Settings] = {}
    some = EVERY[len(name) % TRIED :: TRIED]
    for settings in some:
        reason = refused(recipe, settings, every)
        if reason is not None:
            assert reason.isprintable() and len(reason) > 30
            continue
        # One name for one training.
        said = labels.setdefault(paper_space.label(settings), settings)
        assert settings_tried.explicit(said) == settings_tried.explicit(settings)
        full = replace(settings, micro_batch_size=8, gradient_accumulation_steps=2)
        used = configure.attention(recipe, settings, flash=FLASH)
        about = {"about": {"attention": used, "capability": [9, 0]}}
        record = replace(
            WINNER, method=paper_space.method_name(settings), settings=full, environment=about
        )
        assert journal.from_json(json.loads(json.dumps(journal.to_json(record)))) == record
        if len(labels) % EXPORTED == 0:
            files = export.write(recipe, record, tmp_path / str(len(labels)))
            texts = {file.name: file.read_text() for file in files}
            # The script's head names the settings.
            texts["train.py"] = ast.unparse(ast.parse(texts["train.py"]).body[1:])
            mine = trained(recipe, settings)
            assert trained(recipe, written.setdefault(json.dumps(texts), settings)) == mine
    assert 10 < len(labels) < len(some) / 2
