"""Facts of a justification: what is trained, which machines are bought, what the lab has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from advisor.costs.amount_words import day_words
from advisor.planning.grant.candidates.cost_lines import line_words
from advisor.planning.grant.grant_keys import GrantExperiment
from advisor.planning.report.budget_entries import is_equipment, machine_alone
from advisor.planning.report.document import listed
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import EquipmentCost, Material
from advisor.planning.report.report_numbers import runs_done, solve_num
from advisor.planning.solver.money.charges import rules_on
from advisor.planning.solver.money.prices import (
    extras_of,
    machine_price,
    months_charged,
    paid_price,
    share_of_use,
)
from advisor.planning.solver.plan import Placed
from advisor.planning.unused_gpus import unused_gpus
from advisor.ranking.times import Model


def need(given: Material) -> dict[str, Any]:
    """The models with their sizes, for whom, and how many runs."""
    placed = {p.experiment_id for p in given.plan.placed}
    every = given.grant.experiments
    # Who gets nothing of it is not named as one of those who benefit.
    wanted = [each for each in every if _gets_runs(each, placed)] or every
    models = {each.name: given.loaded.model_of(each) for each in wanted}
    unnamed = any(each.who is None for each in wanted)
    trained = []
    for model in {m.recipe_id: m for m in models.values()}.values():
        mine = [each for each in wanted if models[each.name].recipe_id == model.recipe_id]
        # A group is named only where every experiment of the model is for a group.
        trained.append((model.name, *_work(given, model), _for_whom(mine) if unnamed else ""))
    runs, left = sum(given.plan.left_out.values()), None
    if runs:
        left = given.ledger.leaf("plan", runs, "runs", "runs left out", what="left out")
    tuned = {each.train for each in wanted}
    return {
        "runs": runs_done(given),
        "trained": trained,
        "whom": _for_whom(wanted),
        "left": left,
        "own_command": any(model.own_command for model in models.values()),
        "tuned": tuned,
    }


def _gets_runs(wanted: GrantExperiment, placed: Iterable[str]) -> bool:
    return any(e == wanted.name or e.startswith(f"{wanted.name}, year ") for e in placed)


def _for_whom(wanted: Iterable[GrantExperiment]) -> str:
    """The groups; empty where an experiment names none."""
    groups = [each.who for each in wanted]
    return "" if None in groups else listed(filter(None, groups))


def _work(given: Material, model: Model) -> tuple[Num, Num]:
    """How large a model is, and on how much it is trained."""

    def leaf(value: int, what: str) -> Num:
        label = f"{what} of {model.name}"
        return given.ledger.leaf("model", value, what, label, model=model.recipe_id, column=what)

    seen = model.batch_size * model.training_steps
    what = "steps" if model.own_command else "images"
    if model.sequence_length is not None:
        seen, what = seen * model.sequence_length, "tokens"
    return leaf(model.parameters, "parameters"), leaf(seen, what)


def choices(given: Material) -> list[dict[str, Any]]:
    """Of each machine that is bought: what it costs, what it counts as and what it trains."""
    return [
        {
            "e": e,
            "what": asked_for(given, e),
            "equipment": is_equipment(given, e),
            "years": _years_of_share(given, e),
            "cheapest": given.cheapest and _others(given, e),
            **_price(given, e),
            **_trains(given, e),
        }
        for e in given.costs.equipment
    ]


def cheaper_without_quote(given: Material) -> dict[str, Any] | None:
    """What needs a quote and would do the same for less; None where nothing would."""
    found = [each for each in given.loaded.left_out if each.needs_quote and each.saves]
    if not found:
        return None
    change, label = {"needs_quote": True}, "saved by what needs a quote"
    assert found[0].saves is not None
    saves = solve_num(given.ledger, change, found[0].saves, "money", label, "saves")
    return {"what": listed(each.label for each in found), "saves": saves, "why": found[0].reason}


def asked_for(given: Material, e: EquipmentCost) -> str:
    """Machines, or GPUs that go into machines of the lab; the day of the order where the same are
    ordered on several."""
    same = [each for each in given.costs.equipment if each.machine.label == e.machine.label]
    when = f"; ordered on {day_words(e.bought_on)}" if len(same) > 1 else ""
    if e.machine.share_of is not None and e.count.value == 1:
        gpus = f"{e.machine.gpu_count} × {e.machine.gpu_name}"
        return f"a share of {e.machine.share_of} ({gpus}{when})"
    added = "" if e.machine.upgrade_of is None else "GPUs for "
    return f"{added}{e.count} ({e.machine.label}{when})"


def _others(given: Material, e: EquipmentCost) -> bool:
    """Whether anything else was compared that could be bought or rented."""
    problem = given.problem
    return bool(problem.rentals) or any(m.lines and m != e.machine for m in problem.machines)


def _years_of_share(given: Material, e: EquipmentCost) -> Num | None:
    """How many years a share of a condo lasts."""
    for n, asked in enumerate(given.grant.allocations, start=1):
        if e.machine.share_of == asked.name and asked.lasts_years is not None:
            key, label = f"allocations[{n}].lasts_years", f"years of {e.machine.label}"
            return given.setting(key, asked.lasts_years, "years", label)
    return None


def _trains(given: Material, e: EquipmentCost) -> dict[str, Any]:
    """Its models, and the longest of its runs."""
    bought = (e.machine.machine_id, e.order)
    runs = [p for p in given.plan.placed if (given.problem.whole(p.machine_id), p.order) == bought]
    if not runs:
        return {"trains": ""}
    trains = listed(given.loaded.models[given.model_of(p)].name for p in runs)
    return {"trains": trains, **longest_of(given, runs)}


def longest_of(given: Material, runs: Sequence[Placed]) -> dict[str, Any]:
    """The longest of some runs, with how sure its time is."""
    options = given.problem.options()
    timed = [(options[p.machine_id], given.model_of(p)) for p in runs]
    option, model = max(timed, key=lambda each: each[0].times[each[1]].days)
    time, name = option.times[model], given.loaded.models[model].name
    label, ends = f"{name} on {option.label}", None
    days = given.time(time, label)
    if time.basis == "predicted":
        days = days.about
        ends = [num.about for num in given.time_ends(time, label) if num]
    return {
        "runs": len(runs),
        "longest": name,
        "days": days,
        "ends": ends,
    }


def _price(given: Material, e: EquipmentCost) -> dict[str, Any]:
    """What one machine costs, each step from its quote, and what of it is charged."""
    rules = rules_on(e.machine, given.problem.rules)
    setting, day = given.setting, given.problem.orders[e.order]
    quoted = machine_price(given.ledger, e.machine, e.lines)
    paid = paid_price(given.ledger, e.machine, rules, day)
    changed = paid is not quoted
    kinds = {priced.line.quote_kind for priced in e.lines}
    how = "as reported by others" if kinds == {"secondary"} else "as quoted"
    how = "added up from its parts" if "parts-list" in kinds else how
    if any(priced.line.tax for priced in e.lines):
        how += ", less the tax in it"
    share, months, use = None, None, None
    if rules.cost_share:
        label = "paid by others"
        share = setting("purchases.cost_share", rules.cost_share, "share", label)
    if rules.life_months is not None and e.machine.in_base is None:
        months, use = months_charged(given.ledger, rules, day), share_of_use(given.ledger, rules)
    return {
        "paid": paid,
        "how": how if changed or how != "as quoted" else "",
        "quoted": quoted if changed else None,
        "steps": list(_steps(given, e)) if changed else [],
        "charged": machine_alone(e).each,
        "share_paid": share,
        "months": months,
        "use": use,
    }


def _steps(given: Material, e: EquipmentCost) -> Iterable[str]:
    """From the quoted price to what is paid, in the order in which they are reckoned."""
    rules, setting = given.problem.rules, given.setting
    if rules.price_change and given.problem.orders[e.order]:
        change = setting("purchases.price_change", rules.price_change, "share", "change a year")
        yield f"changed by {change} a year until the order"
    if rules.discount:
        off = setting("purchases.educational_discount", rules.discount, "share", "discount")
        yield f"less {off} educational discount"
    if rules.vat:
        vat = setting("budget.vat", rules.vat, "share", "value-added tax")
        yield f"plus {vat} value-added tax"
    for extra in extras_of(e.machine, rules):
        if not extra.apart:
            unit = "share" if extra.amount is None else "money"
            added = extra.share_of_price if extra.amount is None else extra.amount
            assert added is not None
            of = " of that" if extra.amount is None else ""
            num = setting(extra.key, added, unit, extra.name)
            yield f"plus {num}{of} for {line_words(extra.kind, extra.name)}"


def existing(given: Material) -> dict[str, Any]:
    """Each kind of machine that is there and what it does; of one that does nothing, why."""
    grant, problem, plan, ledger = given.grant, given.problem, given.plan, given.ledger
    unused = unused_gpus(problem, plan)
    upgrades = {e.machine.machine_id for e in given.costs.equipment if e.machine.upgrade_of}
    wholes = [problem.whole(p.machine_id) for p in plan.placed]

    def runs(number: int, label: str, **origin: Any) -> Num | None:
        return ledger.leaf("plan", number, "runs", label, **origin) if number else None

    def gpus(number: int, label: str) -> Num:
        return ledger.leaf("plan", number, "GPUs", label, what=label)

    have, all_done = [], 0
    for n, own in enumerate(grant.owned, start=1):
        mine = f"owned:{n}:"
        label = next(m.label for m in problem.machines if m.machine_id.startswith(mine))
        done = sum(name.startswith(mine) and name not in upgrades for name in wholes)
        all_done += done
        why = [u.why for u in unused if u.machine.machine_id.startswith(mine)]
        have.append(
            {
                "count": given.setting(f"owned[{n}].machines", own.machines, "machines", label),
                "label": label.removesuffix(" (owned)"),
                "each": own.machines > 1,
                "runs": runs(done, f"runs on {label}", what="runs on owned", owned=n),
                "idle": why[0] if why and not done and not upgrades else "",
            }
        )
    grown = sum(name in upgrades for name in wholes)
    label = "runs on upgraded machines"
    return {
        "have": have,
        "grown": runs(grown, label, what=label),
        "cannot": 0 < all_done < plan.runs and given.cheapest and not upgrades,
        "partly": [
            (gpus(left.unused, f"unused GPUs of {left.name}"), gpus(left.gpus, left.name), left)
            for left in unused
            if left.unused != left.gpus
        ],
    }


def upkeep(given: Material) -> dict[str, Any]:
    """Who pays for electricity, warranty and care."""
    extras, equipment = given.problem.rules.machine_extras, given.costs.equipment
    power = [r for r in given.costs.running if not r.rented]
    paid = [r for r in given.costs.running if r.rented and r.charge.direct.value]
    rentals = [given.rentals[r.placed[0].machine_id] for r in paid]
    own = any(e.machine.share_of is None for e in equipment)
    every = [(line_words(x.kind, x.name), x.apart) for x in extras] if own else []
    return {
        "power": power[0].charge.price if power else None,
        "lines": {
            kind: _lines_of(given, kind) for kind in ("staff", "storage", "network", "other")
        },
        "kept": [*_lines_of(given, "warranty"), *_lines_of(given, "racks")],
        "warranties": _warranties(given),
        "market": any(each.allocation is None for each in rentals),
        "hosts": list(dict.fromkeys(each.provider for each in rentals)),
        "inside": [words for words, apart in every if not apart],
        "beside": [words for words, apart in every if apart],
    }


def _warranties(given: Material) -> list[str]:
    """What comes with each machine that is bought, in its vendor's words."""
    found: dict[str, list[str]] = {}
    for e in given.costs.equipment:
        ids = (p.line.quote_id for p in e.lines if p.line.item_kind != "gpu")
        for warranty in dict.fromkeys(given.loaded.quotes[each].warranty for each in ids):
            if warranty:
                found.setdefault(warranty, []).append(e.machine.label)
    return [f"{warranty} ({listed(labels)})" for warranty, labels in found.items()]


def _lines_of(given: Material, kind: str) -> list[tuple[str, Num]]:
    """The lines of a kind that cost anything, each with what is asked for it in all."""
    found: dict[str, list[Num]] = {}
    for each, charge in given.costs.fixed:
        if each.kind == kind and each.amount:
            found.setdefault(each.name, []).append(charge.direct)
    return [
        (name, given.ledger.total(nums, f"{name}, in all years")) for name, nums in found.items()
    ]
