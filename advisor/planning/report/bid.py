"""What procurement needs of a plan: a neutral specification, quotes compared, questions."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

from advisor.costs.amount_words import day_words, days_rounded
from advisor.files import typed_path, write_all_whole
from advisor.planning.grant.candidates.procurement import seller_of, warranty_years
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.institution import rows_of
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.planned_grant import Planned
from advisor.planning.report.document import filled, listed
from advisor.planning.report.plan_costs import in_codes
from advisor.planning.solver.plan import Plan
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
    machines = {m.machine_id: m for m in loaded.problem.machines}
    bought = [(machines[p.machine_id], p.count) for p in plan.purchases]
    whole = [each for each in bought if each[0].share_of is None]
    if not whole:
        raise InputError("this plan buys no machine, so there is nothing to bid for")
    loaded, house = in_codes(loaded), loaded.grant.institution
    buyer = "Our institution" if house.file.startswith("us-") else house.name
    if house.file in ("", f"{funder_form(loaded.grant.funder).rules}.toml"):
        buyer = "The laboratory"  # the funder does not buy
    items = [_item(loaded, plan, machine, count) for machine, count in whole]
    values: dict[str, Any] = {
        "title": markdown_text(loaded.grant.title),
        "items": items,
        "currency": loaded.grant.currency.code,
        "rule": bid_rule(loaded, max(machine.price * count for machine, count in bought)),
        "buyer": markdown_text(buyer),
        "wanted": loaded.grant.procurement,
        "lead_days": loaded.grant.purchases.lead_days,
        "named": markdown_text(listed(loaded.grant.purchases.gpus or ())),
    }
    rows = [{"item": item["label"], **row} for item in items for row in item["rows"]]
    columns = ("item", "mark", "seller", "label", "price", "day", "days")
    alone = any(item["sellers"] == 1 for item in items)
    texts = {
        name: filled(name, **values)
        for name in FILES
        if name.endswith(".md") and (alone or name != "sole_source.md")
    }
    return texts | {"quotes.csv": f"{to_csv(rows, columns)}\n"}


def bid_rule(loaded: Loaded, order: Decimal) -> dict[str, Any] | None:
    """What the institution asks of an order of that amount; None where no rule of it is known."""
    currency, name = loaded.grant.currency, loaded.grant.institution.name.casefold()
    rows = (r for r in rows_of("bid_thresholds.csv") if r["institution"].casefold() in name)
    row = next(rows, None)
    if row is None or row["currency"] != currency.code:
        return None
    least = Decimal(row["from_amount"])
    return {**row, "amount": currency.written(least), "applies": order >= least}


def _item(loaded: Loaded, plan: Plan, machine: Machine, count: int) -> dict[str, Any]:
    models = _models_on(loaded, plan, machine)
    every = [machine, *_equals(loaded, machine, models, loaded.problem.machines)]
    build, quotes = loaded.builds.get(machine.machine_id), loaded.quotes
    known = [quotes[line.quote_id] for line in machine.lines if line.quote_id in quotes]
    watts = None if build is None else power_figures(build).wall_w
    return {
        "label": markdown_text(machine.label),
        "count": count,
        "gpus": machine.gpu_count,
        "gpu_gib": f"{_gpu_gib(loaded, machine):g}",
        "memory": f"{_gpu_gib(loaded, machine) * machine.gpu_count:g} GiB",
        "runs": [
            {
                "model": markdown_text(loaded.models[model].name),
                "most": time_words(_longest(machine.times[model])),
                "measured": machine.times[model].basis == "measured",
            }
            for model in models
        ],
        "arm": instruction_set(machine.gpu_id) is not None,
        "host": None if build is None else build.host,
        "units": None if build is None else rack_units_of(build.host),
        "watts": None if watts is None else f"{watts:,.0f}",
        "rows": [_row(loaded, machine, each, models) for each in every],
        "left_out": _left_out(loaded, machine, models),
        "sellers": len({seller_of(m.lines[0].vendor) for m in every}),
        "compared": sum(bool(m.lines) and not m.part_of for m in loaded.problem.machines),
        "oldest": day_words(min(line.quoted_on for line in machine.lines)),
        "put_together": len(machine.lines) > 1,
        "delivery": any(quote.delivery for quote in known),
        "warranty": any(warranty_years(quote.warranty) for quote in known),
    }


def time_words(days: float) -> str:
    """``68.8 days``; of less than a day ``2.9 hours``."""
    if days == 1:
        return "1 day"
    return f"{days_rounded(days)} days" if days > 1 else f"{days_rounded(days * 24)} hours"


def _models_on(loaded: Loaded, plan: Plan, machine: Machine) -> list[str]:
    """The models that the machine trains whole; those that it could, where it trains parts."""
    of = {e.experiment_id: e.model for e in loaded.problem.experiments}
    here = (p for p in plan.placed if loaded.problem.whole(p.machine_id) == machine.machine_id)
    models = dict.fromkeys(of[p.experiment_id] for p in here)
    return [model for model in models if model in machine.times] or list(machine.times)


def _longest(time: RunTime) -> float:
    return time.days_high or time.days


def _gpu_gib(loaded: Loaded, machine: Machine) -> float:
    """Memory of one GPU."""
    return next(gpu for gpu in loaded.snapshot.gpus if gpu.gpu_id == machine.gpu_id).memory_gib


def _left_out(loaded: Loaded, machine: Machine, models: list[str]) -> list[dict[str, str]]:
    """Equals that the grant's rules keep from being bought, each with the rule."""
    wider = loaded.unrestricted or loaded.problem
    there = {m.machine_id for m in loaded.problem.machines}
    others = [m for m in (*wider.machines, *loaded.sums) if m.machine_id not in there]
    why = {each.label: each.reason for each in loaded.left_out}
    return [
        {"label": markdown_text(m.label), "why": markdown_text(why[m.label])}
        for m in _equals(loaded, machine, models, others)
    ]


def _equals(
    loaded: Loaded, machine: Machine, models: list[str], machines: Iterable[Machine]
) -> list[Machine]:
    """Other machines that do the same work within its interval, with as much GPU memory, cheapest
    first; of each seller the cheapest two."""
    least = _gpu_gib(loaded, machine) * machine.gpu_count
    every = [
        m
        for m in machines
        if m.lines
        and m.machine_id != machine.machine_id
        and not (m.part_of or m.share_of or m.upgrade_of)
        and all(model in m.times for model in models)
        and all(m.times[x].days <= _longest(machine.times[x]) for x in models)
        and _gpu_gib(loaded, m) * m.gpu_count >= least
        and m.price <= MOST_DEARER * machine.price
    ]
    found: list[Machine] = []
    for each in sorted(every, key=lambda m: (m.price, m.machine_id)):
        seller = each.lines[0].vendor
        if sum(other.lines[0].vendor == seller for other in found) < 2:
            found.append(each)
    return found[:MOST_EQUALS]


def _row(loaded: Loaded, chosen: Machine, machine: Machine, models: list[str]) -> dict[str, str]:
    times = [f"{loaded.models[m].name} {time_words(machine.times[m].days)}" for m in models]
    return {
        "mark": "chosen" if machine is chosen else "equal",
        "seller": markdown_text(listed(seller_of(line.vendor) for line in machine.lines)),
        "label": markdown_text(machine.label),
        "price": loaded.grant.currency.written(machine.price),
        "day": day_words(min(line.quoted_on for line in machine.lines)),
        "days": markdown_text(", ".join(times)),
    }
