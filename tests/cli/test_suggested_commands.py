"""What a person reads first, and what a suggested command does when it is copied as it stands."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.costs.price_book import add_command

Capture = pytest.CaptureFixture[str]


def told(capsys: Capture, *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("name", "size"),
    [("llama-7b", "7B"), ("Qwen1.5-1.8B", "1.8B"), ("mixtral-8x7b", None), ("bert-large-2", None)],
)
def test_a_model_that_is_not_known_is_offered_by_the_size_that_its_name_says(
    name: str, size: str | None, own_store: Path, capsys: Capture
) -> None:
    at = ("--store", str(own_store))
    code, _, err = told(capsys, "predict", "--model", name, "--gpu", "H100", *at)
    assert (code, err.count("\n")) == (2, 1)
    assert ("give the size: --model decoder --parameters" in err) is (size is not None)
    code, _, err = told(capsys, "rank", "--model", name, *at)
    assert (code, err.count("\n")) == (2, 1)
    command = err.partition("A plain decoder of its size: advisor ")[2].split()
    assert bool(command) is (size is not None)
    if size is not None:
        assert size in command
        assert told(capsys, *command, *at)[0] == 0
        assert told(capsys, "rank", "--model", command[-1], *at)[0] == 0


def test_a_suggested_price_is_never_kept_as_it_stands(store_path: Path, capsys: Capture) -> None:
    command = add_command("rtx-3090", date.today())
    assert not re.search(r"--price \S*\d", command)
    words = command.split()[1:]
    at = ("--store", str(store_path))
    code, out, err = told(capsys, *words, *at)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "PRICE stands for what only the seller says" in err
    words[words.index("PRICE")] = "900"
    code, _, err = told(capsys, *words, *at)
    assert code == 2
    assert "VENDOR stands for what only the seller says" in err
    assert told(capsys, "prices", "list", "--own", "--format", "json", *at)[1].strip() == "[]"


def test_what_owning_costs_is_of_the_machine_that_a_ranking_names(
    store_path: Path, capsys: Capture
) -> None:
    at = ("--model", "pythia-1b", "--store", str(store_path), "--format", "json")
    ranked = json.loads(told(capsys, "rank", "--by", "cost", *at)[1])["ranked"]
    first: dict[tuple[str, int], str] = {}
    for row in ranked:
        if row["machines"] == 1 and row["power_limit_w"] is None:
            name = row["host"].partition(",")[0]
            first.setdefault((row["gpu"], row["gpu_count"]), name)
    for gpu, count in (("RTX 5090", 2), ("RTX 6000 Ada", 2), ("RTX 5090", 4)):
        words = ("prices", "cost", "--gpu", gpu, "--count", str(count), *at)
        answer = json.loads(told(capsys, *words)[1])
        assert first[gpu, count] in json.dumps(answer["build"])
