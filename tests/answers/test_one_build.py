"""What is known of one build, as its page and its commands say it."""

from __future__ import annotations

import shlex
from datetime import date
from pathlib import Path

import pytest

from advisor.answers.builds.build_sections import measure_commands, section_lines
from advisor.answers.builds.one_build import OneBuild, one_build
from advisor.cli.main import main
from advisor.costs.own_quotes import OWN
from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.row_order import rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store
from tests.facts_for_tests import make_quote

TODAY = date.today()


def page_of(store: Store, host_id: str | None = None, gpus: int | None = None) -> OneBuild:
    """All about the best build of a machine, or of this many GPUs, for Pythia 1B."""
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
        candidates = make_candidates(
            reader, snapshot, CandidatesKey("pythia-1b", "latest", "sound")
        )
    ranking = rank(candidates, Question())
    index = next(
        i
        for i in ranking.order
        for build in (candidates.builds[i],)
        if host_id in (None, build.host.host_id) and gpus in (None, build.gpu_count)
    )
    return one_build(
        ranking,
        index,
        prices="latest",
        rentals=(),
        supply=None,
        quotes=snapshot.quotes,
        today=TODAY,
    )


def test_a_quote_that_was_corrected_is_no_other_quote(own_store: Path) -> None:
    store = Store(own_store)
    first = make_quote("server", "exxact-h200", "290000", vendor="Lab shop", source_id="own-quotes")
    better = first._replace(
        quote_id="better", price_usd=first.price_usd - 9_000, corrects=first.quote_id
    )
    store.add([OWN], quote=[first, better])
    one = page_of(store, "exxact-h200")
    said = "\n".join(line.text for line in section_lines(one, "price"))
    assert "$281,000" in said
    assert "$290,000" not in said


@pytest.mark.parametrize(
    ("where", "then"), [("on a cluster", "sbatch job.sh"), ("on a rented machine", "sky launch")]
)
def test_the_page_s_commands_work_as_typed(
    store_path: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    where: str,
    then: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADVISOR_JOBS", str(tmp_path / "jobs"))
    one = page_of(Store(store_path), "exxact-h200")
    words = shlex.split(measure_commands(one)[where])
    assert main([*words[1:], "--store", str(store_path)]) == 0
    assert then in capsys.readouterr().err
