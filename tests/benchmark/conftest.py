"""What tests of a measurement have in common."""

from __future__ import annotations

import pytest

from bench_runner.launch import hardware
from tests import fake_runner


@pytest.fixture
def two_fake_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found here."""
    monkeypatch.setattr(hardware, "machine", fake_runner.machine)
    monkeypatch.setenv("FAKE_GPUS", "2:NVIDIA H200")
    monkeypatch.setenv("ADVISOR_STORE_WAIT", "5")


@pytest.fixture(autouse=True)
def _predictions_stay(predictions_stay: None) -> None:
    """In all of these tests."""
