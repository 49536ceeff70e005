"""The justification of a request: short paragraphs to paste into a form."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from advisor.costs.amount_words import day_words
from advisor.planning.grant.candidates.cost_lines import line_words
from advisor.planning.grant.grant_keys import GrantExperiment
from advisor.planning.report.budget_entries import is_equipment, machine_alone
from advisor.planning.report.funder.compute_and_carbon import compute_and_carbon
from advisor.planning.report.funder.computing_hours import hours_words, renting_words
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.phrases import listed, runs_done
from advisor.planning.report.plan_costs import EquipmentCost, Material
from advisor.planning.solver.money.charges import rules_on
from advisor.planning.solver.money.prices import (
    extras_of,
    machine_price,
    months_charged,
    paid_price,
    share_of_use,
)
from advisor.planning.solver.problem import RunTime
from advisor.planning.unused_gpus import unused_gpus
from advisor.ranking.times import Model


def justification(given: Material, by_line: Mapping[str, Num], *, asks: bool) -> list[str]:
    """A short paragraph a question: need, choice, what exists, cloud, campus, upkeep, data.

    ``by_line`` has what each line of the budget comes to in all; ``asks`` says whether the funder
    is asked for any of it.
    """
    paragraphs = [
        _need(given),
        *_choices(given, asks=asks),
        _compared(given),
        _existing(given),
        renting_words(given, by_line),
        *hours_words(given),
        compute_and_carbon(given),
        _costs_of(given, "Staff", "staff"),
        _upkeep(given, by_line),
        _costs_of(given, "Data", "storage") or "Data. No storage is asked for.",
        _costs_of(given, "Other costs", "network", "other"),
    ]
    return [text.rstrip() for text in paragraphs if text]


def _need(given: Material) -> str:
    placed = {p.experiment_id for p in given.plan.placed}
    every = given.loaded.grant.experiments
    # Who gets nothing of it is not named as one of those who benefit.
    wanted = [each for each in every if _gets_runs(each, placed)] or every
    found = {each.name: given.loaded.model_of(each) for each in wanted}
    models = {m.recipe_id: m for m in found.values()}
    groups = {each.who for each in wanted}
    trained = []
    for model in models.values():
        mine = [each for each in wanted if found[each.name].recipe_id == model.recipe_id]
        # A group is named only where every experiment of the model is for a group.
        whom = _for_whom(mine) if None in groups else ""
        trained.append(f"{model.name} ({_work(given, model)}){whom}")
    names = " and ".join(filter(None, (", ".join(trained[:-1]), trained[-1])))
    whom = "" if None in groups else _for_whom(wanted)
    text = f"Need. The project trains {names}{whom}: {runs_done(given)} in all"
    if given.plan.left_out:
        runs = sum(given.plan.left_out.values())
        left = given.ledger.leaf("plan", runs, "runs", "runs left out", what="left out")
        text += f". The money does not reach a further {left}"
    each = "Each run" if given.plan.runs != 1 else "It"
    if any(model.own_command for model in models.values()):
        return f"{text}. {each} trains the whole model once."
    tuned = [each.train != "pretrain" for each in wanted]
    if all(tuned):
        return f"{text}. {each} trains from published weights."
    if any(tuned):
        return (
            f"{text}. Pre-training begins with random weights, fine-tuning with published weights."
        )
    return f"{text}. {each} trains the whole model once, from random weights."


def _gets_runs(wanted: GrantExperiment, placed: Collection[str]) -> bool:
    return any(e == wanted.name or e.startswith(f"{wanted.name}, year ") for e in placed)


def _for_whom(wanted: Iterable[GrantExperiment]) -> str:
    """`` for the vision group``; empty where one of them names no group."""
    groups = [each.who for each in wanted]
    return "" if None in groups else f" for {listed(filter(None, groups))}"


def _work(given: Material, model: Model) -> str:
    """How large a model is, and on how much it is trained."""

    def leaf(value: int, what: str) -> Num:
        label = f"{what} of {model.name}"
        return given.ledger.leaf("model", value, what, label, model=model.recipe_id, column=what)

    seen = model.batch_size * model.training_steps
    if model.sequence_length is not None:
        of = leaf(seen * model.sequence_length, "tokens")
    else:
        of = leaf(seen, "steps" if model.own_command else "images")
    return f"{leaf(model.parameters, 'parameters')}, {of}"


def _choices(given: Material, *, asks: bool) -> list[str]:
    """Of each machine that is bought: what it costs, what it counts as and what it trains."""
    found, book = [], given.book
    options = given.loaded.problem.options()
    for e in given.costs.equipment:
        bought = (e.machine.machine_id, e.order)
        one = e.count.value == 1
        text = f"Choice. {'We ask for' if asks else 'The project buys'} {asked_for(given, e)}"
        text += _price(given, e)
        kind = "equipment" if is_equipment(given, e) else "supplies, below the threshold"
        if e.machine.in_base is not None:
            kind = "a service"
        text += f". {'It counts' if one else 'Each counts'} as {kind}. "
        for each in e.charge.apart:
            begins = "Beside it we ask for" if asks else "Beside it stands"
            name, every = line_words(each.extra.kind, each.extra.name), "" if one else " for each"
            text += f"{begins} {each.each}{every} for {name}, on its own line. "
        if e.machine.share_of is not None:
            text += _served(given, e)
        runs = [
            p for p in given.plan.placed if (book.problem.whole(p.machine_id), p.order) == bought
        ]
        if runs:
            names = listed(given.loaded.models[book.model_of(p)].name for p in runs)
            text += f"{'It trains' if one else 'They train'} {names}. "
            longest = max(runs, key=lambda p: options[p.machine_id].times[book.model_of(p)].days)
            option = options[longest.machine_id]
            time = option.times[book.model_of(longest)]
            model = given.loaded.models[book.model_of(longest)].name
            which = "The run" if len(runs) == 1 else f"The longest of these runs ({model})"
            label = f"{model} on {option.label}"
            days = replace(book.time(time, label), estimate=time.basis == "predicted")
            text += f"{which} takes {days}{_how_sure(given, time, label)}. "
        if given.cheapest and _others(given, e):
            rented = " or rented computer" if given.loaded.grant.rent else ""
            text += f"No other machine{rented} that we compared does this work for less."
        found.append(text)
    return found


def _others(given: Material, e: EquipmentCost) -> bool:
    """Whether anything else was compared that could be bought or rented."""
    problem = given.loaded.problem
    bought = any(m.lines and m.machine_id != e.machine.machine_id for m in problem.machines)
    return bought or bool(problem.rentals)


def _how_sure(given: Material, time: RunTime, label: str) -> str:
    """Whether a time was measured; of an estimate, between what it should lie."""
    if time.basis != "predicted":
        return " (measured)"
    if time.days_low is None or time.days_high is None:
        return " (an estimate)"
    low, high = (replace(num, estimate=True) for num in given.book.time_ends(time, label) if num)
    return f" (an estimate: {low} to {high})"


def _served(given: Material, e: EquipmentCost) -> str:
    """What a share of a condo is, and for how long."""
    number, years = next(
        (n, asked.lasts_years)
        for n, asked in enumerate(given.loaded.grant.allocations, start=1)
        if asked.name == e.machine.share_of
    )
    assert years is not None
    key = f"allocations[{number}].lasts_years"
    lasts = given.book.setting(key, years, "years", f"years of {e.machine.label}")
    it = "It stands" if e.count.value == 1 else "They stand"
    unit = "year" if years == 1 else "years"
    return f"{it} in {e.machine.share_of}, which runs and powers it for {lasts} {unit}. "


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


def _price(given: Material, e: EquipmentCost) -> str:
    """What one machine costs, and how what is charged follows from it."""
    rules, form = rules_on(e.machine, given.loaded.problem.rules), given.form
    day = given.loaded.problem.orders[e.order]
    quoted = machine_price(given.ledger, e.machine, e.lines)
    paid, changed = paid_price(given.ledger, e.machine, quoted, rules, day)
    each = "" if e.count.value == 1 else " each"
    charged = machine_alone(given, e).charge.each
    text = f" at {paid}{each}"
    summed = any(priced.line.quote_kind == "parts-list" for priced in e.lines)
    told = all(priced.line.quote_kind == "secondary" for priced in e.lines)
    how = "as reported by others" if told else "as quoted"
    how = "added up from its parts" if summed else how
    if changed:
        text += f" ({quoted} {how}{_from_quoted_to_paid(given, e)})"
    elif summed or told:
        text += f" ({how})"
    named = form.names_cost_share
    if rules.cost_share and named:
        label = "paid by others"
        share = given.book.setting("purchases.cost_share", rules.cost_share, "share", label)
        text += f", of which {given.loaded.grant.cost_share_by} pays {share}"
    if rules.life_months is not None and e.machine.in_base is None:
        within, life = months_charged(given.ledger, rules, day)
        use = share_of_use(given.ledger, rules)
        whose = "its" if e.count.value == 1 else "their"
        return (
            f"{text}. We ask for {whose} depreciation, {within} of {life} months at {use} use: "
            f"{charged}{each}"
        )
    if not rules.cost_share:
        return text
    if not named:
        return f"{text}, shared with another project; asked for here: {charged}{each}"
    # What the funder pays a share of, or others pay a sum of, is not asked for whole.
    whole = form.pays is None and not given.loaded.grant.shared
    return f"{text}: {charged}{each} {'is asked for' if whole else 'stands in the budget'}"


def _from_quoted_to_paid(given: Material, e: EquipmentCost) -> str:
    """Each step with its number, in the order in which they are reckoned."""
    rules, setting = given.loaded.problem.rules, given.book.setting
    text = ""
    if rules.price_change and given.loaded.problem.orders[e.order]:
        change = setting("purchases.price_change", rules.price_change, "share", "change a year")
        text += f"; changed by {change} a year until the order"
    if rules.discount:
        off = setting("purchases.educational_discount", rules.discount, "share", "discount")
        text += f"; less {off} educational discount"
    if rules.vat:
        vat = setting("budget.vat", rules.vat, "share", "value-added tax")
        text += f"; plus {vat} value-added tax"
    for extra in extras_of(e.machine, rules):
        if extra.apart:
            continue
        added = extra.amount if extra.amount is not None else extra.share_of_price
        assert added is not None
        unit, of = ("money", "") if extra.amount is not None else ("share", " of that")
        plus = setting(extra.key, added, unit, extra.name)
        text += f"; plus {plus}{of} for {line_words(extra.kind, extra.name)}"
    return text


def _compared(given: Material) -> str:
    """By what plans were compared, where that is not what is paid."""
    life = given.loaded.grant.lifetime_years
    if life is None or not given.costs.equipment:
        return ""
    years = given.book.setting("purchases.lifetime_years", life, "years", "life of a machine")
    return (
        "Comparison. We compared plans by what their machines lose in value within the grant, over "
        f"a life of {years} {'year' if life == 1 else 'years'}, not by what is paid for them."
    )


def _existing(given: Material) -> str:
    """Each kind of machine that is there and what it does; of one that does nothing, why."""
    owned, problem, plan = given.loaded.grant.owned, given.loaded.problem, given.plan
    if not owned:
        return "What exists. We have no machine for this work."
    unused = unused_gpus(problem, plan)

    def of_table(machine_id: str, number: int) -> bool:
        return machine_id.startswith(f"owned:{number}:")

    known = {m.machine_id for m in problem.machines}
    wholes = [problem.whole(p.machine_id) for p in plan.placed if p.machine_id in known]
    done = {n: sum(of_table(w, n) for w in wholes) for n in range(1, len(owned) + 1)}
    upgrades = {e.machine.machine_id for e in given.costs.equipment if e.machine.upgrade_of}
    idle = {
        n: next(
            (f", unused since {u.why}" for u in unused if of_table(u.machine.machine_id, n)), ""
        )
        for n, runs in done.items()
        if not runs and not upgrades
    }
    # What holds of all of them is said once, behind the last.
    apart = len({idle.get(n) for n in done}) > 1
    have = []
    for n, own in enumerate(owned, start=1):
        label = next(m.label for m in problem.machines if of_table(m.machine_id, n))
        number = given.book.setting(f"owned[{n}].machines", own.machines, "machines", label)
        each = " each" if own.machines > 1 else ""
        used = ""
        if apart:
            label_of_runs = f"runs on machines of the lab, kind {n}"
            used = (
                f", used for {_runs(given, done[n], label_of_runs, 'runs on owned', owned=n)}"
                if done[n]
                else idle[n]
            )
        have.append(f"{number} ({label.removesuffix(' (owned)')}{each}){used}")
    text = "What exists. We have " + "; and ".join(filter(None, ("; ".join(have[:-1]), have[-1])))
    all_done = sum(done.values())
    count = _runs(given, all_done, "runs on machines of the lab", "runs on owned machines")
    if upgrades:
        grown = sum(problem.whole(p.machine_id) in upgrades for p in plan.placed)
        label = "runs on upgraded machines"
        more = _runs(given, grown, label, label)
        alone = f", used for {count} as they are" if all_done else ""
        return f"{text}{alone}. With the GPUs that we ask for, {more} can be done there."
    if not all_done:
        return f"{text}{'' if apart else idle[1]}."
    text += "" if apart else f", used for {count}"
    if all_done < plan.runs and given.cheapest:
        they = "They" if sum(own.machines for own in owned) > 1 else "It"
        they = "What is used" if apart else they
        text += f". {they} cannot take the others in time, or only at a higher cost"
    text += "."
    for left in unused:
        if left.unused == left.gpus:
            continue
        label = f"GPUs of {left.name}"
        of = given.ledger.leaf("plan", left.gpus, "GPUs", label, what=label)
        label = f"unused {label}"
        free = given.ledger.leaf("plan", left.unused, "GPUs", label, what=label)
        verb = "stays" if left.unused == 1 else "stay"
        text += f" {free} of the {of} GPUs of {left.name} {verb} unused, since {left.why}."
    return text


def _runs(given: Material, runs: int, label: str, what: str, **origin: int) -> Num:
    return given.ledger.leaf("plan", runs, "runs", label, what=what, **origin)


def _upkeep(given: Material, by_line: Mapping[str, Num]) -> str:
    kept = [*_lines_of(given, "warranty"), *_lines_of(given, "racks")]
    text = "Upkeep. "
    power = [r for r in given.costs.running if not r.rented]
    if power:
        text += f"Electricity costs {by_line['electricity']}, at {power[0].charge.price}. "
    text += "".join(f"{name}: {total}. " for name, total in kept)
    stated = _warranties(given)
    if stated:
        text += f"Warranty as the vendor states it: {'; '.join(stated)}. "
    extras = given.loaded.problem.rules.machine_extras
    paid = [r for r in given.costs.running if r.rented and r.charge.direct.value]
    rentals = [given.book.rentals[r.placed[0].machine_id] for r in paid]
    if any(each.allocation is None for each in rentals):
        text += "The providers maintain the rented computers. "
    elif rentals:
        who = list(dict.fromkeys(each.provider for each in rentals))
        text += f"{listed(who)} maintain{'s' if len(who) == 1 else ''} the computers. "
    if extras and any(e.machine.share_of is None for e in given.costs.equipment):
        inside = [line_words(each.kind, each.name) for each in extras if not each.apart]
        beside = [line_words(each.kind, each.name) for each in extras if each.apart]
        text += f"In the price of each machine: {listed(inside)}. " if inside else ""
        text += f"Beside each machine: {listed(beside)}." if beside else ""
    elif not kept:
        more = "further warranty" if stated else "warranty"
        what = ", rack space or staff" if not _lines_of(given, "staff") else " or rack space"
        text += f"No {more}{what} is asked for."
    return text


def _warranties(given: Material) -> list[str]:
    """What comes with each machine that is bought, in its vendor's words."""
    found: dict[str, list[str]] = {}
    for e in given.costs.equipment:
        quotes = [
            given.loaded.quotes[p.line.quote_id] for p in e.lines if p.line.item_kind != "gpu"
        ]
        for warranty in {q.warranty: None for q in quotes if q.warranty}:
            found.setdefault(warranty, []).append(e.machine.label)
    if len(found) == 1 and len(next(iter(found.values()))) == len(given.costs.equipment):
        return list(found)
    return [f"{warranty} ({listed(labels)})" for warranty, labels in found.items()]


def _costs_of(given: Material, title: str, *kinds: str) -> str:
    """The lines of costs of these kinds, each with its amount; empty where there are none."""
    lines = [line for kind in kinds for line in _lines_of(given, kind)]
    told = "".join(f" {name}: {total}." for name, total in lines)
    return f"{title}.{told}" if told else ""


def _lines_of(given: Material, kind: str) -> list[tuple[str, Num]]:
    """The lines of a kind that cost anything, each with what is asked for it in all."""
    found: dict[str, list[Num]] = {}
    for f in given.costs.fixed:
        if f.fixed.kind == kind and f.fixed.amount:
            found.setdefault(f.fixed.name, []).append(f.charge.direct)
    return [
        (name, given.ledger.total(nums, f"{name}, in all years")) for name, nums in found.items()
    ]
