"""Random grants by kind: small money, instalments, deadlines, hours of an allocation, one huge run,
models that fit on few cards, machines at home, orders by quarter."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any

START = date(2027, 1, 1)
SMALL = ("pythia-70m", "pythia-160m", "bert-base", "resnet-50", "deit-small-16", "t5-base")
USUAL = (
    "pythia-410m",
    "pythia-1b",
    "roberta",
    "vit",
    "convnext-large-1k",
    "mamba-370m",
    "gpt2-124m",
)
LARGE = ("pythia-1.4b", "pythia-2.8b", "qwen3-1.7b-shape", "convnext-xlarge-22k", "mamba-790m")
HUGE = ("pythia-6.9b", "pythia-12b", "mixtral-1.5b-shape", "deepseekmoe-2b-shape")
RULES = ("us-equipment-10000", "us-equipment-5000")


@dataclass(frozen=True, kw_only=True)
class Made:
    """A grant's file, and whether its money is to be what its best plan pays: in all or by year."""

    kind: str
    text: str
    tight: str | None = None


def experiment(random: Random, models: tuple[str, ...], years: int, *, runs: int = 3) -> str:
    """Runs of a model, in a window, in every year, by a deadline, or at any time."""
    text = f'[[experiments]]\nmodel = "{random.choice(models)}"\nruns = {random.randint(1, runs)}\n'
    kind = random.choice(("any", "each", "by", "window", "after"))
    days = 365 * years
    if kind == "each":
        return text + "each_year = true\n"
    if kind == "by":
        return text + f"by = {START + timedelta(random.randrange(150, days))}\n"
    if kind == "after":
        return text + f"not_before = {START + timedelta(random.randrange(0, days // 2))}\n"
    if kind == "window":
        low = random.randrange(0, days - 200)
        due = min(low + random.randrange(150, 500), days - 1)
        return f"{text}not_before = {START + timedelta(low)}\nby = {START + timedelta(due)}\n"
    return text


def grant(
    years: int,
    experiments: Iterator[str],
    *,
    total: int | None = None,
    general: str = "",
    budget: str = "",
    purchases: str = "lead_days = 45",
    running: str = "utilisation = 0.8\nfailures = 0.05",
    more: str = "",
) -> str:
    """A grant's file of these tables."""
    money = "" if total is None else f"total = {total}\n"
    named = (f'{each}name = "e{number}"\n' for number, each in enumerate(experiments))
    return (
        f"[grant]\nstart = {START}\nyears = {years}\n{general}\n[budget]\n{money}{budget}\n"
        f"[purchases]\n{purchases}\n[running]\n{running}\n{more}\n" + "\n".join(named)
    )


def some(random: Random, count: int, models: tuple[str, ...], years: int, runs: int = 3) -> Any:
    return (experiment(random, models, years, runs=runs) for _ in range(count))


def paid(random: Random) -> str:
    """Electricity and overhead, as a lab in the United States has them."""
    return (
        '[electricity]\npaid_by = "grant"\nusd_per_kwh = 0.15\npue = 1.4\n'
        f'[institution]\nrules = "{random.choice(RULES)}"\n'
    )


OWNED = """[[owned]]
gpu = "RTX A6000"
gpu_count = 2
free_slots = 2
usable_from = 2027-03-01
[[owned]]
gpu = "RTX 3090"
gpu_count = 4
machines = 2
"""
CAMPUS = """[[allocations]]
name = "campus"
gpu = "{gpu}"
gpu_hours_a_year = {hours}
usd_per_gpu_hour = {usd}
max_gpus = 4
max_job_days = 2
queue_days = 0.5
odds = {odds}
overhead = "service"
"""


def campus(random: Random) -> str:
    return CAMPUS.format(
        gpu=random.choice(("H100", "A100 80GB", "RTX A6000")),
        hours=random.choice((500, 3000, 20000)),
        usd=random.choice((0, 0.4, 1.2)),
        odds=random.choice((1, 0.6)),
    )


def one_year(random: Random) -> Made:
    text = grant(
        1, some(random, random.randint(1, 4), USUAL, 1), total=random.choice((8, 20, 60)) * 1000
    )
    return Made(kind="one year", text=text)


def three_years(random: Random) -> Made:
    total = random.choice((40, 90, 250)) * 1000
    every = some(random, random.randint(3, 8), USUAL + SMALL, 3)
    return Made(kind="three years", text=grant(3, every, total=total, more=paid(random)))


def instalments(random: Random) -> Made:
    years = random.choice((3, 4, 5))
    first = random.choice((20, 60, 200))
    each = [
        f'"{first}k"',
        *(f'"{max(first // random.choice((1, 3, 8)), 2)}k"' for _ in range(years - 1)),
    ]
    carried = random.choice(("true", "false"))
    budget = f"per_year = [{', '.join(each)}]\ncarry_over = {carried}\n"
    every = some(random, random.randint(3, 9), USUAL + SMALL, years)
    return Made(kind="instalments", text=grant(years, every, budget=budget, more=paid(random)))


def tight_years(random: Random) -> Made:
    years = random.choice((2, 3, 4))
    every = some(random, random.randint(4, 14), USUAL + SMALL, years)
    budget = f"carry_over = {random.choice(('true', 'false'))}\n"
    text = grant(years, every, budget=budget + "total = 5000000\n", more=paid(random))
    return Made(kind="tight by year", text=text, tight="years")


def tight_total(random: Random) -> Made:
    years = random.choice((1, 2, 3))
    every = some(random, random.randint(4, 16), USUAL + LARGE, years)
    more = paid(random) + (OWNED if random.random() < 0.4 else "")
    return Made(kind="tight", text=grant(years, every, total=9_000_000, more=more), tight="total")


def tight_many(random: Random) -> Made:
    every = some(random, 40, USUAL + SMALL, 3, 5)
    budget = f"carry_over = {random.choice(('true', 'false'))}\n"
    text = grant(3, every, budget=budget + "total = 9000000\n", more=paid(random))
    return Made(kind="tight, many runs", text=text, tight="years")


def tight_quarters(random: Random) -> Made:
    every = some(random, random.randint(8, 20), USUAL, 4)
    purchases = f"lead_days = 45\norder_every_months = {random.choice((3, 6))}\nprice_change = -0.1"
    budget = f"carry_over = {random.choice(('true', 'false'))}\ntotal = 9000000\n"
    text = grant(4, every, budget=budget, purchases=purchases, more=paid(random))
    return Made(kind="tight, by quarter", text=text, tight="years")


def tight_lab(random: Random) -> Made:
    years = random.choice((3, 5))
    every = some(random, 60, USUAL + SMALL + LARGE, years, 4)
    budget = f"carry_over = {random.choice(('true', 'false'))}\ntotal = 90000000\n"
    more = paid(random) + OWNED + (campus(random) if random.random() < 0.5 else "")
    text = grant(years, every, budget=budget, more=more)
    return Made(kind="tight lab", text=text, tight="years")


def rent_and_buy(random: Random) -> Made:
    more = paid(random) + '[rentals]\nkinds = ["on-demand", "spot"]\nprice_change = -0.05\n'
    purchases = f"lead_days = 60\nprice_change = -0.1\nmax_machines = {random.randint(1, 4)}"
    every = some(random, random.randint(2, 10), USUAL + LARGE, 3)
    total = random.choice((60, 200, 600)) * 1000
    return Made(
        kind="rent and buy", text=grant(3, every, total=total, purchases=purchases, more=more)
    )


def allocation(random: Random) -> Made:
    years = random.choice((1, 3))
    every = some(random, random.randint(2, 10), USUAL, years)
    total = random.choice((5, 30, 120)) * 1000
    return Made(kind="allocation", text=grant(years, every, total=total, more=campus(random)))


def funder(random: Random) -> Made:
    name, code = random.choice(
        (("horizon", "EUR"), ("dfg", "EUR"), ("ukri", "GBP"), ("nserc", "CAD"))
    )
    general = f'funder = "{name}"\naward_years = "{random.choice(("start", "calendar"))}"\n'
    general += f'objective = "{random.choice(("cheapest", "most-runs"))}"\n'
    total = random.choice((50, 150, 400)) * 1000
    budget = f'currency = "{code}"\n' + ("vat = 0.19\n" if code == "EUR" else "")
    electricity = "[electricity]\nprice_per_kwh = 0.3\n"
    every = some(random, random.randint(2, 8), USUAL, 4)
    text = grant(4, every, total=total, general=general, budget=budget, more=electricity)
    return Made(kind="funder", text=text)


def deadlines(random: Random) -> Made:
    every = (
        f'[[experiments]]\nmodel = "{random.choice(USUAL)}"\nruns = {random.randint(1, 4)}\n'
        f"by = {START + timedelta(random.randrange(75, 300))}\n"
        for _ in range(random.randint(2, 7))
    )
    return Made(kind="deadlines", text=grant(1, every, total=random.choice((30, 100, 400)) * 1000))


def small_money(random: Random) -> Made:
    every = some(random, random.randint(2, 8), SMALL + USUAL, 2)
    general = 'objective = "most-runs"\n'
    total = random.choice((300, 1500, 4000, 9000))
    more = paid(random) + (OWNED if random.random() < 0.3 else "")
    return Made(kind="small money", text=grant(2, every, total=total, general=general, more=more))


def huge_money(random: Random) -> Made:
    every = some(random, random.randint(3, 12), USUAL + LARGE + HUGE, 3)
    general = f'objective = "{random.choice(("soonest", "most-runs", "cheapest"))}"\n'
    text = grant(3, every, total=20_000_000, general=general, more=paid(random))
    return Made(kind="huge money", text=text)


def many_small(random: Random) -> Made:
    years = random.choice((1, 3))
    every = some(random, random.randint(40, 90), SMALL, years, 2)
    total = random.choice((30, 100)) * 1000
    general = f'objective = "{random.choice(("cheapest", "most-runs"))}"\n'
    text = grant(years, every, total=total, general=general, more=paid(random))
    return Made(kind="many small", text=text)


def one_huge(random: Random) -> Made:
    every = iter([f'[[experiments]]\nmodel = "{random.choice(HUGE)}"\nruns = 1\n'])
    running = "utilisation = 0.9\nlongest_run_days = 300"
    total = random.choice((100, 400, 2000)) * 1000
    return Made(
        kind="one huge run", text=grant(2, every, total=total, running=running, more=paid(random))
    )


def memory_bound(random: Random) -> Made:
    purchases = 'lead_days = 30\ngpus = ["RTX 3090", "RTX 4090", "RTX A6000", "RTX 6000 Ada"]'
    every = some(random, random.randint(1, 4), LARGE + HUGE, 3, 2)
    running = "utilisation = 0.8\nlongest_run_days = 400\nnetwork_gbit = 25"
    total = random.choice((50, 200)) * 1000
    rent = "[rentals]\nallowed = false\n"
    text = grant(3, every, total=total, purchases=purchases, running=running, more=rent)
    return Made(kind="memory-bound", text=text)


def at_home(random: Random) -> Made:
    years = random.choice((1, 2, 3))
    every = some(random, random.randint(3, 9), USUAL + SMALL, years)
    total = random.choice((4, 15, 50)) * 1000
    general = f'objective = "{random.choice(("cheapest", "most-runs", "soonest"))}"\n'
    text = grant(years, every, total=total, general=general, more=OWNED + paid(random))
    return Made(kind="machines at home", text=text)


def by_quarter(random: Random) -> Made:
    months = random.choice((1, 3, 6))
    purchases = f"lead_days = 45\norder_every_months = {months}\nprice_change = -0.1"
    general = 'funder = "horizon"\n'
    budget = 'currency = "EUR"\n'
    every = some(random, random.randint(5, 20), USUAL, 4)
    text = grant(4, every, total=900_000, general=general, budget=budget, purchases=purchases)
    return Made(kind="orders by quarter", text=text)


def large_lab(random: Random) -> Made:
    every = some(random, 60, USUAL + SMALL + LARGE, 5, 8)
    more = paid(random) + (campus(random) if random.random() < 0.5 else "")
    return Made(kind="large lab", text=grant(5, every, total=8_000_000, more=more))


KINDS: tuple[Callable[[Random], Made], ...] = (
    one_year,
    three_years,
    instalments,
    tight_years,
    tight_total,
    tight_many,
    rent_and_buy,
    allocation,
    funder,
    deadlines,
    small_money,
    huge_money,
    many_small,
    one_huge,
    memory_bound,
    at_home,
    by_quarter,
    large_lab,
    tight_quarters,
    tight_lab,
)


def made(number: int) -> Made:
    """The grant of this number: each kind comes again after so many."""
    return KINDS[number % len(KINDS)](Random(number))
