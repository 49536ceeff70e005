"""Of a justification: what the lab has, and what of it does the work."""

from __future__ import annotations

from advisor.planning.report.material import Material
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.report import Words
from advisor.planning.unused_gpus import unused_gpus


def existing_words(given: Material) -> Words:
    """Each kind of machine that is there and what it does; of one that does nothing, why."""
    owned = given.loaded.grant.owned
    if not owned:
        return ("What exists. We have no machine for this work.",)
    done = {n: _runs_on(given, n) for n in range(1, len(owned) + 1)}
    upgrades = {e.machine.machine_id for e in given.costs.equipment if e.machine.upgrade_of}
    idle = {} if upgrades else {n: _why(given, n) for n, runs in done.items() if not runs}
    # What holds of all of them is said once, behind the last.
    apart = len({idle.get(n) for n in done}) > 1
    have: list[str | Num] = []
    for n, own in enumerate(owned, start=1):
        label = next(
            m.label for m in given.loaded.problem.machines if m.machine_id.startswith(f"owned:{n}:")
        )
        number = given.book.setting(f"owned[{n}].machines", own.machines, "machines", label)
        mark = "" if n == 1 else "; and " if n == len(owned) else "; "
        each = " each" if own.machines > 1 else ""
        have += [mark, number, f" ({label.removesuffix(' (owned)')}{each})"]
        if apart:
            have += [", used for ", _count(given, done[n], n)] if done[n] else [idle[n]]
    all_done = sum(done.values())
    count = _count(given, all_done)
    if upgrades:
        grown = sum(given.book.problem.whole(p.machine_id) in upgrades for p in given.plan.placed)
        more = given.ledger.leaf(
            "plan", grown, "runs", "runs on upgraded machines", what="runs on upgraded machines"
        )
        alone: list[str | Num] = [", used for ", count, " as they are"] if all_done else []
        words = ("What exists. We have ", *have, *alone, ". With the GPUs that we ask for, ", more)
        return (*words, " can be done there.")
    if not all_done:
        return ("What exists. We have ", *have, "." if apart else f"{idle[1]}.")
    used: list[str | Num] = [] if apart else [", used for ", count]
    if all_done < given.plan.runs and given.cheapest:
        many = sum(own.machines for own in owned) > 1
        they = "What is used" if apart else "They" if many else "It"
        used.append(f". {they} cannot take the others in time, or only at a higher cost")
    return ("What exists. We have ", *have, *used, ".", *_unused_part(given))


def _why(given: Material, number: int) -> str:
    """Of machines of one table of the grant that do no run."""
    unused = unused_gpus(given.loaded.problem, given.plan)
    table = f"owned:{number}:"
    return next(
        (f", unused since {e.why}" for e in unused if e.machine.machine_id.startswith(table)), ""
    )


def _unused_part(given: Material) -> list[str | Num]:
    """GPUs that stay unused of machines on which others do runs, and why."""
    words: list[str | Num] = []
    for each in unused_gpus(given.loaded.problem, given.plan):
        if each.unused == each.gpus:
            continue

        def leaf(value: int, label: str) -> Num:
            return given.ledger.leaf("plan", value, "GPUs", label, what=label)

        of = leaf(each.gpus, f"GPUs of {each.name}")
        verb = "stays" if each.unused == 1 else "stay"
        words += [" ", leaf(each.unused, f"unused GPUs of {each.name}"), " of the ", of]
        words.append(f" GPUs of {each.name} {verb} unused, since {each.why}.")
    return words


def _runs_on(given: Material, number: int) -> int:
    """How many runs are done on the machines of one table of the grant, as they are."""
    whole, table = given.loaded.problem.whole, f"owned:{number}:"
    known = {m.machine_id for m in given.loaded.problem.machines}
    return sum(
        p.machine_id in known and whole(p.machine_id).startswith(table) for p in given.plan.placed
    )


def _count(given: Material, runs: int, number: int | None = None) -> Num:
    if number is None:
        what, label = "runs on owned machines", "runs on machines of the lab"
        return given.ledger.leaf("plan", runs, "runs", label, what=what)
    label = f"runs on machines of the lab, kind {number}"
    return given.ledger.leaf("plan", runs, "runs", label, what="runs on owned", owned=number)
