"""A plan that the tests of reports share."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.planning.grant.read_grant import read_grant
from advisor.planning.grant.toml_reader import Line
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.planned_grant import Planned
from advisor.store import Store
from tests.once_for_tests import value_once
from tests.planning.forms_for_tests import TODAY, planned_from
from tests.planning.grant_files import changed


@pytest.fixture(scope="session")
def planned(store_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """Two models of the example: one machine is bought, runs go over the turn of a year."""

    def solved() -> Planned:
        grant = read_grant(EXAMPLE)
        grant = changed(
            grant, experiments=grant.experiments[:2], owned=(), rentals={"allowed": False}
        )
        return plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)

    planned = value_once("planned", tmp_path_factory, solved)
    assert planned.plan is not None
    return planned


@pytest.fixture(scope="session")
def bought(store_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """The plan of most tests of reports, solved and explained: three models of the example."""
    wanted, rents = read_grant(EXAMPLE).experiments[:3], {"gpus": (Line("H100 SXM"),)}
    return value_once(
        "bought",
        tmp_path_factory,
        lambda: planned_from(store_path, experiments=wanted, rentals=rents),
    )
