"""What a plan buys trains as its own host's memory lets it, as in the ranking."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from msgspec import structs

from advisor.planning.grant.candidates.grant_machines import Timed, times_of
from advisor.planning.grant.candidates.split_machines import parts_of
from advisor.planning.grant.grant_keys import Owned
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant
from advisor.ranking.times import on_host
from advisor.store import Store
from tests.planning.grant_files import changed

TODAY = date(2026, 11, 21)
MODEL = "pythia-6.9b"
"""Its optimiser states leave a card of 24 GB only for a host of 139 GiB."""


def test_machines_and_parts_have_the_memory_of_their_own_host(store_path: Path) -> None:
    grant = read_grant(EXAMPLE)
    wanted = structs.replace(grant.experiments[0], model=MODEL, each_year=False, runs=1, by=None)
    grant = changed(
        grant,
        experiments=(wanted,),
        owned=(),
        rentals={"allowed": False},
        running={"share_gpus": True},
    )
    store = Store(store_path)
    loaded = load_grant(store, grant, TODAY)
    problem = replace(loaded.problem, machines=loaded.with_told or loaded.problem.machines)
    loaded = replace(loaded, problem=problem)
    with store.reading() as reader:
        best = {MODEL: Timed(reader.best_times(MODEL, "sound"))}
    known = {(t.gpu_id, t.gpu_count): t for t in best[MODEL].times}
    wholes = [m for m in loaded.problem.machines if m.machine_id in loaded.builds]
    larger = 0
    for machine in wholes:
        memory = loaded.builds[machine.machine_id].host.memory_gib
        each = known[machine.gpu_id, machine.gpu_count]
        stands = on_host(each, memory).chosen
        assert stands is not None and machine.times[MODEL].days == stands.training_days
        larger += stands != each.chosen
    assert larger > 0  # some machine fits, or is faster, by its host's memory alone
    small = times_of(best, "rtx-4090", 1, grant)
    assert MODEL not in small and MODEL in times_of(best, "rtx-4090", 1, grant, 256.0)
    whole = next(m for m in wholes if m.gpu_count >= 4)
    build = loaded.builds[whole.machine_id]
    whole = replace(whole, gpu_id="rtx-4090")
    for memory, parts in ((200.0 * whole.gpu_count, 1), (64.0 * whole.gpu_count, 0)):
        host = replace(build.host, memory_gib=memory)
        held = {whole.machine_id: build._replace(host=host)}
        found = parts_of([whole], grant, best, held, {})
        assert sum(part.gpu_count == 1 for part in found) == parts


def test_an_owned_machine_has_the_memory_that_the_grant_says(store_path: Path) -> None:
    grant = read_grant(EXAMPLE)
    wanted = structs.replace(grant.experiments[0], model=MODEL, each_year=False, runs=1, by=None)
    store = Store(store_path)

    def trains(memory_gib: float | None) -> set[int]:
        own = Owned(gpu="RTX 4090", gpu_count=2, host_memory_gib=memory_gib)
        asked = changed(
            grant,
            experiments=(wanted,),
            owned=(own,),
            rentals={"allowed": False},
            purchases={"allowed": False},
            running={"share_gpus": True},
        )
        machines = load_grant(store, asked, TODAY).problem.machines
        return {m.gpu_count for m in machines if MODEL in m.times}

    # One card needs 139 GiB: half of 320 is enough, and half of 256 is not.
    assert 1 in trains(320.0)
    assert 1 not in trains(256.0)
    assert 1 not in trains(None)
