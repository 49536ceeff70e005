"""A grant planned by the command, and the process that its search runs in."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import unquote

import pytest

from advisor.cli.main import main
from advisor.planning import solver_process
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import PlanTask, load_grant
from advisor.planning.solver_process import Cancelled, Search
from advisor.store import Store
from advisor.typed_input import InputError
from tests.planning.grant_files import FREELY, SMALL, grant_file


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["plan", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_an_impossible_grant_exits_with_1(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = grant_file(tmp_path, SMALL.replace("$30,000", "$500"))
    report = tmp_path / "z.pdf"
    words = ("--store", str(store_path), "--out", str(report))
    code, out, err = run(capsys, str(path), *words)
    assert code == 1
    assert "raise the budget by $" in out
    assert f"'{report}' is not written: there is no plan" in err and not report.exists()


def test_an_unknown_gpu_or_model_names_the_nearest(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(store_path)]
    for old, new, says in (
        ("pythia-410m", "pythia-410", "grant.toml, experiments[1].model: no model"),
        ("[rentals]", '[purchases]\ngpus = ["RTX 3091"]\n[rentals]', "purchases.gpus"),
        ("[rentals]", '[[owned]]\ngpu = "A600"\ngpu_count = 1\n[rentals]', "owned[1].gpu"),
    ):
        path = grant_file(tmp_path, SMALL.replace(old, new, 1))
        code, _, err = run(capsys, str(path), *store)
        assert code == 2
        assert says in err


def test_money_that_does_no_run_is_no_answer(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = SMALL.replace('"$30,000"', "0")
    path = grant_file(tmp_path, nothing.replace("[grant]\n", '[grant]\nobjective = "most-runs"\n'))
    for words in ((), ("--details",)):
        code, out, _ = run(capsys, str(path), "--store", str(store_path), *words)
        assert code == 1
        assert out.startswith("No run can be done in time with this money: proven the most runs.")
        least = re.search(r"the cheapest run takes \$([\d,.]+)", out)
        assert least is not None and out.count("\n") < 8
    enough = least[1].replace(",", "")
    path.write_text(path.read_text().replace("total = 0", f'total = "${enough}"'))
    assert run(capsys, str(path), "--store", str(store_path), "--quick")[0] == 0


def test_the_answer_alone_is_on_stdout_and_no_screen_is_loaded(
    store_path: Path, tmp_path: Path
) -> None:
    """The solver's library prints notes of its own; none may reach a program that reads JSON."""
    words = ["plan", str(grant_file(tmp_path, SMALL)), "--quick", "--format", "json"]
    code = (
        "import sys\nfrom advisor.cli.main import main\n"
        f"main({[*words, '--store', str(store_path)]!r})\n"
        "print([m for m in ('textual', 'matplotlib', 'typst', 'torch') if m in sys.modules],"
        " file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    json.loads(done.stdout)
    *notes, loaded = done.stderr.splitlines()
    assert all("trying" in line or "reading" in line for line in notes) and loaded == "[]"


def test_a_search_is_cancelled_at_once(store_path: Path, tmp_path: Path) -> None:
    grant = read_grant(grant_file(tmp_path, SMALL))
    loaded = load_grant(Store(store_path), grant, date(2026, 11, 21))
    search = Search(PlanTask(loaded=loaded, seconds=60))
    began = monotonic()
    with pytest.raises(Cancelled):
        search.run(lambda _: search.cancel())
    assert monotonic() - began < 20
    early = Search(PlanTask(loaded=loaded, seconds=60))
    early.cancel()
    with pytest.raises(Cancelled):
        early.run()


def test_ways_out_are_in_the_grant_s_currency_and_true(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = '[budget]\ncurrency = "EUR"\n'
    for money, words in (
        ("total = 100\n", "raise the budget by €"),
        ("total = 0\n", "raise the budget by €"),
        ('per_year = ["0", "1"]\n', "raise what all years have together to €"),
        ('total = "£40,000"\n', "is in GBP, and the grant is in EUR"),
    ):
        path = grant_file(tmp_path, EUROS + short + money)
        assert main(["plan", str(path), "--store", str(store_path), "--quick"]) in (1, 2)
        said = "".join(capsys.readouterr())
        assert words in said, said
        assert "$" not in said.split("mends it")[-1]


EUROS = """
[grant]
start = 2027-01-01
years = 2
[purchases]
allowed = false
[[experiments]]
model = "pythia-410m"
"""


class Endless:
    """A search that says something, and never ends."""

    seconds = 0.2

    def run(self, say: Callable[[Any], None]) -> str:
        say("something")
        sleep(600)
        return "never"


def test_a_search_that_passes_its_time_answers_with_what_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(solver_process, "GRACE_SECONDS", 0.2)
    began = monotonic()
    assert Search(Endless(), lambda said: f"kept {said}").run() == "kept something"
    with pytest.raises(InputError, match="--seconds"):
        Search(Endless()).run()
    assert monotonic() - began < 60


def test_an_upgrade_of_an_owned_machine_is_planned(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two more A6000s make one run of Pythia 2.8B a year into two."""
    text = SMALL.replace('"pythia-410m"', '"pythia-2.8b"\nruns = 2')
    text += '[purchases]\ngpus = ["RTX A6000"]\n' + FREELY
    owned = '[[owned]]\ngpu = "RTX A6000"\ngpu_count = 2\nfree_slots = 2\n[rentals]'
    path = grant_file(tmp_path, text.replace("[rentals]", owned, 1))
    report = tmp_path / "report.md"
    code, out, _ = run(
        capsys, str(path), "--quick", "--out", str(report), "--store", str(store_path)
    )
    assert code == 0
    assert "add in year 1  2 more A6000 in the lab's 2 × A6000 (4 in all)" in out
    assert "2 more A6000 in the lab's 2 × A6000" in report.read_text()
    tight = path.read_text().replace("free_slots = 2", "free_slots = 1")
    _, out, _ = run(capsys, str(grant_file(tmp_path, tight)), "--quick", "--store", str(store_path))
    assert "more A6000" not in out  # nobody timed three


def test_a_report_overwrites_nothing_unasked_and_has_its_pictures_beside_it(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, annex = tmp_path / "my report.md", tmp_path / "my report-annex.md"
    report.write_text("mine")
    path = grant_file(tmp_path, SMALL.replace("predictions = false", ""))
    words = [str(path), "--quick", "--out", str(report)]
    words += ["--store", str(store_path)]
    code, _, err = run(capsys, *words)
    assert (code, "is there already" in err, report.read_text()) == (2, True, "mine")
    code, _, err = run(capsys, *words, "--force")
    assert (code, f"wrote {report}\n" in err) == (0, True)
    assert report.read_text().startswith("# grant")
    links = re.findall(r"\]\(([^)]+\.svg)\)", annex.read_text())
    assert links[0] == "my%20report-figures/plan.svg"
    assert all("<svg" in (tmp_path / unquote(link)).read_text() for link in links)
    report.unlink()
    annex.unlink()
    code, _, err = run(capsys, *words)
    assert (code, "is there already" in err) == (2, True)  # the pictures


def test_a_run_costs_what_a_ranking_says(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under the same assumptions, and with a default life that is said."""
    path = grant_file(tmp_path, SMALL.replace("predictions = false", ""))
    terms = ("--use", "60%", "--resale", "20%", "--electricity", "0.2", "--pue", "1.4")
    words = ("--quick", "--format", "json", "--store", str(store_path), *terms)
    code, out, _ = run(capsys, str(path), *words)
    verdict = json.loads(out)["verdict"]
    assert code == 0 and verdict["runs_on_own"]
    for each in verdict["runs_on_own"]:
        ask = ["rank", "--model", each["model"], "--budget", "1m", "--format", "json", *terms]
        assert main([*ask, "--store", str(store_path)]) == 0
        ranked = json.loads(capsys.readouterr().out)["ranked"]
        costs = [row["experiment_cost_usd"] for row in ranked]
        assert each["cost"] in costs
    assert verdict["counted_by"]["lifetime_years"] == 5
    assert run(capsys, str(path), "--use", "6000")[0] == 2


@pytest.mark.parametrize(
    ("asked", "rate", "includes", "vat", "usd"),
    [
        ("EUR 14280", "1.25", "tax", "0.19", 15_000),
        ("EUR 12000", "1.25", "shipping", "0.19", 15_000),
        ("JPY 2200000", "0.0064", "tax", "0.1", 12_800),
        ("USD 17850", "1", "tax", "0.19", 15_000),
    ],
)
def test_a_run_costs_its_share_of_the_price_before_tax(
    own_store: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    asked: str,
    rate: str,
    includes: str,
    vat: str,
    usd: int,
) -> None:
    """In whatever currency a quote of the user's own is; a bid compares the same price."""
    code, price = asked.split()
    quote = tmp_path / "quote.csv"
    quote.write_text(
        "item,price,vendor,date,kind,item_kind,currency,usd_per_unit,includes\n"
        f"kiebel-2x5090,{price},Kiebel,{date.today()},reseller-quote,server,{code},{rate},"
        f"{includes}\n"
    )
    store = ("--store", str(own_store))
    assert main(["prices", "import", str(quote), *store]) == 0
    unit = "EUR" if code == "USD" else code
    per = "1.25" if code == "USD" else rate
    rules = f'total = "{unit} 9000000"\ncurrency = "{unit}"\nusd_per_unit = {per}\n'
    rules += f'usd_per_unit_on = 2026-11-15\nrate_source = "a bank"\nvat = {vat}\n'
    text = SMALL.replace("predictions = false", "").replace('total = "$30,000"\n', rules)
    path = grant_file(tmp_path, text + '[procurement]\nvendors = ["Kiebel"]\n')
    capsys.readouterr()
    words = ("--quick", "--format", "json", *store, "--bid", str(tmp_path / "bid"))
    found, out, err = run(capsys, str(path), *words)
    assert found == 0, err
    (each,) = json.loads(out)["verdict"]["runs_on_own"]
    share = each["days"] / (5 * 365.25)
    assert each["cost"] * float(per) == pytest.approx(usd * share, rel=0.002)
    rows = (tmp_path / "bid" / "quotes.csv").read_text().splitlines()
    assert f"{usd / float(per):,.0f}" in rows[1]
