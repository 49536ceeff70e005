"""Cards held back by their watts: trainings under limits, and what a card is said to lose."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

import pytest

from advisor.prediction.fitted import Fitted
from advisor.prediction.model.workload import workload_of
from advisor.prediction.physics.chip import TRAINING_DRAW, chip_of
from advisor.prediction.predict_one import predict
from bench_runner.recipes import load_recipes
from price_catalog.load import load_catalog
from tools.fit.training_limits import as_table, cards_out, fitted_draw, load_limited

GPUS = {gpu.gpu_id: gpu for gpu in load_catalog().gpus}
PYTHIA = workload_of(next(r for r in load_recipes() if r.recipe_id == "pythia-1b"))


def test_the_draw_is_that_of_the_shipped_trainings() -> None:
    rows = load_limited()
    assert len(rows) > 150
    assert all(0.5 <= row.limit_w / row.highest_w < 1 for row in rows)
    assert fitted_draw(rows) == TRAINING_DRAW
    assert f"used: {TRAINING_DRAW}." in as_table()


def test_a_card_left_out_loses_about_what_the_others_say() -> None:
    out = cards_out(load_limited()).values()
    assert len(out) == 4
    assert max(error for _, _, error, _, _ in out) < 0.17
    assert fmean(error for _, _, error, _, _ in out) < fmean(products for *_, products in out)


def test_a_card_that_asks_more_of_a_watt_than_any_measured_is_less_sure(fitted: Fitted) -> None:
    def width(tdp_w: float) -> float:
        chip = chip_of(replace(GPUS["rtx-pro-6000-blackwell-se"], tdp_w=tdp_w))
        answer = predict(PYTHIA, chip, 1, replace(fitted, highest_share=10.0))  # no bound
        assert answer.training_days_high and answer.training_days_low
        return answer.training_days_high / answer.training_days_low

    assert width(700) == pytest.approx(width(600))
    assert width(600) < width(450) < width(300)
