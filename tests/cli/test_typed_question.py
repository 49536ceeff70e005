"""The same texts mean the same question, or the same error, on the command line and on screen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.main import main
from advisor.tui.program.session import RankingSession
from advisor.tui.program.state import State
from advisor.tui.program.store_reader import StoreReader

FLAGS = {"max_days": "max-days", "lifetime": "lifetime-years", "rule": "by"}
"""Where a flag has another name than the field."""
DEFAULTS = {"model": "pythia-1b", "budget": "60000"}
BUDGETS = ("40000", "40k", "$40,000", " 40000 ", "0.04m", "", "0", "-5", "40.000", "€40", "1e400")
TEXTS: list[dict[str, str]] = [
    *({"budget": text} for text in BUDGETS),
    *({"max_days": text} for text in ("40", "0", "soon", "-3", "40 000")),
    *({"lifetime": text} for text in ("5", "2.5", "", "nan", "0")),
    *({"model": text} for text in ("Pythia-1B", " pythia-1b ", "RoBERTa 350M", "pythai", "", " ")),
    *({"model": text} for text in ("my.toml", "a/b", "a\nb\x1b[2J")),
    *({"gpus": text} for text in ("RTX", "RTX,H100", "rtx3090", "3090", "NVIDIA A100-SXM4-80GB")),
    *({"gpus": text} for text in ("h100, rtx 3090,", "H1000", "RTX,FOO", "\x1b[2J", "a100")),
    *({"rule": text} for text in ("days", "cost", "experiment-cost")),
    *({"gpus": text} for text in ("RTX 3090; H100", "rtx 3090;h100,", ";")),
    *({"prices": text} for text in ("paper", "latest", "2010-01-01", "2999-01-01")),
    *({"evidence": text} for text in ("sound", "published")),
    {"budget": "minus", "model": "pythai", "gpus": "FOO"},
    {"model": "pythai", "max_days": "soon"},
]


def asked_by_command(store: Path, texts: dict[str, str], capsys: Any) -> dict[str, Any] | str:
    """What `advisor rank` understood, or the line with which it refuses."""
    flags = [f"--{FLAGS.get(name, name)}={text}" for name, text in texts.items()]
    code = main(["rank", "--store", str(store), "--format", "json", *flags])
    printed = capsys.readouterr()
    if code == 2:
        return str(printed.err).removeprefix("advisor: ").rstrip("\n")
    answer = json.loads(printed.out)
    kept = ("model", "budget_usd", "max_days", "rule", "lifetime_years", "prices", "evidence")
    gpus = {row["gpu"] for row in [*answer["ranked"], *answer["excluded"]]}
    return {name: answer[name] for name in kept} | {"gpus": gpus}


def asked_by_program(store: Path, texts: dict[str, str]) -> dict[str, Any] | str:
    """What the terminal program understood, or the line that it shows."""
    session = RankingSession(State(**texts))  # type: ignore[arg-type]
    session.accept(StoreReader(store).read(session.inputs))
    assert not session.ask()
    if session.errors:
        assert session.answer is None
        return next(iter(session.errors.values()))
    assert session.asked is not None and session.answer is not None
    question, candidates = session.asked.question, session.answer.view.candidates
    assert question.budget_usd is not None
    return {
        "model": candidates.model.recipe_id,
        "budget_usd": float(question.budget_usd),
        "max_days": question.max_days,
        "rule": question.rule,
        "lifetime_years": float(question.terms.lifetime_years),
        "prices": session.asked.key.prices,
        "evidence": candidates.evidence,
        "gpus": {build.gpu.name for build in candidates.builds},
    }


@pytest.mark.parametrize("texts", TEXTS, ids=str)
def test_both_understand_the_same_or_refuse_with_the_same_line(
    texts: dict[str, str], store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = asked_by_command(store_path, DEFAULTS | texts, capsys)
    shown = asked_by_program(store_path, DEFAULTS | texts)
    if isinstance(shown, str):
        shown = " ".join(shown.split())  # what a command says is one line
    assert asked == shown
    assert asked


def test_words_of_a_gpu_s_name_mean_every_gpu_that_has_it(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = asked_by_command(store_path, DEFAULTS | {"gpus": "RTX 3090"}, capsys)
    many = asked_by_command(store_path, DEFAULTS | {"gpus": "PRO 6000"}, capsys)
    assert isinstance(one, dict) and one["gpus"] == {"RTX 3090"}
    assert isinstance(many, dict) and len(many["gpus"]) >= 2
    assert all(" PRO 6000 " in name for name in many["gpus"])
    for part in ("H20", "MI25", "RTX 309"):  # of a word there is no such GPU: H200, MI250
        refused = asked_by_command(store_path, DEFAULTS | {"gpus": part}, capsys)
        assert str(refused).startswith(f"no GPU is called '{part}'")


def test_only_who_is_still_typing_gets_the_first_model_that_fits(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = asked_by_command(store_path, DEFAULTS | {"model": "pythia"}, capsys)
    assert isinstance(refused, str) and refused.startswith("no model is called 'pythia'")
    shown = asked_by_program(store_path, DEFAULTS | {"model": "pythia"})
    assert isinstance(shown, dict) and shown["model"] == "pythia-14m"


@pytest.mark.parametrize("typed", ["1b", "1B", " 1.7b ", "7b", "350m"])
def test_a_size_alone_takes_no_model(typed: str, store_path: Path) -> None:
    """An answer for 1.7B would be read as one for 7B, and one for Gemma 3 as one for Pythia."""
    asked = asked_by_program(store_path, DEFAULTS | {"model": typed})
    assert "is a size and no model" in str(asked)


def test_a_name_that_is_a_size_and_a_word_takes_the_first_that_has_both(store_path: Path) -> None:
    asked = asked_by_program(store_path, DEFAULTS | {"model": "pythia 1b"})
    assert isinstance(asked, dict) and asked["model"] == "pythia-1b"


@pytest.mark.parametrize("empty", ["", " ", " , "])
def test_an_empty_filter_means_all_on_screen_and_is_refused_in_a_script(
    empty: str, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = asked_by_command(store_path, DEFAULTS | {"gpus": empty}, capsys)
    assert isinstance(refused, str) and refused.startswith("no GPU is named")
    every = asked_by_command(store_path, DEFAULTS, capsys)
    assert asked_by_program(store_path, DEFAULTS | {"gpus": empty}) == every


def test_an_empty_time_limit_means_none_on_screen_and_is_refused_in_a_script(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = asked_by_command(store_path, DEFAULTS | {"max_days": ""}, capsys)
    assert isinstance(refused, str) and refused.startswith("the time limit is empty: write")
    assert asked_by_program(store_path, DEFAULTS | {"max_days": " "}) == asked_by_command(
        store_path, DEFAULTS, capsys
    )


@pytest.mark.parametrize("texts", [{"rule": "price"}, {"evidence": "all"}, {"prices": "newest"}])
def test_what_can_only_be_chosen_on_screen_is_checked_all_the_same(
    texts: dict[str, str], store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = asked_by_command(store_path, DEFAULTS | texts, capsys)
    assert isinstance(refused, str) and "write" in refused
    assert asked_by_program(store_path, DEFAULTS | texts) == refused
