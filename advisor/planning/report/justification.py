"""The justification of a request: short paragraphs to paste without cleaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from advisor.planning.grant.checked_toml import exact
from advisor.planning.grant.cost_lines import line_words
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_file import GrantExperiment
from advisor.planning.report.award_years import is_equipment
from advisor.planning.report.cost_book import EquipmentCost, RunningCost
from advisor.planning.report.material import Material
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.other_costs import data_words, other_words, upkeep_words
from advisor.planning.report.report import Words
from advisor.planning.report.sentences import listed, solve_num
from advisor.planning.sensitivity.explain import Alternative
from advisor.planning.solver.charges import gpus_of_a_job, hours_in_a_day, rules_on
from advisor.planning.solver.groups import groups, runs_that_fit
from advisor.planning.solver.prices import machine_price, months_charged, paid_price, share_of_use
from advisor.planning.solver.problem import Allocation, Rental, RunTime
from advisor.planning.solver.rented import rented_ways
from advisor.ranking.times import Model
from price_catalog.providers import written_provider


def justification(given: Material, by_line: Mapping[str, Num]) -> list[Words]:
    """A short paragraph a question: need, choice, what exists, cloud, campus, upkeep, data.

    ``by_line`` has what each line of the budget asks for in all.
    """
    paragraphs = [
        _need(given),
        *_choices(given),
        _existing(given),
        _renting(given, by_line),
        *_granted(given),
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
        words += [", and ", left, " more for which the money does not reach"]
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
        words: list[str | Num] = ["Choice. We ask for ", *asked_for(e), *_price(given, e)]
        kind = "equipment" if is_equipment(given, e) else "supplies, below the threshold"
        if e.machine.in_base is not None:
            kind = "a service"
        of = "It counts" if e.count.value == 1 else "Each counts"
        words.append(f". {of} as {kind}. ")
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
            words += [
                f"The longest of these runs ({model}) takes ",
                _as_estimated(given.book.time(time, f"{model} on {label}"), time),
                *_how_sure(given, time, f"{model} on {label}"),
                ". ",
            ]
        if _cheapest(given) and _others(given, e):
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


def asked_for(e: EquipmentCost) -> Words:
    """Machines, or GPUs that go into machines of the lab."""
    if e.machine.share_of is not None and e.count.value == 1:
        return (f"a share of {e.machine.share_of} ({e.machine.gpu_count} × {e.machine.gpu_name})",)
    added = "" if e.machine.upgrade_of is None else "GPUs for "
    return (added, e.count, f" ({e.machine.label})")


def _price(given: Material, e: EquipmentCost) -> list[str | Num]:
    """What one machine costs, and how what is charged follows from it."""
    rules = rules_on(e.machine, given.loaded.problem.rules)
    day = given.loaded.problem.orders[e.order]
    quoted = machine_price(given.ledger, e.machine, e.lines)
    paid, changed = paid_price(given.ledger, e.machine, quoted, rules, day)
    each = "" if e.count.value == 1 else " each"
    words: list[str | Num] = [" at ", paid, each]
    if changed:
        summed = any(priced.line.quote_kind == "parts-list" for priced in e.lines)
        told = all(priced.line.quote_kind == "secondary" for priced in e.lines)
        how = "as told by others" if told else "as quoted"
        how = "added up from its parts" if summed else how
        words += [" (", quoted, f" {how}", *_from_quoted_to_paid(given, e), ")"]
    named = funder_form(given.loaded.grant.funder).names_cost_share
    if rules.cost_share and named:
        share = given.book.setting(
            "purchases.cost_share", rules.cost_share, "share", "paid by others"
        )
        words += [f", of which {given.loaded.grant.cost_share_by} pays ", share]
    if rules.life_months is not None and e.machine.in_base is None:
        within, life = months_charged(given.ledger, rules, day)
        use = share_of_use(given.ledger, rules)
        words += [". We ask for its depreciation, ", within, " of ", life, " months at ", use]
        words += [" use: ", e.charge.each, each]
    elif rules.cost_share:
        part = ": " if named else ", shared with another project; asked for here: "
        words += [part, e.charge.each, each, " is asked for" if named else ""]
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
    for extra in rules.machine_extras if e.machine.upgrade_of is None else ():
        added = extra.usd if extra.usd is not None else extra.share_of_price
        assert added is not None
        unit = "usd" if extra.usd is not None else "share"
        of = "" if extra.usd is not None else " of that"
        words += ["; plus ", setting(extra.key, added, unit, extra.name)]
        words.append(f"{of} for {line_words(extra.kind, extra.name)}")
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
            free = [
                r
                for r in given.costs.running
                if r.placed[0].machine_id in own and not r.charge.direct.value
            ]
            if free:  # what is paid for is among what is rented
                found.append(_free(given, free, each))
            continue
        found.append(_unused(given, each))
    known = {each.name for each in given.loaded.problem.allocations}
    bought = {e.machine.share_of for e in given.costs.equipment}
    for name in {m.share_of: None for m in given.loaded.problem.machines if m.share_of is not None}:
        known.add(str(name))
        if name not in bought:
            why = "The plan does not need a share of it."
            if _cheapest(given):
                why = "A share of it would not make this work cheaper."
            found.append((f"Why not {name}. {why}",))
    found += [
        (f"Why not {asked.name}. No training time of these models on its GPUs is known.",)
        for asked in given.loaded.grant.allocations
        if asked.name not in known
    ]
    return found


def _unused(given: Material, allocation: Allocation) -> Words:
    """Why the plan takes no hour of it: too few for any run, or nothing gained."""
    why = f"Why not {allocation.name}. "
    mine = [r for r in given.loaded.problem.rentals if r.allocation == allocation.allocation_id]
    number = allocation.allocation_id.partition(":")[2]
    granted = allocation.gpu_hours_a_year
    if granted is not None:
        fewest = min(
            (
                (time.days * r.gpu_count, r, model)
                for r in mine
                for model, time in r.times.items()
                if model in {e.model for e in given.loaded.problem.experiments}
            ),
            default=None,
            key=lambda each: each[0],
        )
        if fewest is not None and Decimal(str(fewest[0])) * 24 > granted:
            _, rental, model = fewest
            name = given.loaded.models[model].name
            time = given.book.time(rental.times[model], f"{name} on {rental.label}")
            gpus = gpus_of_a_job(given.ledger, rental)
            takes = given.ledger.compute(
                "product",
                [time, hours_in_a_day(given.ledger), gpus],
                "gpu-hours",
                f"GPU-hours of {name} on {rental.label}",
            )
            hours = given.book.setting(
                f"allocations[{number}].gpu_hours_a_year",
                granted,
                "gpu-hours",
                f"hours of {allocation.name} a year",
            )
            return (f"{why}It grants ", hours, " a year, and one run takes ", takes, " or more.")
    paid = min((r.usd_per_hour / r.gpu_count for r in mine), default=Decimal(0))
    names = {r.rental_id for r in mine}
    if all(way.rental.rental_id not in names for way in rented_ways(given.loaded.problem)):
        return (f"{why}No run that starts on its hours ends in time.",)
    if allocation.odds < 1:
        odds = given.book.setting(
            f"allocations[{number}].odds", allocation.odds, "share", f"odds of {allocation.name}"
        )
        return (f"{why}It is awarded with odds of ", odds, ", and the plan does not count on it.")
    if not _cheapest(given):
        return (f"{why}The plan does not need its hours.",)
    if not paid:
        return (f"{why}Its hours would not make this work cheaper.",)
    price = given.book.setting(
        f"allocations[{number}].usd_per_gpu_hour", paid, "usd-per-hour", "a GPU-hour"
    )
    return (f"{why}Its hours, at ", price, " and GPU, would not make this work cheaper.")


def _free(given: Material, granted: Sequence[RunningCost], allocation: Allocation) -> Words:
    """Runs on granted hours that cost nothing: how many, of which models, their GPU-hours."""
    ledger = given.ledger
    models = listed(
        given.loaded.models[given.book.experiments[r.experiment_id].model].name for r in granted
    )
    spent = [
        ledger.compute(
            "product",
            [r.runs, r.charge.amount, gpus_of_a_job(ledger, _rental_of(given, r))],
            "gpu-hours",
            f"GPU-hours of {given.book.experiments[r.experiment_id].name}",
        )
        for r in granted
    ]
    runs = ledger.total([r.runs for r in granted], f"runs on {allocation.name}", "runs")
    hours = ledger.total(spent, f"GPU-hours of {allocation.name}, in all", "gpu-hours")
    sizes = listed(rented_name(given, r) for r in granted)
    return ("Granted hours. ", runs, f" ({models}) on {sizes}: ", hours, ", free of charge.")


def _rental_of(given: Material, r: RunningCost) -> Rental:
    return given.book.rentals[r.placed[0].machine_id]


def _cheapest(given: Material) -> bool:
    """Whether nothing that was compared costs less: not where plans are compared by anything but
    what is paid, as the value that machines keep or the odds of an award."""
    problem = given.loaded.problem
    return (
        given.plan.proven
        and problem.objective == "cheapest"
        and problem.rules.lifetime_years is None
        and all(each.odds == 1 for each in problem.allocations)
    )


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
        each = " each" if own.machines > 1 else ""
        have += [mark, number, f" ({label.removesuffix(' (owned)')}{each})"]
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
    upgrades = {e.machine.machine_id for e in given.costs.equipment if e.machine.upgrade_of}
    grown = sum(given.book.problem.whole(p.machine_id) in upgrades for p in given.plan.placed)
    if upgrades:
        more = given.ledger.leaf(
            "plan", grown, "runs", "runs on upgraded machines", what="runs on upgraded machines"
        )
        alone: list[str | Num] = [", used for ", count, " as they are"] if done else []
        words = ["What exists. We have ", *have, *alone, ". With the GPUs that we ask for, ", more]
        return (*words, " can be done there.")
    if not done:
        why = ", which can do none of this in time."
        problem = given.loaded.problem
        here = [group for group in groups(problem) if group.machine.machine_id in mine]
        if any(runs_that_fit(problem, group, e) for group in here for e in problem.experiments):
            why = ", which the plan does not need."
            if _cheapest(given):
                why = ". Using it would not make this work cheaper."
        words = ["What exists. We have ", *have, why]
    elif done < given.plan.runs and _cheapest(given):
        many = sum(own.machines for own in owned) > 1
        words.append(f" {'They' if many else 'It'} cannot take the others in time, or only at a ")
        words.append("higher cost.")
    return tuple(words)


def _renting(given: Material, by_line: Mapping[str, Num]) -> Words:
    rented = [r for r in given.costs.running if r.rented and r.charge.direct.value]
    if rented:
        hours = [
            given.ledger.compute("product", [r.runs, r.charge.amount], "hours", "hours rented")
            for r in rented
        ]
        paid = by_line["computer_services"]
        if any(e.machine.in_base is not None for e in given.costs.equipment):
            # A share of a condo that is charged as a service stands on that line, too.
            paid = given.ledger.total([r.charge.direct for r in rented], "rent, in all")
        market = any(_rental_of(given, r).allocation is None for r in rented)
        what = "Rented computers" if market else "Paid hours"
        words: list[str | Num] = [f"{what}. ", paid, " pays for "]
        words.append(given.ledger.total(hours, "hours rented, in all", "hours"))
        words.append(f" on {listed(rented_name(given, r) for r in rented)}, at the rates below.")
        return (*words, *(_not_bought(given) if market else _without_hours(given)))
    if not given.loaded.grant.rent:
        return ()  # hours that are granted were compared alone: that is no reason
    for other in given.explanation.alternatives:
        if other.change.get("no_purchases"):
            return ("Why not rent. ", *_otherwise(given, other, "rented computers"))
    return ()


def _not_bought(given: Material) -> Words:
    """What rented work would cost on machines of one's own, where there may be any."""
    if not given.loaded.grant.buy and not given.loaded.grant.owned:
        return ()
    for other in given.explanation.alternatives:
        if other.change.get("no_rentals"):
            return (" ", *_otherwise(given, other, "machines of our own"))
    return ()


def _without_hours(given: Material) -> Words:
    """What the work would cost without hours that are paid for."""
    for other in given.explanation.alternatives:
        name = next(
            (
                each.name
                for each in given.loaded.problem.allocations
                if each.allocation_id == other.change.get("without_allocation")
            ),
            None,
        )
        if name is not None and other.plan is not None and other.plan.runs == given.plan.runs:
            usd = Decimal(other.plan.cost_cents) / 100
            words = f"cost, {other.label}"
            cost = solve_num(given.ledger, other.change, usd, "usd", words, "cost")
            return (f" Without {name} the same work costs ", cost, *_beside_this(given))
    return ()


def _beside_this(given: Material) -> Words:
    """What this plan costs, beside what another does."""
    form = funder_form(given.loaded.grant.funder)
    whole = form.pays is None and not form.adds_indirect
    whole = whole and not given.loaded.grant.shared_usd
    this = "this request is" if whole else "this plan costs"
    return (f" in all; {this} ", given.costs.total, ".")


def _otherwise(given: Material, other: Alternative, on: str) -> Words:
    """What the same work costs on other computers alone, or how much of it they do."""
    alone = f"{on[0].upper()}{on[1:]} alone"
    if other.plan is None:
        return (f"{alone} do not do this work in time.",)

    def solved(value: Decimal | int, unit: str, reads: str) -> Num:
        label = f"{reads}, {other.label}"
        return solve_num(given.ledger, other.change, value, unit, label, reads)

    usd = solved(Decimal(other.plan.cost_cents) / 100, "usd", "cost")
    words: list[str | Num] = [f"Doing the same work on {on} costs ", usd]
    if other.plan.runs != given.plan.runs:
        words = [f"{alone} do ", solved(other.plan.runs, "runs", "runs"), ", for ", usd]
    return (*words, *_beside_this(given))


def rented_name(given: Material, r: RunningCost) -> str:
    """An instance as a reader says it: ``1 × H100 at lambda (on-demand)``."""
    rental = _rental_of(given, r)
    gpus = r.label.removesuffix(f", {rental.provider}").removesuffix(f", {rental.kind}")
    if rental.allocation:
        return f"{gpus} at {rental.provider}"
    return f"{gpus} at {written_provider(rental.provider)} ({rental.kind})"


def runs_done(given: Material) -> Num:
    """Of the plan."""
    return given.ledger.leaf("plan", given.plan.runs, "runs", "runs done", what="runs")
