"""What a person reads first, and what a suggested command does when it is copied as it stands."""

from __future__ import annotations

import json
import re
import shlex
from datetime import date
from pathlib import Path

import duckdb
import pytest

from advisor.cli.main import main
from advisor.costs.price_book import add_command
from price_catalog.currencies import exchange_rates

Capture = pytest.CaptureFixture[str]


def told(capsys: Capture, *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def test_a_gpu_without_a_near_name_is_told_how_to_see_the_names(
    store_path: Path, capsys: Capture
) -> None:
    at = ("--model", "pythia-1b", "--store", str(store_path))
    for words in (("rank", *at, "--gpus", "XYZ9"), ("predict", *at, "--gpu", "XYZ9")):
        code, out, err = told(capsys, *words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.rstrip().endswith("none is near: advisor data gpus lists them")
    code, out, err = told(capsys, "prices", "list", "--item", "XYZ9", *at[2:])
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.rstrip().endswith("none is near: advisor prices list lists them")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("predict", "--gpu", "RTX", "6000", "Ada", "--count", "2"), "--gpu 'RTX 6000 Ada'"),
        (("rank", "--gpus", "RTX", "5090,", "H100"), "--gpus 'RTX 5090, H100'"),
        (("prices", "rent", "--gpu", "RTX", "4090", "--count", "2"), "--gpu 'RTX 4090'"),
    ],
)
def test_a_gpu_typed_without_quotes_is_told_with_them(
    words: tuple[str, ...], meant: str, store_path: Path, capsys: Capture
) -> None:
    at = ("--model", "pythia-1b", "--store", str(store_path))
    code, out, err = told(capsys, *words, *at)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f": what has blanks needs quotes, as in {meant} (see: " in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rank", "my-llama"), "unrecognized arguments: my-llama: write it as --model my-llama"),
        (("bench", "my-llama"), "unrecognized arguments: my-llama: write it as --model my-llama"),
        (("rank", "--models", "x"), "unrecognized arguments: --models x: did you mean '--model'"),
        (("rank", "--budget", "40k"), "missing: --model"),
    ],
)
def test_a_model_that_was_typed_otherwise_is_not_only_said_to_be_missing(
    words: tuple[str, ...], said: str, capsys: Capture
) -> None:
    code, out, err = told(capsys, *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"advisor: {said}") and err.endswith(f"advisor {words[0]} --help)\n")


def test_prices_alone_names_its_commands(capsys: Capture) -> None:
    code, out, err = told(capsys, "prices")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("advisor: a command is missing: list, ")
    assert ", rent, " in err


def test_a_family_without_a_size_is_told_how_to_give_one(store_path: Path, capsys: Capture) -> None:
    words = ("predict", "--model", "decoder", "--gpu", "H100", "--store", str(store_path))
    code, out, err = told(capsys, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "'decoder' says no size: add --parameters" in err


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


def test_a_rented_run_over_the_budget_is_said_to_be_so(store_path: Path, capsys: Capture) -> None:
    for budget, over in (("500", True), ("8000", False)):
        at = ("--model", "pythia-1b", "--budget", budget, "--gpus", "RTX 5090")
        out = told(capsys, "rank", *at, "--max-days", "140", "--store", str(store_path))[1]
        rent = next(line for line in out.splitlines() if "  rent " in line)
        assert (": over the budget too" in out.replace("\n          ", " ")) is over, rent


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


def test_owning_what_is_there_costs_nothing_in_a_table_that_says_so(
    own_store: Path, capsys: Capture
) -> None:
    at = ("--store", str(own_store))
    assert told(capsys, "prices", "own", "2 x A6000", *at)[0] == 0
    asked = ("--model", "pythia-1b", "--gpu", "A6000", "--count", "2")
    out = told(capsys, "prices", "cost", *asked, *at)[1]
    assert out.startswith("Owning your 2 × A6000 costs $0 over 5 years")
    assert re.search(r"^whole +\$0 +\$0 +≈?\$0$", out, re.MULTILINE)


def test_a_rent_of_what_nobody_sells_has_its_day_and_how_many_ask_it(
    store_path: Path, capsys: Capture
) -> None:
    words = ("prices", "rent", "--model", "pythia-1b", "--gpu", "h200", "--count", "1")
    out = " ".join(told(capsys, *words, "--store", str(store_path))[1].split())
    first = out.partition(" an hour others ask")[0]
    assert re.search(r"rented on demand costs \$[\d,]+: [\d.]+ days", first)
    assert re.search(r"an hour \(\w+ 20\d\d, the middle of \d+ prices\); none is sold", first)


def test_faster_than_its_number_of_gpus_says_stands_beneath_the_table(
    store_path: Path, capsys: Capture
) -> None:
    at = ("--model", "pythia-2.8b", "--gpus", "RTX 6000 Ada", "--store", str(store_path))
    rows = json.loads(told(capsys, "rank", *at, "--format", "json")[1])["ranked"]
    out = " ".join(told(capsys, "rank", *at)[1].split())
    assert any(row["faster_than_linear_of"] == 2 and row["gpu_count"] == 4 for row in rows)
    note = "are more than 2 times as fast as 2 of them, which need other settings."
    assert f"4 × RTX 6000 Ada {note}" in out


def test_a_seller_is_named_where_the_machine_only_sounds_like_it(
    store_path: Path, capsys: Capture
) -> None:
    words = ("rank", "--model", "pythia-1b", "--gpus", "RTX 5090", "--prices", "2025-06-01")
    out = " ".join(told(capsys, *words, "--budget", "40k", "--store", str(store_path))[1].split())
    assert "in the tinybox green v2 from tiny corp for $" in out
    words = ("rank", "--model", "pythia-1b", "--gpus", "RTX 5090", "--budget", "12k")
    out = told(capsys, *words, "--store", str(store_path))[1]
    assert "in the Puget workstation for $" in " ".join(out.split())


def test_a_rival_has_the_price_of_the_machine_that_a_ranking_names(
    store_path: Path, capsys: Capture
) -> None:
    at = ("--model", "pythia-1b", "--budget", "40k", "--store", str(store_path))
    answer = json.loads(told(capsys, "rank", *at, "--format", "json")[1])
    found = re.search(r"(\d) × ([\w ]+) \(\$([\d,]+)\)", answer["verdict"]["sentence"])
    assert found is not None
    named = next(
        row
        for row in answer["ranked"]
        if row["gpu_count"] == int(found[1]) and row["gpu"].startswith(found[2])
    )
    price = float(f"{float(named['overall_cost_usd']):.3g}")
    assert f"{price:,.0f}" == found[3]


@pytest.mark.parametrize(
    ("words", "mended"),
    [
        (["prices", "add", "RTX 5090", "--price", "5000"], "--item 'RTX 5090'"),
        (["prices", "add", "RTX", "5090"], "--item 'RTX 5090'"),
        (["prices", "list", "H100"], "--item H100"),
        (["predict", "pythia-1b", "--gpu", "H100"], "--model pythia-1b"),
        (["rank", "--model", "pythia-1b", "40k"], "--budget 40k"),
    ],
)
def test_a_word_without_its_flag_is_told_the_flag(
    words: list[str], mended: str, store_path: Path, capsys: Capture
) -> None:
    code, out, err = told(capsys, *words, "--store", str(store_path))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f": write it as {mended} (see: advisor " in err
    code, out, err = told(
        capsys, "rank", "--model", "pythia-1b", "--budget", "40", "000", "--store", str(store_path)
    )
    assert "what has blanks needs quotes, as in --budget '40 000'" in err


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


@pytest.mark.parametrize(
    ("flag", "where"),
    [
        ("--rent", "advisor prices rent compares buying with renting"),
        ("--hours=3", "advisor prices rent compares buying with renting"),
        ("--runs=5", "advisor plan answers for several runs"),
        ("--currency=EUR", "write it behind the amount, as in --budget 40kEUR"),
        ("--days=5", "did you mean '--max-days'?"),
    ],
)
def test_what_a_ranking_does_not_answer_is_told_where_it_is_answered(
    flag: str, where: str, store_path: Path, capsys: Capture
) -> None:
    words = ("rank", "--model", "pythia-1b", flag, "--store", str(store_path))
    code, out, err = told(capsys, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f": {where}" in err


def test_a_quoted_machine_before_a_sum_of_fewer_days_says_why(
    store_path: Path, capsys: Capture
) -> None:
    at = ("rank", "--model", "pythia-1b", "--store", str(store_path))
    code, out, _ = told(capsys, *at, "--budget", "60k")
    rows = json.loads(told(capsys, *at, "--budget", "60k", "--format", "json")[1])["ranked"]
    assert code == 0
    assert rows[0]["training_days"] > rows[1]["training_days"]
    assert out.startswith("Buy 2 × RTX PRO 6000 in the tinybox G4 128 GB ")
    said = " ".join(out.split())
    assert " 4 × RTX 5090 may be faster. " in said
    assert "1 comes first: " in said
    assert "comes first" not in told(capsys, *at, "--budget", "400k")[1]


def test_a_prediction_calls_a_card_what_the_ranking_calls_it(
    store_path: Path, capsys: Capture
) -> None:
    asked = ("predict", "--model", "pythia-1b", "--gpu", "rtx-pro-6000-blackwell-maxq")
    code, out, _ = told(capsys, *asked, "--store", str(store_path))
    assert code == 0
    assert out.startswith("Pythia 1B trains on 1 × RTX PRO 6000 Max-Q in ≈")
    assert "Blackwell" not in out
    code, out, _ = told(capsys, *asked, "--format", "json", "--store", str(store_path))
    assert json.loads(out)["gpu"] == "RTX PRO 6000 Blackwell Max-Q"


def test_gpus_without_bf16_cores_are_told_with_what_to_type(
    own_store: Path, capsys: Capture
) -> None:
    at = ("--store", str(own_store))
    code, out, err = told(capsys, "rank", "--model", "pythia-1b", "--gpus", "T4", *at)
    assert (code, err) == (1, "")
    assert "it trains in bf16" in out
    asked = ("rank", "--model", "pythia-1b", "--gpus", "T4", "--format", "json", *at)
    doubts = json.loads(told(capsys, *asked)[1])["verdict"]["doubts"]
    keep, others = (shlex.split(doubt["command"])[1:] for doubt in doubts)
    assert "fp16" in keep and "--gpus" not in others
    assert told(capsys, *keep)[0] == 0
    assert told(capsys, *others)[0] == 0
    kept = told(capsys, "rank", "--model", "pythia-1b-fp16", "--gpus", "V100", *at)
    assert kept[0] == 0 and "pythia-1b-fp16 in ≈" in " ".join(kept[1].split())


def test_a_kept_model_that_is_counted_no_longer_is_ranked_with_the_reason(
    own_store: Path, capsys: Capture
) -> None:
    at = ("--store", str(own_store))
    assert told(capsys, "predict", "--model", "pythia-70m", "--keep", "mine", *at)[0] == 0
    with duckdb.connect(str(own_store)) as connection:
        connection.execute(
            "UPDATE recipe SET definition = replace(definition, 'GPTNeoX', 'NoGPTNeoX')"
            " WHERE origin = 'local'"
        )
        connection.execute("DELETE FROM prediction WHERE recipe_id = 'mine'")  # as an update does
    code, out, _ = told(capsys, "rank", "--model", "mine", "--budget", "40k", *at)
    assert code == 1
    assert out.startswith("No machine can be ranked for mine: ")
    assert "advisor predict --model FILE --keep mine --force" in out
    answer = json.loads(told(capsys, "rank", "--model", "mine", "--format", "json", *at)[1])
    assert "your model mine is counted no longer: " in json.dumps(answer["excluded"])
