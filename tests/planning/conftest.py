"""A plan that the tests of reports share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from advisor.planning.grant.grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.planned import Planned
from advisor.store import Store
from tests.planning.forms_for_tests import TODAY


@pytest.fixture(scope="session")
def planned(store_path: Path) -> Planned:
    """Two models of the example: one machine is bought, runs go over the turn of a year."""
    grant = read_grant(EXAMPLE)
    grant = replace(grant, experiments=grant.experiments[:2], owned=(), rent=False)
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    assert planned.plan is not None
    return planned
