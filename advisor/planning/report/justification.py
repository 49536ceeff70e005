"""The justification of a request: short paragraphs to paste without cleaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from advisor.planning.report.award_years import is_equipment
from advisor.planning.report.cost_book import EquipmentCost, RunningCost
from advisor.planning.report.material import Material
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.report import Words
from advisor.planning.report.sentences import solve_num
from advisor.planning.solver.charges import (
    machine_price,
    months_charged,
    paid_price,
    share_of_use,
)


def justification(given: Material, by_line: Mapping[str, Num]) -> list[Words]:
    """A short paragraph a question: need, choice, what exists, cloud, campus, upkeep, data.

    ``by_line`` has what each line of the budget asks for in all.
    """
    return [
        _need(given),
        *_choices(given),
        _existing(given),
        _renting(given, by_line),
        *_granted(given),
        _upkeep(given, by_line),
        _data(given, by_line),
    ]


def _need(given: Material) -> Words:
    wanted = given.loaded.grant.experiments
    models = dict.fromkeys(given.loaded.snapshot.model(each.model).name for each in wanted)
    groups = dict.fromkeys(each.who for each in wanted if each.who is not None)
    words: list[str | Num] = ["Need. The project trains ", listed(models)]
    if groups:
        words.append(f" for {listed(groups)}")
    words += [": ", runs_done(given), " in all"]
    if given.plan.left_out:
        left = given.ledger.leaf(
            "plan", sum(given.plan.left_out.values()), "runs", "runs left out", what="left out"
        )
        words += [", and ", left, " more for which the money does not reach"]
    words.append(". Each run trains the whole model once, from random weights.")
    return tuple(words)


def _choices(given: Material) -> list[Words]:
    found: list[Words] = []
    options = given.loaded.problem.options()
    for e in given.costs.equipment:
        runs = [
            p
            for p in given.plan.placed
            if (given.book.problem.whole(p.machine_id), p.order) == (e.machine.machine_id, e.order)
        ]
        models = [given.book.experiments[p.experiment_id].model for p in runs]
        names = listed(given.loaded.models[model].name for model in models)
        words: list[str | Num] = ["Choice. ", e.count, f" ({e.machine.label})", *_price(given, e)]
        kind = "equipment" if is_equipment(given, e) else "supplies, below the threshold"
        words.append(f", counted as {kind}. ")
        if names:
            words.append(f"{'It trains' if e.count.value == 1 else 'They train'} {names}. ")
            times = [
                (options[p.machine_id].times[given.book.experiments[p.experiment_id].model], p)
                for p in runs
            ]
            time, longest = max(times, key=lambda each: each[0].days)
            model = given.book.experiments[longest.experiment_id].model
            how = "an estimate" if time.basis == "predicted" else "measured"
            words += [
                f"The longest of these runs ({given.loaded.models[model].name}) takes ",
                given.book.time(time, f"{model} on {options[longest.machine_id].label}"),
                f" ({how}). ",
            ]
        words.append("No other plan that was compared does this work for less." * _cheapest(given))
        found.append(tuple(words))
    return found


def _price(given: Material, e: EquipmentCost) -> list[str | Num]:
    """What one machine costs, and how what is charged follows from it."""
    rules = given.loaded.problem.rules
    day = given.loaded.problem.orders[e.order]
    quoted = machine_price(given.ledger, e.machine, e.lines)
    paid, changed = paid_price(given.ledger, e.machine, quoted, rules, day)
    words: list[str | Num] = [" at ", paid, " each"]
    if changed:
        what = [
            *(["the change of prices until the order"] if rules.price_change and day else []),
            *(["the educational discount"] if rules.discount else []),
            *(["value-added tax"] if rules.vat else []),
            *(extra.name for extra in rules.machine_extras),
        ]
        words += [" (quoted at ", quoted, f", with {listed(what)})"]
    if rules.cost_share:
        share = given.book.setting(
            "purchases.cost_share", rules.cost_share, "share", "paid by others"
        )
        words += [f", of which {given.loaded.grant.cost_share_by} pays ", share]
    if rules.life_months is not None:
        within, life = months_charged(given.ledger, rules, day)
        use = share_of_use(given.ledger, rules)
        words += ["; of it depreciation is asked for, ", within, " of ", life, " months at ", use]
        words += [" use: ", e.charge.each, " each"]
    elif rules.cost_share:
        words += [": ", e.charge.each, " each is asked for"]
    return words


def _granted(given: Material) -> list[Words]:
    """What each allocation does, or why it is left."""
    found: list[Words] = []
    used = {r.rental_id for r in given.plan.rented}
    for each in given.loaded.problem.allocations:
        own = {
            r.rental_id for r in given.loaded.problem.rentals if r.allocation == each.allocation_id
        }
        if used & own:
            found += [
                _free(given, r)
                for r in given.costs.running
                if r.placed[0].machine_id in own and not r.charge.direct.value
            ]
            continue  # what is paid for is among what is rented
        found.append(
            (f"Why not {each.name}. Its hours would cost more for these runs, or come too late.",)
        )
    return found


def _free(given: Material, r: RunningCost) -> Words:
    """Runs on granted hours that cost nothing."""
    hours = given.ledger.compute("product", [r.runs, r.charge.amount], "hours", "hours granted")
    name = given.book.experiments[r.experiment_id].name
    return ("Granted hours. ", r.runs, f" of {name} on {rented_name(given, r)}: ", hours, ", free.")


def _cheapest(given: Material) -> bool:
    return given.plan.proven and given.loaded.problem.objective == "cheapest"


def _existing(given: Material) -> Words:
    owned = given.loaded.grant.owned
    if not owned:
        return ("What exists. We have no machine for this work.",)
    have: list[str | Num] = []
    for n, own in enumerate(owned, start=1):
        label = next(
            m.label for m in given.loaded.problem.machines if m.machine_id.startswith(f"owned:{n}:")
        )
        number = given.book.setting(f"owned[{n}].machines", own.machines, "machines", label)
        mark = "" if n == 1 else "; and " if n == len(owned) else "; "
        have += [mark, number, f" ({label.removesuffix(' (owned)')})"]
    mine = {
        m.machine_id
        for m in given.loaded.problem.machines
        if given.loaded.problem.whole(m.machine_id).startswith("owned:")
    }
    done = sum(p.machine_id in mine for p in given.plan.placed)
    count = given.ledger.leaf(
        "plan", done, "runs", "runs on machines of the lab", what="runs on owned machines"
    )
    words: list[str | Num] = ["What exists. We have ", *have, ", used for ", count, "."]
    if not done:
        words = ["What exists. We have ", *have, ", which can do none of this in time"]
        words.append(", or only at a higher cost." if _cheapest(given) else ".")
    elif given.costs.equipment and done < given.plan.runs and _cheapest(given):
        words.append(" It cannot take the others in time, or only at a higher cost.")
    return tuple(words)


def _renting(given: Material, by_line: Mapping[str, Num]) -> Words:
    rented = [r for r in given.costs.running if r.rented and r.charge.direct.value]
    if rented:
        hours = [
            given.ledger.compute("product", [r.runs, r.charge.amount], "hours", "hours rented")
            for r in rented
        ]
        words: list[str | Num] = ["Rented computers. ", by_line["computer_services"], " pays for "]
        words.append(given.ledger.total(hours, "hours rented, in all", "hours"))
        words.append(f" on {listed(rented_name(given, r) for r in rented)}, at the rates below.")
        return (*words, *_not_bought(given))
    for other in given.explanation.alternatives:
        if other.change.get("no_purchases") and other.plan is not None:
            usd = solve_num(
                given.ledger,
                other.change,
                Decimal(other.plan.cost_cents) / 100,
                "usd",
                f"cost, {other.label}",
                "cost",
            )
            return ("Why not rent. Doing the same work on rented computers costs ", usd, ".")
        if other.change.get("no_purchases"):
            return ("Why not rent. Rented computers alone do not do this work in time.",)
    return ()


def _not_bought(given: Material) -> Words:
    """What rented work would cost on machines of one's own."""
    for other in given.explanation.alternatives:
        if not other.change.get("no_rentals"):
            continue
        if other.plan is None:
            return (" Machines of our own alone do not do this work in time.",)
        usd = solve_num(
            given.ledger,
            other.change,
            Decimal(other.plan.cost_cents) / 100,
            "usd",
            f"cost, {other.label}",
            "cost",
        )
        return (" Doing all of it on machines of our own costs ", usd, ".")
    return ()


def _upkeep(given: Material, by_line: Mapping[str, Num]) -> Words:
    kept = [f for f in given.costs.fixed if f.fixed.kind in ("warranty", "staff", "racks")]
    words: list[str | Num] = ["Upkeep. "]
    power = [r for r in given.costs.running if not r.rented]
    if power:
        total = by_line["electricity"]
        words += ["Electricity costs ", total, ", at ", power[0].charge.price, ". "]
    if kept:
        total = given.ledger.total([f.charge.direct for f in kept], "upkeep, direct")
        names = listed(f.fixed.name for f in kept)
        words += [f"{names} cost ", total, "."]
    extras = given.loaded.problem.rules.machine_extras
    if given.costs.equipment and extras:
        words.append(f"In the price of each machine: {listed(each.name for each in extras)}.")
    elif not kept:
        words.append("No warranty, rack space or staff is asked for.")
    return tuple(words)


def _data(given: Material, by_line: Mapping[str, Num]) -> Words:
    kept = [f for f in given.costs.fixed if f.fixed.kind == "storage"]
    if not kept:
        return ("Data. No storage is asked for.",)
    total = by_line["storage"]
    names = listed(f.fixed.name for f in kept)
    return (f"Data. {names}: ", total, ".")


def listed(names: Iterable[str]) -> str:
    """``A, B and C``; with semicolons where the names have commas."""
    every = list(dict.fromkeys(names))
    mark, end = ("; ", "; and ") if any(", " in name for name in every) else (", ", " and ")
    if len(every) < 2:
        return "".join(every)
    return f"{mark.join(every[:-1])}{end}{every[-1]}"


def rented_name(given: Material, r: RunningCost) -> str:
    """An instance as a reader says it: ``1 × H100 at lambda (on-demand)``."""
    rental = given.book.rentals[r.placed[0].machine_id]
    gpus = r.label.removesuffix(f", {rental.provider}").removesuffix(f", {rental.kind}")
    return f"{gpus} at {rental.provider}" + ("" if rental.allocation else f" ({rental.kind})")


def runs_done(given: Material) -> Num:
    """Of the plan."""
    return given.ledger.leaf("plan", given.plan.runs, "runs", "runs done", what="runs")
