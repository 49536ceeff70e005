"""Machines that a vendor quoted to the user: entered, ranked, corrected, deleted; wrong input."""

from __future__ import annotations

import json
from datetime import date
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli.main import main
from advisor.costs.own_machines import (
    MACHINE_COLUMNS,
    QUOTE_COLUMNS,
    OwnMachine,
    machine_cells,
    read_machine,
)
from advisor.costs.own_quotes import Items, quote_cells
from advisor.store import Store
from price_catalog.builds import enumerate_builds
from price_catalog.load import load_catalog
from price_catalog.power import LEAST_EFFICIENCY, is_estimated, power_figures, wall_w
from tests import commands_for_tests
from tests.store_for_tests import look

TODAY = date(2026, 11, 21)
CATALOG = load_catalog()
ITEMS = Items(CATALOG.gpus, CATALOG.hosts)
WHOLE = {
    "machine": "Lab quote 8 x H200",
    "gpu": "H200",
    "count": "8",
    "price": "285,000",
    "vendor": "shop",
    "date": "2026-11-01",
}
EMPTY = {
    "machine": "Box for four",
    "fits": "RTX 6000 Ada, A6000",
    "count": "4",
    "price": "12000",
    "vendor": "shop",
    "date": "2026-11-01",
}
FLAGS = ["--price", "285000", "--vendor", "shop", "--date", "2026-11-01"]
MACHINE = ["--machine", "Lab quote", "--gpu", "H200", "--count", "8"]

refused = partial(commands_for_tests.refused, most=400)


def made(base: dict[str, str] = WHOLE, **cells: str) -> OwnMachine:
    machine = read_machine(base | cells, ITEMS, today=TODAY)
    assert isinstance(machine, OwnMachine), [str(problem) for problem in machine]
    return machine


def test_a_whole_machine_as_typed() -> None:
    host, quote = made(
        watts="10200", rack_units="8", host_memory="2TiB", links="NVLink", noise="75", weight="130",
        includes="2 x EPYC 9454, 3 years on site",
    )  # fmt: skip
    assert quote.includes == "2 x EPYC 9454, 3 years on site"
    assert (host.gpu_id, host.max_gpus, host.kind) == ("h200-sxm-141gb", 8, "server")
    assert (host.wall_w, host.rack_units, host.memory_gib) == (10200, 8, 2048)
    assert (host.gpu_link, host.noise_dba, host.weight_kg) == ("NVLink", 75, 130)
    assert (quote.item_kind, quote.item_id, quote.price_usd) == ("server", host.host_id, 285_000)
    assert (quote.kind, quote.origin, host.origin) == ("reseller-quote", "local", "local")
    (build,) = enumerate_builds(CATALOG.gpus, [host])
    assert (wall_w(build), power_figures(build).basis, build.obstacle) == (10200, "stated", None)


def test_watts_of_a_machine_without_gpus_are_all_that_is_not_cards() -> None:
    host = made(EMPTY, watts="500").host
    build = next(b for b in enumerate_builds(CATALOG.gpus, [host]) if b.gpu.name == "A6000")
    assert wall_w(build) == pytest.approx(500 + 4 * 300 / LEAST_EFFICIENCY)
    assert power_figures(build).basis == "supply"
    assert is_estimated(build)


def test_a_machine_without_gpus_takes_the_cards_that_are_named_and_no_other() -> None:
    host, quote = made(EMPTY, rack_units="0", watts="700")
    assert (quote.item_kind, host.kind, host.base_w) == ("host", "desktop", 700)
    fits = {
        (build.gpu.name, build.gpu_count)
        for build in enumerate_builds(CATALOG.gpus, [host])
        if build.obstacle is None and not build.unknown
    }
    assert fits == {("RTX 6000 Ada", 4), ("A6000", 4)}


@pytest.mark.parametrize("base", [WHOLE, EMPTY])
def test_what_was_typed_comes_back_as_it_was(base: dict[str, str]) -> None:
    first = made(base, host_memory="512GB", rack_units="4.5", watts="9999.5", delivery="6 weeks")
    cells = machine_cells(first.host, CATALOG.gpus) | quote_cells(first.quote, {})
    assert made(base, **{k: v for k, v in cells.items() if k != "corrects"}) == first


WRONG = [
    ({"machine": ""}, "machine", "is empty"),
    ({"machine": "x" * 81}, "machine", "81 characters"),
    ({"machine": "a\x1b[31mb"}, "machine", "control characters"),
    ({"machine": "dgx  h100"}, "machine", "there already"),
    ({"machine": "H200"}, "machine", "there already"),
    ({"machine": "server-4gpu"}, "machine", "there already"),
    ({"gpu": "H201"}, "gpu", "did you mean"),
    ({"gpu": ""}, "gpu", "name the GPU that it comes with"),
    ({"fits": "A6000"}, "fits", "leave out"),
    ({"gpu": "", "fits": "H200"}, "fits", "is no card"),
    ({"gpu": "", "fits": "A6000, X"}, "fits", "not known"),
    ({"gpu": "", "fits": " , "}, "gpu", "name the GPU"),
    ({"count": ""}, "count", "is empty"),
    ({"count": "0"}, "count", "not a number of GPUs"),
    ({"count": "65"}, "count", "1 to 64"),
    ({"count": "-8"}, "count", "not a number of GPUs"),
    ({"count": "8.5"}, "count", "not a number of GPUs"),
    ({"count": "٨"}, "count", "not a number of GPUs"),
    ({"price": "12"}, "price", "not a price of one server"),
    ({"kind": "gift"}, "kind", "not known"),
    ({"watts": "5599"}, "watts", "less than its 8 GPUs draw, 5,600 W"),
    ({"watts": "nan"}, "watts", "not a number of W"),
    ({"watts": "1e9"}, "watts", "not a number of W"),
    ({"watts": "10.200"}, "watts", "could mean 10.2 or 10,200"),
    ({"watts": "10200 V"}, "watts", "not a number of W"),
    ({"rack_units": "61"}, "rack_units", "rack units"),
    ({"rack_units": "-1"}, "rack_units", "rack units"),
    ({"host_memory": "1 EB"}, "host_memory", "not a number of GiB of memory"),
    ({"host_memory": "0"}, "host_memory", "not a number of GiB of memory"),
    ({"host_memory": "999999TB"}, "host_memory", "not a number of GiB of memory"),
    ({"links": "x" * 201}, "links", "201 characters"),
    ({"noise": "5"}, "noise", "dB(A)"),
    ({"weight": "0"}, "weight", "kg"),
]


@pytest.mark.parametrize(("cells", "column", "words"), WRONG)
def test_wrong_input_is_told_by_field(cells: dict[str, str], column: str, words: str) -> None:
    problems = read_machine(WHOLE | cells, ITEMS, today=TODAY)
    assert isinstance(problems, list)
    messages = {problem.column: problem.message for problem in problems}
    assert set(messages) == {column}
    assert words in messages[column]
    assert "\n" not in messages[column]


@given(
    st.fixed_dictionaries(
        {name: st.text(max_size=12) for name in ("machine", "gpu", "count", "price", "date")},
        optional={
            name: st.text(max_size=12)
            for name in (*MACHINE_COLUMNS, *QUOTE_COLUMNS)
            if name not in ("machine", "gpu", "count", "price", "date")
        },
    )
)
def test_any_text_is_a_sound_machine_or_refused_in_printable_lines(cells: dict[str, str]) -> None:
    read = read_machine(cells, ITEMS, today=TODAY)
    if isinstance(read, OwnMachine):
        assert read.host.name.isprintable()
        assert 1 <= read.host.max_gpus <= 64
        assert read.quote.price_usd >= 100
    else:
        assert read
        assert all(str(problem).isprintable() for problem in read)


def test_one_command_and_it_ranks_is_marked_corrected_and_deleted(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(own_store)]
    rank = ["rank", *store, "--model", "pythia-6.9b", "--budget", "300k"]
    assert main(["prices", "add", *store, *MACHINE, *FLAGS, "--watts", "10200"]) == 0
    assert capsys.readouterr().err == "kept: Lab quote, $285,000.00, shop, 2026-11-01\n"
    assert main([*rank, "--format", "json"]) == 0
    (own,) = [row for row in json.loads(capsys.readouterr().out)["ranked"] if row["own_machine"]]
    assert (own["host"], own["overall_cost_usd"], own["own_price"]) == ("Lab quote", 285_000, True)
    cost = ["prices", "cost", *store, "--model", "pythia-6.9b", "--gpu", "H200", "--count", "8"]
    assert main([*cost, "--machine", "lab quote"]) == 0
    assert "Owning 8 × H200 (own quote) in Lab quote costs" in capsys.readouterr().out
    assert "Exxact" in refused(capsys, *cost, "--machine", "Exxact 8 x H200")

    assert main([*rank[:-1], "200k", "--format", "json"]) in (0, 1)
    left = [row for row in json.loads(capsys.readouterr().out)["excluded"] if row["own_machine"]]
    assert [(row["host"], row["reason"]) for row in left] == [("Lab quote", "over-budget")]

    correct = ["prices", "correct", *store, "--machine", "lab QUOTE"]
    assert "nothing to correct" in refused(capsys, *correct)
    assert main([*correct, "--price", "240k", "--date", "2026-11-20", "--host-memory", "1TiB"]) == 0
    capsys.readouterr()
    (host,) = [host for host in look(Store(own_store)).hosts() if host.is_own_quote]
    assert (host.name, host.memory_gib, host.wall_w) == ("Lab quote", 1024, 10200)
    assert main([*rank, "--format", "json"]) == 0
    (own,) = [row for row in json.loads(capsys.readouterr().out)["ranked"] if row["own_machine"]]
    assert own["overall_cost_usd"] == 240_000

    assert main(["prices", "delete", *store, "--machine", "Lab quote"]) == 0
    reader = look(Store(own_store))
    assert not any(host.origin == "local" for host in reader.hosts())
    assert not any(quote.origin == "local" for quote in reader.quotes())


def test_a_machine_stays_with_its_gpus_or_without(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(own_store)]
    assert main(["prices", "add", *store, *MACHINE, *FLAGS]) == 0
    capsys.readouterr()
    changed = ["--machine", "Lab quote", "--gpu", "", "--fits", "A6000"]
    said = refused(capsys, "prices", "correct", *store, *changed)
    assert 'advisor prices delete --machine "Lab quote"' in said


def test_a_machine_is_renamed_and_its_old_name_is_free_again(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(own_store)]
    assert main(["prices", "add", *store, *MACHINE, *FLAGS]) == 0
    correct = ["prices", "correct", *store, "--machine", "Lab quote"]
    capsys.readouterr()
    assert "--rename is empty" in refused(capsys, *correct, "--rename", "")
    assert "--rename: 'DGX H100' is there already" in refused(
        capsys, *correct, "--rename", "DGX H100"
    )
    assert "--rename is said of a machine" in refused(
        capsys, "prices", "correct", *store, "--quote", "paper-table5:a100", "--rename", "x"
    )
    assert main([*correct, "--rename", "Second quote"]) == 0
    assert "corrected: Second quote, $285,000.00" in capsys.readouterr().err
    assert main(["prices", "add", *store, *MACHINE, *FLAGS[2:], "--price", "250000"]) == 0
    reader = look(Store(own_store))
    own = {host.name: host.host_id for host in reader.hosts() if host.is_own_quote}
    asked = {q.item_id: q.price_usd for q in reader.quotes() if q.origin == "local"}
    assert {name: asked[host_id] for name, host_id in own.items()} == {
        "Second quote": 285_000,
        "Lab quote": 250_000,
    }


def test_only_the_facts_are_corrected_where_no_price_is_named(own_store: Path) -> None:
    store = ["--store", str(own_store)]
    assert main(["prices", "add", *store, *MACHINE, *FLAGS]) == 0
    assert main(["prices", "correct", *store, "--machine", "Lab quote", "--rack-units", "8"]) == 0
    assert sum(quote.origin == "local" for quote in look(Store(own_store)).quotes()) == 1
    assert main(["prices", "correct", *store, "--machine", "Lab quote", "--rack-units", ""]) == 0
    (host,) = [host for host in look(Store(own_store)).hosts() if host.is_own_quote]
    assert host.rack_units is None


def test_a_machine_of_a_size_that_no_shipped_one_has_is_ranked_while_it_is_there(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, name = ["--store", str(own_store)], "six cards"
    machine = ["--machine", name, "--fits", "A6000", "--count", "6", *FLAGS[2:], "--price", "60000"]
    assert main(["prices", "add", *store, *machine]) == 0
    capsys.readouterr()
    rank = ["rank", *store, "--model", "pythia-1b", "--gpus", "A6000", "--format", "json"]
    assert main(rank) == 0
    six = [r for r in json.loads(capsys.readouterr().out)["ranked"] if r["gpu_count"] == 6]
    assert [(row["host"], row["basis"]) for row in six] == [(name, "predicted")]
    assert main(["prices", "delete", *store, "--machine", name]) == 0
    capsys.readouterr()
    with Store(own_store).reading() as reader:
        assert not any(time.gpu_count == 6 for time in reader.predictions())


def test_a_quote_is_corrected_and_deleted(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(own_store)]
    quote = ["--item", "RTX 3090", "--price", "905", "--vendor", "v", "--date", "2026-11-01"]
    assert main(["prices", "add", *store, *quote, "--kind", "used"]) == 0
    quote_id = capsys.readouterr().err.split(": ")[0]
    assert main(["prices", "correct", *store, "--quote", quote_id, "--price", "899"]) == 0
    newer = capsys.readouterr().out.split(": ")[0]
    by_id = {quote.quote_id: quote for quote in look(Store(own_store)).quotes()}
    assert (by_id[newer].corrects, by_id[newer].price_usd) == (quote_id, 899)
    assert main(["prices", "delete", *store, "--quote", newer]) == 0
    left = {quote.quote_id for quote in look(Store(own_store)).quotes()}
    assert newer not in left
    assert quote_id in left


def test_a_file_of_quotes_brings_machines_with_it_whole_or_not_at_all(
    own_store: Path, store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, path = tmp_path / "other.duckdb", tmp_path / "own.csv"
    other.write_bytes(store_path.read_bytes())
    mine, theirs = ["--store", str(own_store)], ["--store", str(other)]
    host = ["--machine", "Four cards", "--fits", "A6000, RTX 6000 Ada", "--count", "4"]
    assert main(["prices", "add", *mine, *MACHINE, *FLAGS, "--includes", "1 TB; shipping"]) == 0
    assert main(["prices", "add", *mine, *host, *FLAGS[2:], "--price", "9k", "--watts", "600"]) == 0
    correct = ["prices", "correct", *mine, "--machine", "four cards", "--price"]
    assert main([*correct, "8500"]) == 0
    assert main(["prices", "export", str(path), *mine]) == 0
    capsys.readouterr()

    assert main(["prices", "import", str(path), "--dry-run", *theirs]) == 0
    assert "Four cards (own quote) $8,500.00" in capsys.readouterr().out
    assert not any(each.is_own_quote for each in look(Store(other)).hosts())
    assert main(["prices", "import", str(path), *theirs]) == 0
    assert "3 new quotes; 2 new machines" in capsys.readouterr().err
    kept, gone = look(Store(own_store)), look(Store(other))
    assert [h for h in kept.hosts() if h.is_own_quote] == [
        h for h in gone.hosts() if h.is_own_quote
    ]
    assert set(kept.quotes()) == set(gone.quotes())
    assert main(["prices", "import", str(path), *theirs]) == 0
    assert "0 new quotes, 3 were there" in capsys.readouterr().err

    path.write_text(path.read_text().replace(",600,", ",700,"))
    assert main(["prices", "import", str(path), *theirs]) == 2
    said = capsys.readouterr().err
    assert "column 'watts': '700' is not what 'Four cards' has" in said
    assert 'advisor prices correct --machine "Four cards"' in said
    path.write_text(path.read_text().replace("Four cards", "Eight").replace("A6000", "no card"))
    assert main(["prices", "import", str(path), *theirs]) == 2
    assert look(Store(other)).quotes() == gone.quotes()
    assert not any(each.name == "Eight" for each in look(Store(other)).hosts())


WRONG_NUMBERS = ["--count", "?", "--watts", "?", "--weight", "?", "--noise", "?"]
REFUSED = [
    (["add", *FLAGS], "what is the price for?"),
    (["add", *FLAGS, "--item", "H200", "--watts", "9000"], "--watts is said of a machine"),
    (["add", *FLAGS, *MACHINE, "--item", "H200"], "leave out one of them"),
    (["add", *FLAGS, "--machine", "x"], "--gpu is empty"),
    (["add", "--machine", "x", "--gpu", "z", *WRONG_NUMBERS], "; and "),
    (["correct"], "name one of the two"),
    (["correct", "--machine", "x", "--quote", "y"], "name one of the two"),
    (["correct", "--machine", "DGX H100", "--price", "1"], "you have entered none"),
    (["correct", "--quote", "nothing", "--price", "1"], "no quote is called 'nothing'"),
    (["correct", "--quote", "nothing", "--watts", "1"], "--watts is said of a machine"),
    (["delete"], "name one of the two"),
    (["delete", "--machine", "DGX H100"], "no machine of yours is called 'DGX H100'"),
    (["delete", "--quote", "paper-table5:a100"], "ships with the program"),
    (["delete", "--quote", ""], "no quote is called ''"),
]


@pytest.mark.parametrize(("argv", "words"), REFUSED)
def test_wrong_commands_are_one_line_and_keep_nothing(
    own_store: Path, capsys: pytest.CaptureFixture[str], argv: list[str], words: str
) -> None:
    before = own_store.read_bytes()
    assert words in refused(capsys, "prices", argv[0], "--store", str(own_store), *argv[1:])
    assert own_store.read_bytes() == before


def test_a_merged_machine_with_a_gpu_that_nobody_knows_stops_nothing(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "machines.jsonl"
    rows = [
        {"host_id": "machine:x", "name": "x", "max_gpus": 6, "supported": ["none", "rtx-a6000"]},
        {"host_id": "machine:y", "name": "y", "max_gpus": 5, "gpu_id": "none"},
    ]
    lines.write_text(
        "".join(json.dumps({"table": "host", "kind": "server", **r}) + "\n" for r in rows)
    )
    assert main(["merge", "--mine", str(lines), "--store", str(own_store)]) == 0
    assert "refused: machine 'machine:y'" in capsys.readouterr().err
    assert main(["rank", "--store", str(own_store), "--model", "pythia-1b"]) == 0
    assert main(["prices", "delete", "--store", str(own_store), "--machine", "x"]) == 0
    with Store(own_store).reading() as reader:
        assert not any(time.origin == "local" for time in reader.predictions())
