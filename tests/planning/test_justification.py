"""The justification of a request: what it says of prices, rent, granted hours and upkeep."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec import structs

from advisor.answers.plan.plan_answer import plan_doubts
from advisor.answers.plan.plan_lines import explained_text
from advisor.answers.plan.plan_sentence import plan_sentence
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.plan_grant import EXAMPLE, load_grant, plan_loaded
from advisor.planning.planned import Planned
from advisor.planning.report.asked_amounts import UNEXPLAINED
from advisor.planning.report.formats.markdown_csv_json import to_markdown
from advisor.planning.report.funder.quotes_section import quotes_sections
from advisor.planning.report.in_currency import InCurrency
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import material_of
from advisor.planning.report.report import Paragraph, joined
from advisor.planning.sensitivity.explain import Alternative
from advisor.planning.sensitivity.solved_amounts import Finding
from advisor.planning.solver.problem import BUY_IN, Allocation, FixedCost, MachineExtra, PriceLine
from advisor.store import Store
from price_catalog.model import OWN_QUOTE, Quote
from tests.planning.forms_for_tests import GRANT, TODAY, report_for
from tests.plans_for_tests import make_rental


def test_a_price_says_that_it_was_added_up_or_is_old(planned: Planned) -> None:
    problem = planned.loaded.problem
    for kind, quoted, words in (
        ("parts-list", TODAY, "Added up from the prices of parts and options, and not quoted"),
        ("list", date(2025, 1, 1), "Older than a year: "),
        ("list", TODAY, "Before the order"),
    ):
        machines = tuple(
            replace(
                m,
                lines=tuple(replace(x, quote_kind=kind, quoted_on=quoted) for x in m.lines),
            )
            for m in problem.machines
        )
        loaded = replace(planned.loaded, problem=replace(problem, machines=machines))
        text = to_markdown(report_for(replace(planned, loaded=loaded)).parts()[0])
        told = f"This price is of {quoted.day} {quoted:%B %Y}. {words}"
        assert told in text
        # In the sentence that names the price, too, where nothing changes it.
        assert (" (added up from its parts). It counts" in text) is (kind == "parts-list")


def test_a_price_is_renewed_with_who_can_quote_it(planned: Planned) -> None:
    """Nobody asks a shop of parts for a machine, nor an index for a card."""
    problem, plan = planned.loaded.problem, planned.plan
    assert plan is not None
    machine = problem.options()[plan.purchases[0].machine_id]
    (line, *_) = machine.lines  # type: ignore[union-attr]
    vendor, builder = "we ask each vendor for a written", "we ask a builder of such machines for a"
    seller, campus = "we ask a seller of the item for a written", "we ask the campus for a written"
    for kinds, words in (
        (["list"], [vendor]),
        (["parts-list"], [vendor]),  # a sum of its seller's own options
        (["parts-list", "list"], [vendor, builder]),
        (["parts-list", "secondary"], [builder, seller]),
        (["secondary", "used"], [seller]),
        ([BUY_IN], [campus]),
    ):
        lines = tuple(
            replace(line, quote_id=f"q{n}", quote_kind=kind) for n, kind in enumerate(kinds)
        )
        machines = tuple(
            replace(m, lines=lines) if m.machine_id == plan.purchases[0].machine_id else m
            for m in problem.machines
        )
        quotes = {**planned.loaded.quotes, **{x.quote_id: _quote(planned, line) for x in lines}}
        loaded = replace(planned.loaded, problem=replace(problem, machines=machines), quotes=quotes)
        given = material_of(loaded, plan, UNEXPLAINED)
        (quoted,) = quotes_sections(given, InCurrency(given))
        text = "".join(joined(b.words) for b in quoted.blocks if isinstance(b, Paragraph))
        assert [w for w in (vendor, builder, seller, campus) if w in text] == words, kinds


def _quote(planned: Planned, line: PriceLine) -> Quote:
    return planned.loaded.quotes[line.quote_id]


def test_what_costs_less_and_is_not_taken_says_why(planned: Planned) -> None:
    problem, plan, found = planned.loaded.problem, planned.plan, planned.explanation
    assert plan is not None and found is not None
    rules = replace(problem.rules, lifetime_years=Decimal(4))
    loaded = replace(planned.loaded, problem=replace(problem, rules=rules))
    less = plan.cost_cents - 100_00
    for judged, why in ((1, "dearer by what machines lose in value"), (-1, "")):
        plan_b = replace(plan, cost_cents=less, judged_cents=plan.judged_cents + judged)
        other = Alternative(label="rent it", change={}, plan=plan_b, over_budget=False)
        told = replace(planned, loaded=loaded, explanation=replace(found, alternatives=(other,)))
        line = next(x for x in explained_text(told).splitlines() if x.startswith("rent it"))
        assert line.endswith(why or "-")
        doubts = plan_doubts(told, "advisor plan", quick=True)
        (short,) = (each.words for each in doubts if each.about == "instead")
        assert short.partition(", d")[2] == why[1:]
        assert (f", yet {why}" in to_markdown(report_for(told))) is bool(why)


def test_the_doubt_of_a_price_says_at_which_the_plan_would_be_another(planned: Planned) -> None:
    plan, found = planned.plan, planned.explanation
    assert plan is not None and found is not None
    bought = {each.machine_id for each in plan.purchases}
    (machine,) = (m for m in planned.loaded.problem.machines if m.machine_id in bought)
    words = f"a quote for {machine.label}: it costs nothing, and $5 or less changes the decision"
    told = replace(planned, explanation=replace(found, ask=(Finding(words=(words,)),)))
    (price,) = (x for x in plan_doubts(told, "advisor plan", quick=True) if x.about == "price")
    assert price.words.endswith("; $5 or less changes the decision")


def test_what_is_rented_says_its_hours_its_rates_and_their_age(store_path: Path) -> None:
    grant = read_grant(EXAMPLE)
    experiment = structs.replace(grant.experiments[1], each_year=False, runs=1)
    grant = replace(grant, experiments=(experiment,), buy=False, owned=(), vat=Decimal("0.19"))
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    report = report_for(planned, funder="nsf")
    text = to_markdown(report.parts()[0])
    assert re.search(r"Rented computers\. \$[\d,.]+ pays for [\d,]+ hours on 1 × .+ at \w+ ", text)
    (rates,) = [table for table in report.tables() if table.name == "Rates"]
    _, _, rate, paid, day, age = rates.rows[0]
    assert isinstance(rate, Num) and isinstance(paid, Num)
    asked = report.tables()[0].rows[0][-1]
    assert isinstance(asked, Num) and asked.value == paid.value
    assert re.fullmatch(r"\d\d? [A-Z][a-z]+ \d{4}", str(day)) and re.search(
        r"\d+ (days|months)", str(age)
    )
    told = datetime.strptime(str(day), "%d %B %Y").date()
    assert f"This rate is of {told.day} {told:%B %Y}. Before the first" in text
    assert "look up the provider's rate again" in text
    assert "The providers maintain the rented computers." in text
    annex = to_markdown(report.parts()[1])
    assert "- The training time is a prediction, not a measurement; its interval" in annex
    assert "Each run" not in text and "1 run in all. It trains the whole model once" in text


def test_a_funder_is_not_told_whose_quote_yours_is(planned: Planned) -> None:
    problem = planned.loaded.problem
    machines = tuple(
        replace(m, lines=tuple(replace(x, vendor=f"{x.vendor} ({OWN_QUOTE})") for x in m.lines))
        for m in problem.machines
    )
    first, *others = planned.loaded.grant.experiments
    alone = replace(planned.loaded.grant, experiments=(first, structs.replace(others[0], who=None)))
    loaded = replace(planned.loaded, problem=replace(problem, machines=machines), grant=alone)
    funder, annex = map(to_markdown, report_for(replace(planned, loaded=loaded)).parts())
    assert OWN_QUOTE not in funder
    assert OWN_QUOTE in annex
    # What nobody in particular asked for is not said to be for the group beside it.
    need = funder.partition("Need. ")[2].partition(" runs in all")[0]
    assert re.search(rf"tokens\) for {first.who} and [^)]+, 300 billion tokens\): \d+$", need), need
    # Days of an estimate have no more digits than they are worth.
    assert re.search(r"takes \d+ days \(an estimate: \d+ days to \d+ days\)", funder)


def test_depreciation_tax_and_the_share_of_the_funder_stand_as_arithmetic(
    store_path: Path,
) -> None:
    grant = read_grant(EXAMPLE)
    house = replace(grant.institution, equipment_as="depreciated", life_months=60)
    house = replace(house, use_share=Decimal("0.8"), equipment_in_base=True)
    grant = replace(grant, experiments=grant.experiments[1:2], owned=(), rent=False)
    grant = replace(grant, buy_gpus=("RTX 5090",), buy_years=(0,))  # few machines to choose from
    grant = replace(grant, institution=house, vat=Decimal("0.2"), usd_per_kwh=None)
    loaded = load_grant(Store(store_path), replace(grant, pays_electricity=False), TODAY)
    planned = plan_loaded(loaded, 60, quick=True)
    assert planned.plan is not None
    machine_id = planned.plan.purchases[0].machine_id
    price = next(m for m in loaded.problem.machines if m.machine_id == machine_id).price_usd
    text = to_markdown(report_for(planned, funder="ukri").parts()[0])
    assert f"at ${price * Decimal('1.2'):,.2f}".removesuffix(".00") in text
    summed = any(
        line.quote_kind == "parts-list"
        for m in loaded.problem.machines
        if m.machine_id == machine_id
        for line in m.lines
    )
    how = "added up from its parts" if summed else "as quoted"
    told = f"${price:,.2f}".removesuffix(".00")
    assert f"({told} {how}; plus 20 % value-added tax). We ask for its depreciation, 35" in text
    assert "35 of 60 months at 80 % use" in text
    charged = (price * Decimal("1.2") * 35 / 60 * Decimal("0.8")).quantize(Decimal("0.01"))
    assert f"use: ${charged:,.2f}".removesuffix(".00") in text
    cost = Decimal(planned.plan.cost_cents) / 100
    paid = (cost * Decimal("0.8")).quantize(Decimal("0.01"))
    assert f"pays 80 % of the total: ${paid:,.2f}".removesuffix(".00") in text
    # What is asked for is the funder's part, and not the full cost.
    told = f"We ask for ${paid:,.2f}".removesuffix(".00")
    assert f"{told}, which is 80 % of the full cost of $" in text
    assert "Prices of machines include 20 % value-added tax" in text  # nothing is rented


def test_warranty_within_a_price_is_named_and_no_paragraph_is_empty(planned: Planned) -> None:
    extra = MachineExtra(
        key="costs[1]", name="Three years of support", kind="warranty", usd=Decimal(100)
    )
    problem = planned.loaded.problem
    rules = replace(problem.rules, machine_extras=(extra,))
    fixed = tuple(
        FixedCost(key=f"costs[{n}].amount", year=0, in_base=True, **each)
        for n, each in enumerate(
            (
                {"name": "Help", "kind": "staff", "usd": Decimal(99)},
                {"name": "Storage, 20 TB", "kind": "storage", "usd": Decimal(7)},
                {"name": "Globus", "kind": "other", "usd": Decimal(8)},
                {"name": "A switch", "kind": "network", "usd": Decimal(0)},
            ),
            start=2,
        )
    )
    loaded = replace(planned.loaded, problem=replace(problem, rules=rules, fixed=fixed))
    text = to_markdown(report_for(replace(planned, loaded=loaded)).parts()[0])
    # Each line with its own amount; within a sentence a name is told by its kind, and what costs
    # nothing is not asked for.
    assert "Staff. Help: $99.\n" in text
    assert "Upkeep. Electricity" in text and " Warranty as the vendor states it: 3 years l" in text
    assert " In the price of each machine: warranty and support (Three years" in text
    assert "; staff (Help); storage, 20 TB; and other costs (Globus). It pays" in text
    assert "Other costs. Globus: $8." in text and "switch" not in text
    assert not re.search(r"^(Upkeep|Staff|Data|Need|Choice)\.\s*$", text, re.MULTILINE)


def test_another_plan_that_does_less_is_not_said_to_do_the_same_work(planned: Planned) -> None:
    plan = planned.plan
    assert plan is not None and planned.explanation is not None
    for runs, words in (
        (plan.runs, "Doing the same work on rented computers costs $10 in all"),
        (plan.runs - 1, f"Rented computers alone do {plan.runs - 1} runs, for $10 in all"),
    ):
        other = Alternative(
            label="buy nothing, rent instead",
            change={"no_purchases": True},
            plan=replace(plan, runs=runs, cost_cents=1000),
            over_budget=False,
        )
        told = replace(planned.explanation, alternatives=(other,))
        rented, none = (
            to_markdown(report_for(replace(planned, explanation=told), rent=rent).parts()[0])
            for rent in (True, False)
        )
        assert f"Why not rent. {words}; this request is $" in rented
        assert "Why not rent" not in none  # granted hours alone are no rent


def test_another_plan_that_does_nothing_or_costs_less_is_said_so(planned: Planned) -> None:
    plan, problem = planned.plan, planned.loaded.problem
    assert plan is not None and planned.explanation is not None
    lasting = replace(problem.rules, lifetime_years=Decimal(4))
    judged = plan.judged_cents + 1
    for rules, changes, words in (
        (problem.rules, {"runs": 0}, "Rented computers alone do none of this work"),
        (
            lasting,
            {"cost_cents": 1000, "judged_cents": judged},
            ". The other way is dearer by what machines lose in value.",
        ),
    ):
        other = Alternative(
            label="buy nothing, rent instead",
            change={"no_purchases": True},
            plan=replace(plan, **changes),
            over_budget=False,
        )
        loaded = replace(planned.loaded, problem=replace(problem, rules=rules))
        told = replace(planned.explanation, alternatives=(other,))
        given = replace(planned, loaded=loaded, explanation=told)
        text = to_markdown(report_for(given, rent=True).parts()[0])
        (why,) = [line for line in text.splitlines() if line.startswith("Why not rent.")]
        assert words in why
        doubts = plan_doubts(given, "advisor plan", quick=True)
        assert any(each.about == "instead" for each in doubts) is ("runs" not in changes)
        assert ("in all" in why) is ("cost_cents" in changes)


def test_a_plan_judged_by_more_than_what_is_paid_is_not_said_to_cost_least(
    planned: Planned,
) -> None:
    def text(**problem: object) -> str:
        changed = replace(planned.loaded.problem, **problem)  # type: ignore[arg-type]
        loaded = replace(planned.loaded, problem=changed)
        return to_markdown(report_for(replace(planned, loaded=loaded)).parts()[0])

    rules = planned.loaded.problem.rules
    less = "No other machine that we compared does this work for less."
    assert less in text()
    assert less not in text(rules=replace(rules, lifetime_years=Decimal(5)))
    unsure = Allocation(allocation_id="allocation:1", name="A", gpu_hours_a_year=None)
    assert less in text(allocations=(unsure,))
    days = {each.model: 30.0 for each in planned.loaded.problem.experiments}
    free = replace(make_rental("allocation:1:1", "0", days), allocation="allocation:1")
    odds = replace(unsure, odds=Decimal("0.4"))
    told = text(allocations=(odds,), rentals=(free,))
    assert less not in told
    assert "Why not A. It is awarded with odds of 40 %, and the plan does not count on it." in told
    grant = replace(planned.loaded.grant, lifetime_years=Decimal(5))
    assert planned.plan is not None
    sentence = plan_sentence(replace(planned.loaded, grant=grant), planned.plan)
    assert sentence.endswith("cheapest, less what its machines are still worth after it.")


def test_gpus_for_a_machine_of_the_lab_are_no_machine(store_path: Path) -> None:
    grant = read_grant(EXAMPLE)
    wanted = structs.replace(grant.experiments[1], each_year=False, runs=8)
    grant = replace(grant, experiments=(wanted,), years=1, rent=False, buy_gpus=("RTX A6000",))
    planned = plan_loaded(load_grant(Store(store_path), grant, TODAY), 60, quick=True)
    assert planned.plan is not None
    (bought,) = planned.plan.purchases
    label = next(
        m.label for m in planned.loaded.problem.machines if m.machine_id == bought.machine_id
    )
    text = to_markdown(report_for(planned, funder="nsf").parts()[0])
    assert f": GPUs for 1 machine ({label}) and electricity. It pays for 8 runs of tr" in text
    assert f"Choice. We ask for GPUs for 1 machine ({label}) at $" in text
    assert (
        "We have 1 machine (2 × A6000). With the GPUs that we ask for, 8 runs can be done" in text
    )


GRANTED = f"""{GRANT.format(funder="nsf")}each_year = true
[purchases]
allowed = false
[[allocations]]
name = "Campus"
kind = "campus"
gpu = "H100"
max_gpus = 4
gpu_hours_a_year = 3000
usd_per_gpu_hour = 0
"""


def test_hours_that_are_granted_for_every_year_are_one_paragraph(
    store_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(GRANTED, encoding="utf-8")
    planned = plan_loaded(load_grant(Store(store_path), read_grant(path), TODAY), 60, quick=True)
    assert planned.plan is not None and not planned.plan.cost_cents
    text = to_markdown(report_for(planned).parts()[0])
    found = re.findall(r"Granted hours\. 3 runs \(Pythia 410M\) on (.+): ([\d,]+) GPU-hours", text)
    assert len(found) == 1 and "Campus" in found[0][0]
    assert "We ask for no money. We do 3 runs of training on granted hours between " in text
    problem, runs = planned.loaded.problem, planned.plan.rented
    gpus = {r.rental_id: (r.gpu_count, r.times["pythia-410m"].days) for r in problem.rentals}
    days = [gpus[r.rental_id][0] * gpus[r.rental_id][1] * r.runs for r in runs]
    assert float(found[0][1].replace(",", "")) == pytest.approx(sum(days) * 24, rel=0.01)


def test_hours_that_may_not_be_awarded_are_not_called_granted(
    store_path: Path, tmp_path: Path
) -> None:
    """Odds make it an application; so does a national programme whose odds nobody states."""
    path = tmp_path / "grant.toml"
    national = GRANTED.replace('kind = "campus"', 'kind = "national"')
    assert national != GRANTED
    for text, sure in (
        (GRANTED, True),
        (GRANTED + "odds = 0.5\n", False),
        (national, False),
        (national + "odds = 1\n", True),
    ):
        path.write_text(text, encoding="utf-8")
        planned = plan_loaded(
            load_grant(Store(store_path), read_grant(path), TODAY), 60, quick=True
        )
        assert planned.plan is not None and planned.explanation is not None
        problem = planned.loaded.problem
        dearer = replace(planned.plan, cost_cents=123_45)
        change = {"without_allocation": problem.allocations[0].allocation_id}
        fewer = replace(dearer, runs=1)
        for plan, told in (
            (dearer, " Without Campus the same work costs $123.45 in all; this request is $0."),
            (fewer, " Without Campus we can do 1 run, for $123.45 in all; this request is $0."),
            (None, " Without Campus this work is not done in time."),
        ):
            other = Alternative(label="not awarded", change=change, plan=plan, over_budget=False)
            found = replace(planned.explanation, alternatives=(other,))
            part = to_markdown(report_for(replace(planned, explanation=found)).parts()[0])
            assert ("on granted hours between" in part) is sure
            assert ("on hours that we apply for between" in part) is not sure
            assert ("Granted hours. 3 runs" in part) is sure
            assert ("Hours that we apply for. 3 runs" in part) is not sure
            assert (told in part) is not sure


def test_paid_hours_have_the_source_of_their_rate(store_path: Path, tmp_path: Path) -> None:
    """And where nothing else is allowed nobody is told what the work costs without them."""
    path = tmp_path / "grant.toml"
    paid = GRANTED.replace("usd_per_gpu_hour = 0", "usd_per_gpu_hour = 0.4")
    for source, told in (("", "as agreed"), ('source = "the rates of July"', "the rates of July")):
        alone = "[rentals]\nallowed = false\n"
        path.write_text(f"{paid}{source}\n{alone}", encoding="utf-8")
        loaded = load_grant(Store(store_path), read_grant(path), TODAY)
        planned = plan_loaded(loaded, 60, quick=True)
        text = to_markdown(report_for(planned).parts()[0])
        assert re.search(rf"at Campus \| [\d,]+ hours .* \| {told} \|  \|", text), text
        assert "Before the first hour we ask Campus for the rate of that day." in text
        assert "Without Campus" not in text and "provider's rate" not in text


def test_what_a_spot_computer_is_is_told(store_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "grant.toml"
    for kind in ("spot", "on-demand"):
        only = f'[purchases]\nallowed = false\n[rentals]\nkinds = ["{kind}"]\n'
        path.write_text(GRANT.format(funder="nsf") + only, encoding="utf-8")
        planned = plan_loaded(
            load_grant(Store(store_path), read_grant(path), TODAY), 60, quick=True
        )
        text = to_markdown(report_for(planned).parts()[0])
        assert ("A provider may take a spot computer back: the run" in text) is (kind == "spot")


def test_what_is_asked_for_does_not_pay_for_runs_on_granted_hours(
    store_path: Path, tmp_path: Path
) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(GRANTED + "ends = 2027-12-31\n", encoding="utf-8")
    planned = plan_loaded(load_grant(Store(store_path), read_grant(path), TODAY), 60, quick=True)
    text = to_markdown(report_for(planned).parts()[0])
    assert "With granted hours, that is enough for 3 runs of training between" in text
    assert "It pays for" not in text


def test_the_same_machine_on_two_days_says_which_and_has_its_price_once(planned: Planned) -> None:
    problem, plan = planned.loaded.problem, planned.plan
    assert plan is not None
    (bought, *_) = plan.purchases
    later = replace(bought, order=1, count=2)
    twice = replace(planned, plan=replace(plan, purchases=(bought, later)))
    report = report_for(twice, funder="horizon")
    first, second = (problem.start.replace(year=problem.start.year + n) for n in (0, 1))
    text = to_markdown(report.parts()[0])
    request = next(line for line in text.splitlines() if line.startswith("We ask for "))
    assert request.count("; ordered on ") == 2
    for day in (first, second):
        assert f"; ordered on {day.day} {day:%B %Y})" in request
    (prices,) = (table for table in report.tables() if table.name == "Prices")
    pieces = [row[1].value for row in prices.rows if isinstance(row[1], Num)]
    assert len(prices.rows) == len({row[0] for row in prices.rows})
    machine = problem.options()[bought.machine_id]
    assert pieces == [(bought.count + 2) * x.quantity for x in machine.lines]  # type: ignore[union-attr]
    assert "; ordered on " not in to_markdown(report_for(planned).parts()[0])


def test_machines_have_their_depreciation(planned: Planned) -> None:
    assert planned.plan is not None
    (bought, *_) = planned.plan.purchases
    rules = replace(planned.loaded.problem.rules, life_months=60, grant_months=36)
    problem = replace(planned.loaded.problem, rules=rules)
    for count, words in ((1, "We ask for its depreciation"), (2, "We ask for their depreciation")):
        plan = replace(planned.plan, purchases=(replace(bought, count=count),))
        told = replace(planned, plan=plan, loaded=replace(planned.loaded, problem=problem))
        assert words in to_markdown(report_for(told, funder="horizon").parts()[0])
