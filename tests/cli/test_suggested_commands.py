"""What a person reads first, and what a suggested command does when it is copied as it stands."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.costs.price_book import add_command
from price_catalog.currencies import exchange_rates

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


@pytest.mark.parametrize(
    "typed",
    ["180 000,00", "180.000,00", "180'000.-", "$180.000,00", "180000,00"],
)
def test_an_amount_as_it_is_written_in_europe_is_a_budget(
    typed: str, store_path: Path, capsys: Capture
) -> None:
    words = ("rank", "--model", "pythia-1b", "--store", str(store_path), "--format", "json")
    code, out, _ = told(capsys, *words, "--budget", typed)
    assert code == 0
    _, plain, _ = told(capsys, *words, "--budget", "180000")
    assert json.loads(out)["budget_usd"] == json.loads(plain)["budget_usd"]


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


def test_a_budget_in_another_currency_is_converted_and_its_rate_told(
    store_path: Path, capsys: Capture
) -> None:
    at = ("rank", "--model", "pythia-1b", "--store", str(store_path))
    answer = json.loads(told(capsys, *at, "--budget", "€100k", "--format", "json")[1])
    rate = exchange_rates()["EUR"]
    assert answer["budget_usd"] == float(100_000 * rate.usd_per_unit)
    assert answer["budget_typed"]["amount"] == 100_000
    assert answer["budget_typed"]["on"] == f"{rate.on}"
    plain = told(capsys, *at, "--budget", f"{answer['budget_usd']}", "--format", "json")[1]
    assert [row["rank"] for row in answer["ranked"]] == [
        row["rank"] for row in json.loads(plain)["ranked"]
    ]
    assert json.loads(plain)["budget_typed"] is None
    code, out, _ = told(capsys, *at, "--budget", "100kEUR")
    said = " ".join(out.split())
    assert code == 0
    assert (
        f"€100,000 are $114,030 at EUR 1 = ${rate.usd_per_unit} on 25 September 2026 (ECB" in said
    )
    again = re.search(r"in US dollars (advisor rank .*?--budget 114030) ", said)
    assert again is not None
    code, out, _ = told(capsys, *at, "--budget", "£2k", "--max-days", "30")
    said = " ".join(out.split())
    assert code == 1
    assert said.startswith("Nothing trains Pythia 1B for £2,000 ($2,713) within 30 days. ")
    assert "£2,000 are $2,713 at GBP 1 = " in said
    # The same in the details, and nothing of it for US dollars.
    assert "€100,000 ($114,030)" in told(capsys, *at, "--budget", "€100k", "--details")[1]
    assert "EUR" not in told(capsys, *at, "--budget", "40k")[1]
