"""What procurement gets: a specification that names no maker, equals, thresholds, questions."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.planning.grant.institution import rows_of
from advisor.planning.plan_grant import load_grant, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.report.bid import bid_texts, check_bid_folder, time_words, write_bid
from advisor.store import Store
from advisor.typed_input import InputError
from tests.planning.forms_for_tests import TODAY, grant_head, read

BUYS = grant_head("pythia-410m") + '[rentals]\nallowed = false\n[purchases]\ngpus = ["RTX 5090"]\n'


def planned(store_path: Path, folder: Path, more: str = "") -> Planned:
    grant = read(folder, BUYS + more)
    return plan_loaded(load_grant(Store(store_path), grant, TODAY), 30, quick=True)


def test_the_specification_names_no_maker_and_the_table_three_sellers(
    store_path: Path, tmp_path: Path
) -> None:
    rules = '[institution]\nname = "Rockefeller University"\n[procurement]\nwarranty_years = 3\n'
    found = planned(store_path, tmp_path, rules)
    assert found.plan is not None
    texts = bid_texts(found.loaded, found.plan)
    spec = texts["specification.md"]
    rows = list(csv.DictReader(io.StringIO(texts["quotes.csv"])))
    assert [row["mark"] for row in rows] == ["chosen", *["equal"] * (len(rows) - 1)]
    sellers = {row["seller"] for row in rows}
    assert len(sellers) >= 3 and "sole_source.md" not in texts
    assert not any(word in spec for word in (*sellers, "RTX", "5090", "NVIDIA"))
    for words in ("GPU memory in all", "power at full load", "noise", "at least 3 years, parts"):
        assert words in spec
    assert "Pythia 410M | at most" in spec
    assert [time_words(days) for days in (0.119, 1, 68.77)] == ["2.86 hours", "1 day", "68.8 days"]
    assert "Rockefeller University: at least three proposals" in texts["quotes.md"]
    assert ("it applies to this order" in texts["quotes.md"]) is (
        found.plan.cost_cents >= 10_000_00
    )
    assert "What does the whole cost today?" in texts["questions.md"]
    for row in rows_of("bid_thresholds.csv"):
        assert row["source"] and row["read_on"] and int(row["from_amount"]) > 0


def test_one_seller_is_a_sole_source_with_its_doubt(store_path: Path, tmp_path: Path) -> None:
    found = planned(store_path, tmp_path, '[procurement]\nvendors = ["BIZON"]\n')
    assert found.plan is not None
    texts = bid_texts(found.loaded, found.plan)
    assert "Only BIZON offers one that the rules of this grant let" in texts["sole_source.md"]
    left_out = [x for x in texts["sole_source.md"].splitlines() if "not one of the accepted" in x]
    assert any("Kiebel" in line for line in left_out)
    assert "the grant names were looked at: RTX 5090." in texts["sole_source.md"]
    assert "Ask at least two others" in texts["sole_source.md"]
    assert "Only 1 seller has a price that we know and that the rules of" in texts["quotes.md"]


def test_the_weight_is_stated_where_the_catalogue_has_it(store_path: Path, tmp_path: Path) -> None:
    found = planned(store_path, tmp_path, '[procurement]\nvendors = ["tiny corp"]\n')
    assert found.plan is not None
    weight = found.loaded.builds[found.plan.purchases[0].machine_id].host.weight_kg
    spec = bid_texts(found.loaded, found.plan)["specification.md"]
    assert weight and f"| weight | at most {weight:g} kg |" in spec


def test_a_folder_is_written_whole_or_refused(store_path: Path, tmp_path: Path) -> None:
    found = planned(store_path, tmp_path)
    folder = tmp_path / "bid"
    written = write_bid(found, check_bid_folder(str(folder), force=False), force=False)
    assert sorted(path.name for path in folder.iterdir()) == sorted(p.name for p in written)
    with pytest.raises(InputError, match=r"has specification\.md already"):
        check_bid_folder(str(folder), force=False)
    assert check_bid_folder(str(folder), force=True) == folder
    with pytest.raises(InputError, match="is a file"):
        check_bid_folder(str(written[0]), force=True)
    with pytest.raises(InputError, match="does not exist"):
        check_bid_folder(str(tmp_path / "no" / "bid"), force=True)


def test_nothing_to_buy_is_nothing_to_bid_for(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(grant_head("pythia-160m") + "[purchases]\nallowed = false\n")
    command = ["plan", str(path), "--quick", "--bid", str(tmp_path / "bid")]
    assert main([*command, "--store", str(store_path)]) == 2
    out, err = capsys.readouterr()
    assert "buys no machine, so there is nothing to bid for" in err
    assert out == ""
    assert not (tmp_path / "bid").exists()
