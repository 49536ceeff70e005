"""What ships, loaded once: the evidence, and the fit of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.prediction.fitted import Fitted
from advisor.prediction.observed_times import Observation
from advisor.prediction.shipped_predictions import shipped_fit
from advisor.store import Store
from tests.prediction.predict_for_tests import STORES
from tools.fit.shipped_evidence import load_evidence


@pytest.fixture(scope="session")
def evidence() -> tuple[Observation, ...]:
    return load_evidence()


@pytest.fixture(scope="session")
def fitted() -> Fitted:
    """That the evidence gives just it, one test says."""
    return shipped_fit()


@pytest.fixture(scope="session")
def asks_the_shipped_store(store_path: Path) -> None:
    """For `predict_for_tests.call`."""
    STORES[:] = [Store(store_path)]
