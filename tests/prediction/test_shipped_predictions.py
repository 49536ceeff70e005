"""The fit that ships, the predictions that a store keeps, and how a ranking uses them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from advisor.cli.main import main
from advisor.prediction.fitted import VERSION
from advisor.prediction.model.workload import workload_of
from advisor.prediction.physics.chip import chip_of
from advisor.prediction.predict_many import Asked, fastest_of, predict_many
from advisor.prediction.shipped_predictions import predicted_rows, shipped_fit
from bench_runner.recipes import load_recipes
from price_catalog.load import load_catalog
from tools.fit.refit import fingerprint
from tools.fit.shipped_evidence import load_evidence


def test_the_shipped_fit_is_that_of_the_shipped_evidence() -> None:
    fitted = shipped_fit()
    assert fitted.version == VERSION
    assert fitted.fingerprint == fingerprint(load_evidence()), (
        "the evidence has changed: python -m tools.fit.refit"
    )


def test_the_report_is_of_the_shipped_evidence() -> None:
    text = Path(__file__).parents[2].joinpath("docs", "prediction.md").read_text(encoding="utf-8")
    assert f"fit {shipped_fit().fingerprint}." in text, (
        "the evidence has changed: python -m tools.fit.accuracy_page --out docs/prediction.md"
    )


def test_every_prediction_has_an_interval_and_stays_below_the_peak() -> None:
    fitted, recipes = shipped_fit(), load_recipes()
    precisions = {recipe.recipe_id: recipe.training.precision for recipe in recipes}
    rows = predicted_rows(fitted, recipes, load_catalog().gpus)
    assert len(rows) > 1000
    for row in rows:
        if row["status"] == "infeasible":
            assert "training_days" not in row
            continue
        assert 0 < row["training_days_low"] < row["training_days"] < row["training_days_high"]
        assert row["verdict"] in ("plausible", "doubtful", "unchecked")
        # A fused loss is not credited with logits that it leaves out.
        precision = precisions[row["recipe_id"]]
        assert precision == "fp32" or row["implied_mfu"] <= fitted.highest_share * 1.001
        # In a comparison some of the doubt cancels, and never all of it.
        assert (
            1 < row["comparison_factor"] <= row["training_days_high"] / row["training_days"] + 0.01
        )


def ask(capsys: pytest.CaptureFixture[str], store: Path, *flags: str) -> dict[str, Any]:
    main(["rank", "--model", "pythia-1b", *flags, "--format", "json", "--store", str(store)])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


@pytest.mark.parametrize(("faster", "stands"), [(1 - 1e-12, 0), (0.999, 1)])
def test_what_stands_does_not_hang_on_how_a_processor_rounds(faster: float, stands: int) -> None:
    recipe = next(r for r in load_recipes() if r.recipe_id == "pythia-1b")
    gpu = next(g for g in load_catalog().gpus if g.gpu_id == "rtx-3090")
    one = np.array([0])
    lean, paper = (
        predict_many(
            Asked(
                *([workload_of(recipe)], [chip_of(gpu)], one, one, np.array([2]), shipped_fit()),
                method=method,
            )
        )
        for method in ("optimal", "paper")
    )
    assert lean.at_bound[0]
    assert paper.at_bound[0]
    assert lean.days[0] == pytest.approx(paper.days[0], rel=1e-12)
    paper = replace(paper, days=lean.days * faster)
    many, _ = fastest_of(lean, paper, one)
    assert many.options[many.option[0]].lean is (stands == 0)
    assert many.days[0] == (lean, paper)[stands].days[0]


def test_sound_evidence_predicts_what_nobody_measured(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranked = ask(capsys, store_path)["ranked"]
    predicted = [row for row in ranked if row["basis"] == "predicted"]
    assert {row["gpu"] for row in predicted} >= {"RTX 4090", "RTX 6000 Ada", "L40S"}
    for row in predicted:
        assert row["training_days_low"] < row["training_days"] < row["training_days_high"]
        assert (row["timing"], row["source"]) == ("none", "prediction")
        assert row["settings"]["micro_batch_size"] >= 1
        assert row["rests_on"] == "estimated" and row["evidence_pieces"] > 0
        assert row["evidence_nearest"] in row["rests_on_words"]
        paper = row["training_days_paper_settings"]
        assert paper is None or row["training_days"] <= paper * 1.001
    # No time of another clock stands among them.
    assert all(row["basis"] == "predicted" or row["timing"] == "synchronised" for row in ranked)


def test_predictions_are_told_apart_by_what_they_do_not_share(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Three GPUs are slower than four of the same, whatever the software that nobody knows."""
    limits = ("--budget", "60000", "--max-days", "60")
    four, three, *_ = ask(capsys, store_path, *limits, "--gpus", "RTX 6000 Ada")["ranked"]
    assert [(row["gpu_count"], row["basis"]) for row in (four, three)] == [
        (4, "predicted"),
        (3, "predicted"),
    ]
    assert three["training_days"] > four["training_days"]
    assert three["tied_with"] == three["group"]
    # Of two GPUs nobody measured less of the doubt is shared.
    gpus = ("--gpus", "RTX PRO 6000 Blackwell,RTX 5090")
    ranked = ask(capsys, store_path, "--budget", "30000", *gpus)["ranked"]
    first, *others = ranked
    tied = {row["gpu"] for row in others if row["tied_with"] == 1}
    assert {first["gpu"], *tied} == {"RTX PRO 6000 Blackwell", "RTX 5090"}
