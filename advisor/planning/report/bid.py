"""What procurement needs of a plan: a neutral specification, quotes compared, questions."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from advisor.costs.amount_words import day_words, days_rounded
from advisor.files import typed_path, write_all_whole
from advisor.planning.grant.candidates.procurement import seller_of, warranty_years
from advisor.planning.grant.institution import rows_of
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.planned import Planned
from advisor.planning.report.document import filled, listed
from advisor.planning.solver.plan import Plan, Purchase
from advisor.planning.solver.problem import Machine, RunTime
from advisor.tables.table_formats import markdown_text, to_csv
from advisor.typed_input import InputError, shown
from price_catalog.builds import rack_units_of
from price_catalog.gpu_names import instruction_set
from price_catalog.power import power_figures

FILES = ("specification.md", "quotes.md", "quotes.csv", "sole_source.md", "questions.md")
MOST_EQUALS = 8
MOST_DEARER = 2
"""Times the chosen price: what is dearer is no equal that anybody would order."""


def check_bid_folder(name: str, *, force: bool) -> Path:
    """The folder to write; refused before any work where it cannot be. Raises InputError."""
    folder = typed_path(name)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{shown(name, 200)} is a file: name a folder for --bid")
    if not folder.absolute().parent.is_dir():
        raise InputError(f"the folder of {shown(name, 200)} does not exist: make it first")
    there = [each for each in FILES if (folder / each).exists()]
    if there and not force:
        raise InputError(f"{shown(name, 200)} has {there[0]} already: name another, or add --force")
    return folder


def write_bid(planned: Planned, folder: Path, *, force: bool) -> list[Path]:
    """Writes the files, all or none. Raises InputError and OSError."""
    assert planned.plan is not None
    texts = bid_texts(planned.loaded, planned.plan)
    files = [(folder / name, text) for name, text in texts.items()]
    write_all_whole(files, overwrite=force, folders=[folder])
    return [path for path, _ in files]


def bid_texts(loaded: Loaded, plan: Plan) -> dict[str, str]:
    """Each file's text. Raises InputError where nothing is bought."""
    bought = [p for p in plan.purchases if _machine(loaded, p).share_of is None]
    if not bought:
        raise InputError("this plan buys no machine, so there is nothing to bid for")
    grant = loaded.grant
    items = [_item(loaded, plan, p) for p in bought]
    values: dict[str, Any] = {
        "title": markdown_text(grant.title),
        "items": items,
        "currency": grant.currency.code,
        "rule": bid_rule(loaded, plan),
    }
    rules = grant.procurement
    warranty = "stated in years, parts and labour, and where it is served"
    if rules.warranty_years:
        warranty = f"at least {rules.warranty_years:f} years, parts and labour, on site"
    house = grant.institution.name if grant.institution.file[:3] != "us-" else "Our institution"
    found = {
        "specification.md": filled(
            "specification.md",
            **values,
            buyer=markdown_text("We" if not grant.institution.file else house).replace(
                "We", "The laboratory"
            ),
            place=rules.country or "our address",
            lead_days=grant.lead_days,
            warranty=warranty,
        ),
        "quotes.md": filled("quotes.md", **values),
        "quotes.csv": to_csv(
            [{"item": item["label"], **row} for item in items for row in item["rows"]],
            ("item", "mark", "seller", "label", "price", "day", "days"),
        )
        + "\n",
        "questions.md": filled("questions.md", **values),
    }
    if any(item["sellers"] == 1 for item in items):
        found["sole_source.md"] = filled("sole_source.md", **values)
    return found


def bid_rule(loaded: Loaded, plan: Plan) -> str | None:
    """What the institution asks of the dearest order; None where no rule of it is known."""
    grant, name = loaded.grant, loaded.grant.institution.name.casefold()
    row = next(
        (r for r in rows_of("bid_thresholds.csv") if r["institution"].casefold() in name), None
    )
    if row is None or row["currency"] != grant.currency.code:
        return None
    orders = [p.count * _machine(loaded, p).price for p in plan.purchases]
    least = Decimal(row["from_amount"])
    amount = grant.currency.written(least)
    over = max(orders, default=Decimal(0)) >= least
    applies = "it applies to this order" if over else "this order is below it"
    return f"{row['institution']}: {row['rule']} ({amount}); {applies}. Source: {row['source']}."


def _machine(loaded: Loaded, purchase: Purchase) -> Machine:
    return next(m for m in loaded.problem.machines if m.machine_id == purchase.machine_id)


def _item(loaded: Loaded, plan: Plan, purchase: Purchase) -> dict[str, Any]:
    machine = _machine(loaded, purchase)
    models = _models_on(loaded, plan, machine)
    equals = _equals(loaded, machine, models)
    limits = {model: _longest(machine.times[model]) for model in models}
    names = [f"{loaded.models[m].name} in {days_rounded(days)} days" for m, days in limits.items()]
    return {
        "label": markdown_text(machine.label),
        "count": purchase.count,
        "lines": list(_requirements(loaded, machine, models)),
        "rows": [_row(loaded, machine, each, models) for each in (machine, *equals)],
        "sellers": len({seller_of(m.lines[0].vendor) for m in (machine, *equals)}),
        "compared": sum(bool(m.lines) and not m.part_of for m in loaded.problem.machines),
        "memory": f"{_memory_gib(loaded, machine):g} GiB",
        "limits": listed(names),
        "questions": list(_questions(loaded, machine)),
    }


def _models_on(loaded: Loaded, plan: Plan, machine: Machine) -> list[str]:
    """The models that the machine trains whole; those that it could, where it trains parts."""
    of = {e.experiment_id: e.model for e in loaded.problem.experiments}
    here = (p for p in plan.placed if loaded.problem.whole(p.machine_id) == machine.machine_id)
    models = dict.fromkeys(of[p.experiment_id] for p in here)
    return [model for model in models if model in machine.times] or list(machine.times)


def _longest(time: RunTime) -> float:
    return time.days_high or time.days


def _memory_gib(loaded: Loaded, machine: Machine) -> float:
    gpu = next(gpu for gpu in loaded.snapshot.gpus if gpu.gpu_id == machine.gpu_id)
    return gpu.memory_gib * machine.gpu_count


def _equals(loaded: Loaded, machine: Machine, models: list[str]) -> list[Machine]:
    """Other machines that do the same work within its interval, with as much GPU memory, cheapest
    first; of each seller the cheapest two."""
    every = [
        m
        for m in loaded.problem.machines
        if m.lines
        and m.machine_id != machine.machine_id
        and not (m.part_of or m.share_of or m.upgrade_of)
        and all(model in m.times for model in models)
        and all(m.times[x].days <= _longest(machine.times[x]) for x in models)
        and _memory_gib(loaded, m) >= _memory_gib(loaded, machine)
        and m.price <= MOST_DEARER * machine.price
    ]
    found: list[Machine] = []
    for each in sorted(every, key=lambda m: (m.price, m.machine_id)):
        seller = each.lines[0].vendor
        if sum(other.lines[0].vendor == seller for other in found) < 2:
            found.append(each)
    return found[:MOST_EQUALS]


def _row(loaded: Loaded, chosen: Machine, machine: Machine, models: list[str]) -> dict[str, str]:
    days = [f"{loaded.models[m].name} {days_rounded(machine.times[m].days)}" for m in models]
    oldest = min(line.quoted_on for line in machine.lines)
    return {
        "mark": "chosen" if machine is chosen else "equal",
        "seller": markdown_text(listed(seller_of(line.vendor) for line in machine.lines)),
        "label": markdown_text(machine.label),
        "price": loaded.grant.currency.written(machine.price),
        "day": day_words(oldest),
        "days": markdown_text(", ".join(days)),
    }


def _requirements(loaded: Loaded, machine: Machine, models: list[str]) -> Iterator[dict[str, str]]:
    """Each line of the specification with what it rests on."""
    gpu = next(gpu for gpu in loaded.snapshot.gpus if gpu.gpu_id == machine.gpu_id)
    build = loaded.builds.get(machine.machine_id)

    def line(what: str, value: str, basis: str) -> dict[str, str]:
        return {"what": what, "value": value, "basis": markdown_text(basis)}

    count = f"{machine.gpu_count}, or another number that meets the lines below"
    yield line("GPUs", count, "what the runs are planned on")
    whole = f"at least {_memory_gib(loaded, machine):g} GiB"
    yield line("GPU memory in all", whole, "what the models need")
    yield line("memory of each GPU", f"at least {gpu.memory_gib:g} GiB", "what the models need")
    for model in models:
        time = machine.times[model]
        about = "measured" if time.basis == "measured" else "predicted"
        within = f"at most {days_rounded(_longest(time))} days"
        name = loaded.models[model].name
        yield line(f"one training run of {markdown_text(name)}", within, f"{about} on such GPUs")
    if instruction_set(machine.gpu_id) is None:
        yield line("processor", "x86-64", "the software of the project")
    if build is None:
        return
    host = build.host
    if host.memory_gib:
        yield line("main memory", f"at least {host.memory_gib:g} GiB", "the chosen machine")
    watts = power_figures(build).wall_w
    if watts is not None:
        yield line("power at full load", f"at most {watts:,.0f} W", "the chosen machine")
    units = rack_units_of(host)
    place = "a rack or a desk, stated" if units is None else f"at most {units:g} rack units"
    yield line("size", place if units != 0 else "a tower beside a desk", "our room")
    noise = "stated in dB(A)" if host.noise_dba is None else f"at most {host.noise_dba:g} dB(A)"
    yield line("noise", noise, "our room" if host.noise_dba is None else "the chosen machine")


def _questions(loaded: Loaded, machine: Machine) -> Iterator[str]:
    """What no quote or data sheet says, and what every order needs."""
    rules, quotes = loaded.grant.procurement, [loaded.quotes.get(x.quote_id) for x in machine.lines]
    build = loaded.builds.get(machine.machine_id)
    oldest = min(line.quoted_on for line in machine.lines)
    yield f"What does the whole cost today? The price that we know is of {day_words(oldest)}."
    if len(machine.lines) > 1:
        yield "Do you build and test the whole machine, and do you answer for all of its parts?"
    country = rules.country or "our country"
    yield f"Do you deliver to {country}, by when, and who pays freight, duty and insurance?"
    if not any(quote is not None and quote.delivery for quote in quotes):
        yield "How many weeks from the order to the delivery? No quote says it."
    wanted = f" We need {rules.warranty_years:f} years." if rules.warranty_years else ""
    if not any(quote is not None and warranty_years(quote.warranty) for quote in quotes):
        yield f"How long is the warranty on parts and labour, and is it served on site?{wanted}"
    yield "Which price has an institution of research and teaching?"
    yield "Which exact GPU, edition and power limit is built in?"
    if build is not None:
        host = build.host
        if host.noise_dba is None:
            yield "How loud is it at full load, in dB(A) at one metre?"
        if host.wall_w is None and host.base_w is None:
            yield "What does it draw at full load, and which plugs and circuits does it need?"
        if rack_units_of(host) is None:
            yield "Does it go into a rack, and how many units does it take?"
        if host.memory_gib is None:
            yield "How much main memory is in the price?"
    if instruction_set(machine.gpu_id) is not None:
        yield "Its processor is Arm: which of our software runs on it as it is?"
