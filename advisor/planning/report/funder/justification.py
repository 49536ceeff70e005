"""The justification of a request: short paragraphs to paste into a form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from advisor.costs.amounts import day_words
from advisor.planning.grant.candidates.cost_lines import line_words
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_file import GrantExperiment
from advisor.planning.grant.toml_reader import exact
from advisor.planning.report.budget_entries import is_equipment, machine_alone
from advisor.planning.report.funder.computing_hours import hours_words, renting_words
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.phrases import listed
from advisor.planning.report.plan_costs import EquipmentCost, Material
from advisor.planning.report.report import Words
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


def justification(given: Material, by_line: Mapping[str, Num], *, asks: bool) -> list[Words]:
    """A short paragraph a question: need, choice, what exists, cloud, campus, upkeep, data.

    ``by_line`` has what each line of the budget comes to in all; ``asks`` says whether the funder
    is asked for any of it.
    """
    paragraphs = [
        _need(given),
        *_choices(given, asks=asks),
        _compared(given),
        existing_words(given),
        renting_words(given, by_line),
        *hours_words(given),
        staff_words(given),
        upkeep_words(given, by_line),
        data_words(given),
        other_words(given),
    ]
    return [_trimmed(words) for words in paragraphs if words]


def _trimmed(words: Words) -> Words:
    """Without a space at its end."""
    *before, last = words
    return (*before, last.rstrip() if isinstance(last, str) else last)


def _need(given: Material) -> Words:
    wanted = given.loaded.grant.experiments
    found = {each.model: given.loaded.snapshot.model(each.model) for each in wanted}
    models = {m.recipe_id: m for m in found.values()}
    models_of = {name: m.recipe_id for name, m in found.items()}
    groups = {each.who for each in wanted}
    words: list[str | Num] = ["Need. The project trains "]
    for n, model in enumerate(models.values(), start=1):
        mark = "" if n == 1 else " and " if n == len(models) else ", "
        words += [f"{mark}{model.name} (", *_work(given, model), ")"]
        # A group is not said to want what others, or nobody in particular, asked for.
        if None in groups:
            words.append(_for_whom(w for w in wanted if models_of[w.model] == model.recipe_id))
    if None not in groups:
        words.append(_for_whom(wanted))
    words += [": ", runs_done(given), " in all"]
    if given.plan.left_out:
        left = given.ledger.leaf(
            "plan", sum(given.plan.left_out.values()), "runs", "runs left out", what="left out"
        )
        words += [". The money does not reach a further ", left]
    each = "Each run" if given.plan.runs != 1 else "It"
    words.append(f". {each} trains the whole model once, from random weights.")
    return tuple(words)


def _for_whom(wanted: Iterable[GrantExperiment]) -> str:
    """`` for the vision group``; nothing where one of them is for nobody in particular."""
    groups = [each.who for each in wanted]
    return "" if None in groups else f" for {listed(filter(None, groups))}"


def _work(given: Material, model: Model) -> Words:
    """How large a model is, and on how much it is trained."""

    def leaf(value: int, unit: str, column: str) -> Num:
        label = f"{unit} of {model.name}"
        return given.ledger.leaf("model", value, unit, label, model=model.recipe_id, column=column)

    seen = model.batch_size * model.training_steps
    if model.sequence_length is not None:
        of = leaf(seen * model.sequence_length, "tokens", "tokens")
    else:
        of = leaf(seen, "images", "images")
    return (leaf(model.parameters, "parameters", "parameters"), ", ", of)


def _choices(given: Material, *, asks: bool) -> list[Words]:
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
        begins = "Choice. We ask for " if asks else "Choice. The project buys "
        words: list[str | Num] = [begins, *asked_for(given, e), *_price(given, e)]
        kind = "equipment" if is_equipment(given, e) else "supplies, below the threshold"
        if e.machine.in_base is not None:
            kind = "a service"
        of = "It counts" if e.count.value == 1 else "Each counts"
        words.append(f". {of} as {kind}. ")
        for each in e.charge.apart:
            name = line_words(each.extra.kind, each.extra.name)
            every = "" if e.count.value == 1 else " for each"
            words += ["Beside it we ask for " if asks else "Beside it stands ", each.each]
            words.append(f"{every} for {name}, on its own line. ")
        if e.machine.share_of is not None:
            words += _served(given, e)
        if names:
            words.append(f"{'It trains' if e.count.value == 1 else 'They train'} {names}. ")
            times = [
                (options[p.machine_id].times[given.book.experiments[p.experiment_id].model], p)
                for p in runs
            ]
            time, longest = max(times, key=lambda each: each[0].days)
            model = given.loaded.models[given.book.experiments[longest.experiment_id].model].name
            label = options[longest.machine_id].label
            which = "The run" if len(runs) == 1 else f"The longest of these runs ({model})"
            words += [
                f"{which} takes ",
                _as_estimated(given.book.time(time, f"{model} on {label}"), time),
                *_how_sure(given, time, f"{model} on {label}"),
                ". ",
            ]
        if given.cheapest and _others(given, e):
            rented = " or rented computer" if given.loaded.grant.rent else ""
            words.append(f"No other machine{rented} that we compared does this work for less.")
        found.append(tuple(words))
    return found


def _others(given: Material, e: EquipmentCost) -> bool:
    """Whether anything else was compared that could be bought or rented."""
    problem = given.loaded.problem
    bought = any(m.lines and m.machine_id != e.machine.machine_id for m in problem.machines)
    return bought or bool(problem.rentals)


def _how_sure(given: Material, time: RunTime, label: str) -> Words:
    """Whether a time was measured; of an estimate, between what it should lie."""
    if time.basis != "predicted":
        return (" (measured)",)
    if time.days_low is None or time.days_high is None:
        return (" (an estimate)",)

    def end(value: float, column: str) -> Num:
        num = given.ledger.leaf(
            "time",
            value,
            "days",
            f"{'least' if column.endswith('low') else 'most'} days, {label}",
            measurement_id=time.measurement_id,
            column=column,
        )
        return _as_estimated(num, time)

    low = end(time.days_low, "training_days_low")
    return (" (an estimate: ", low, " to ", end(time.days_high, "training_days_high"), ")")


def _as_estimated(num: Num, time: RunTime) -> Num:
    """Days of a run with no more digits than they are worth."""
    return replace(num, estimate=time.basis == "predicted")


def _served(given: Material, e: EquipmentCost) -> Words:
    """What a share of a condo is, and for how long."""
    number, years = next(
        (n, asked.lasts_years)
        for n, asked in enumerate(given.loaded.grant.allocations, start=1)
        if asked.name == e.machine.share_of
    )
    assert years is not None
    key = f"allocations[{number}].lasts_years"
    lasts = given.book.setting(key, exact(years), "years", f"years of {e.machine.label}")
    it = "It stands" if e.count.value == 1 else "They stand"
    unit = "year" if years == 1 else "years"
    return (f"{it} in {e.machine.share_of}, which runs and powers it for ", lasts, f" {unit}. ")


def asked_for(given: Material, e: EquipmentCost) -> Words:
    """Machines, or GPUs that go into machines of the lab; the day of the order where the same are
    ordered on several."""
    same = [each for each in given.costs.equipment if each.machine.label == e.machine.label]
    when = f"; ordered on {day_words(e.bought_on)}" if len(same) > 1 else ""
    if e.machine.share_of is not None and e.count.value == 1:
        gpus = f"{e.machine.gpu_count} × {e.machine.gpu_name}"
        return (f"a share of {e.machine.share_of} ({gpus}{when})",)
    added = "" if e.machine.upgrade_of is None else "GPUs for "
    return (added, e.count, f" ({e.machine.label}{when})")


def _price(given: Material, e: EquipmentCost) -> list[str | Num]:
    """What one machine costs, and how what is charged follows from it."""
    rules = rules_on(e.machine, given.loaded.problem.rules)
    day = given.loaded.problem.orders[e.order]
    quoted = machine_price(given.ledger, e.machine, e.lines)
    paid, changed = paid_price(given.ledger, e.machine, quoted, rules, day)
    each = "" if e.count.value == 1 else " each"
    charged = machine_alone(given, e).charge.each
    words: list[str | Num] = [" at ", paid, each]
    summed = any(priced.line.quote_kind == "parts-list" for priced in e.lines)
    told = all(priced.line.quote_kind == "secondary" for priced in e.lines)
    how = "as told by others" if told else "as quoted"
    how = "added up from its parts" if summed else how
    if changed:
        words += [" (", quoted, f" {how}", *_from_quoted_to_paid(given, e), ")"]
    elif summed or told:
        words.append(f" ({how})")
    form = funder_form(given.loaded.grant.funder)
    named = form.names_cost_share
    if rules.cost_share and named:
        share = given.book.setting(
            "purchases.cost_share", rules.cost_share, "share", "paid by others"
        )
        words += [f", of which {given.loaded.grant.cost_share_by} pays ", share]
    if rules.life_months is not None and e.machine.in_base is None:
        within, life = months_charged(given.ledger, rules, day)
        use = share_of_use(given.ledger, rules)
        whose = "its" if e.count.value == 1 else "their"
        words += [f". We ask for {whose} depreciation, ", within, " of ", life, " months at ", use]
        words += [" use: ", charged, each]
    elif rules.cost_share:
        part = ": " if named else ", shared with another project; asked for here: "
        # What the funder pays a share of, or others pay a sum of, is not asked for whole.
        whole = form.pays is None and not given.loaded.grant.shared_usd
        counted = " is asked for" if whole else " stands in the budget"
        words += [part, charged, each, counted if named else ""]
    return words


def _from_quoted_to_paid(given: Material, e: EquipmentCost) -> list[str | Num]:
    """Each step with its number, in the order in which they are reckoned."""
    rules, setting = given.loaded.problem.rules, given.book.setting
    words: list[str | Num] = []
    if rules.price_change and given.loaded.problem.orders[e.order]:
        change = setting("purchases.price_change", rules.price_change, "share", "change a year")
        words += ["; changed by ", change, " a year until the order"]
    if rules.discount:
        off = setting("purchases.educational_discount", rules.discount, "share", "discount")
        words += ["; less ", off, " educational discount"]
    if rules.vat:
        words += ["; plus ", setting("budget.vat", rules.vat, "share", "value-added tax")]
        words.append(" value-added tax")
    for extra in extras_of(e.machine, rules):
        if extra.apart:
            continue
        added = extra.usd if extra.usd is not None else extra.share_of_price
        assert added is not None
        unit = "usd" if extra.usd is not None else "share"
        of = "" if extra.usd is not None else " of that"
        words += ["; plus ", setting(extra.key, added, unit, extra.name)]
        words.append(f"{of} for {line_words(extra.kind, extra.name)}")
    return words


def _compared(given: Material) -> Words:
    """By what plans were compared, where that is not what is paid."""
    life = given.loaded.grant.lifetime_years
    if life is None or not given.costs.equipment:
        return ()
    years = given.book.setting("purchases.lifetime_years", life, "years", "life of a machine")
    return (
        "Comparison. We compared plans by what their machines lose in value within the grant, "
        "over a life of ",
        years,
        f" {'year' if life == 1 else 'years'}, not by what is paid for them.",
    )


def runs_done(given: Material) -> Num:
    """Of the plan."""
    return given.ledger.leaf("plan", given.plan.runs, "runs", "runs done", what="runs")


def existing_words(given: Material) -> Words:
    """Each kind of machine that is there and what it does; of one that does nothing, why."""
    owned = given.loaded.grant.owned
    if not owned:
        return ("What exists. We have no machine for this work.",)
    done = {n: _runs_on(given, n) for n in range(1, len(owned) + 1)}
    upgrades = {e.machine.machine_id for e in given.costs.equipment if e.machine.upgrade_of}
    idle = {} if upgrades else {n: _why_unused(given, n) for n, runs in done.items() if not runs}
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
            have += [", used for ", _runs_num(given, done[n], n)] if done[n] else [idle[n]]
    all_done = sum(done.values())
    count = _runs_num(given, all_done)
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


def _why_unused(given: Material, number: int) -> str:
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


def _runs_num(given: Material, runs: int, number: int | None = None) -> Num:
    if number is None:
        what, label = "runs on owned machines", "runs on machines of the lab"
        return given.ledger.leaf("plan", runs, "runs", label, what=what)
    label = f"runs on machines of the lab, kind {number}"
    return given.ledger.leaf("plan", runs, "runs", label, what="runs on owned", owned=number)


def upkeep_words(given: Material, by_line: Mapping[str, Num]) -> Words:
    kept = [*_lines_of(given, "warranty"), *_lines_of(given, "racks")]
    words: list[str | Num] = ["Upkeep. "]
    power = [r for r in given.costs.running if not r.rented]
    if power:
        total = by_line["electricity"]
        words += ["Electricity costs ", total, ", at ", power[0].charge.price, ". "]
    for name, total in kept:
        words += [f"{name}: ", total, ". "]
    stated = _warranties(given)
    if stated:
        words.append(f"Warranty as the vendor states it: {'; '.join(stated)}. ")
    extras = given.loaded.problem.rules.machine_extras
    paid = [r for r in given.costs.running if r.rented and r.charge.direct.value]
    rentals = [given.book.rentals[r.placed[0].machine_id] for r in paid]
    if any(each.allocation is None for each in rentals):
        words.append("The providers maintain the rented computers. ")
    elif rentals:
        who = list(dict.fromkeys(each.provider for each in rentals))
        words.append(f"{listed(who)} maintain{'s' if len(who) == 1 else ''} the computers. ")
    if extras and any(e.machine.share_of is None for e in given.costs.equipment):
        inside = [line_words(each.kind, each.name) for each in extras if not each.apart]
        beside = [line_words(each.kind, each.name) for each in extras if each.apart]
        if inside:
            words.append(f"In the price of each machine: {listed(inside)}. ")
        if beside:
            words.append(f"Beside each machine: {listed(beside)}.")
    elif not kept:
        more = "further warranty" if stated else "warranty"
        what = ", rack space or staff" if not _lines_of(given, "staff") else " or rack space"
        words.append(f"No {more}{what} is asked for.")
    return tuple(words)


def staff_words(given: Material) -> Words:
    """People whom the grant pays, each line with its amount."""
    kept = _lines_of(given, "staff")
    if not kept:
        return ()
    return ("Staff.", *(word for name, total in kept for word in (f" {name}: ", total, ".")))


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


def data_words(given: Material) -> Words:
    kept = _lines_of(given, "storage")
    if not kept:
        return ("Data. No storage is asked for.",)
    return ("Data.", *(word for name, total in kept for word in (f" {name}: ", total, ".")))


def other_words(given: Material) -> Words:
    """What is neither computers nor their upkeep or data, each with its amount."""
    kept = [*_lines_of(given, "network"), *_lines_of(given, "other")]
    if not kept:
        return ()
    return ("Other costs.", *(word for name, total in kept for word in (f" {name}: ", total, ".")))


def _lines_of(given: Material, kind: str) -> list[tuple[str, Num]]:
    """The lines of a kind that cost anything, each with what is asked for it in all."""
    found: dict[str, list[Num]] = {}
    for f in given.costs.fixed:
        if f.fixed.kind == kind and f.fixed.usd:
            found.setdefault(f.fixed.name, []).append(f.charge.direct)
    return [
        (name, given.ledger.total(nums, f"{name}, in all years")) for name, nums in found.items()
    ]
