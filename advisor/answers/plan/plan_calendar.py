"""The plan as lines of text: machines against time, runs on them, delivery and due days (pure)."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import groupby
from string import ascii_lowercase, ascii_uppercase

from advisor.planning.grant.candidates.split_machines import PREDICTED
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Machine, PlanningProblem, Rental

GLYPHS = ascii_lowercase + ascii_uppercase
DAY = len("31 Jan 2027  ")
"""Characters of a day in a table, with the room behind it."""
Lane = tuple[str, int, int]
"""A machine or an instance, its order, and which of several it is."""
DELIVERY, IDLE, OUTSIDE, DUE = "░", "·", " ", "!"


def calendar_lines(problem: PlanningProblem, plan: Plan, width: int) -> list[str]:
    """A header with the years, a line for each machine, a legend; at most ``width`` wide."""
    options = problem.options()
    lanes = lanes_of(problem, plan)
    if not lanes:
        return ["no run is placed on any machine"]
    alike = _alike(plan, lanes)
    lanes = list(alike)
    labels = [_label(options[lane[0]], lane[2], count) for lane, count in alike.items()]
    left = min(max(len(name + tail) for name, tail in labels), max(width // 3, 12))
    room = max(width - left - 2, 10)
    days = problem.year_days[-1]
    names = list(dict.fromkeys(p.experiment_id for p in plan.placed))
    glyphs = {name: GLYPHS[i % len(GLYPHS)] for i, name in enumerate(names)}

    def column(day: float) -> int:
        return min(max(int(day / days * room), 0), room - 1)

    header = [" "] * room
    free = 0
    narrow = room < DAY * (len(problem.year_days) - 1)
    for day in problem.year_days[:-1]:
        if column(day) < free:
            continue
        starts = problem.start + timedelta(days=day)
        text = f"{starts:%Y}" if narrow else short_day(starts)
        if column(day) + len(text) > room:  # the last days of a grant that ends soon after
            text = f"{starts:%Y}"
        if column(day) + len(text) > room:
            continue
        free = column(day) + len(text) + 1
        header[column(day) : column(day) + len(text)] = text
    marks = [" "] * room
    dates = sorted({e.due_day for e in problem.experiments} - set(problem.year_days))
    for day in dates:
        marks[column(day)] = DUE
    lines = [f"{'':{left}}  {''.join(header).rstrip()}"]
    if dates:
        lines.append(f"{'':{left}}  {''.join(marks).rstrip()}")
    for label, (option_id, year, unit) in zip(labels, lanes, strict=True):
        cells = _cells(problem, plan, (option_id, year, unit), room, glyphs)
        name, tail = label
        lines.append(f"{cut(name, left - len(tail)) + tail:{left}}  {cells}")
    lines += _legend(problem, names, glyphs, width, bool(dates), any(y >= 0 for _, y, _ in lanes))
    return lines


def short_day(day: date) -> str:
    """A day in a table: ``1 Jan 2027``."""
    return f"{day.day} {day:%b %Y}"


def lanes_of(problem: PlanningProblem, plan: Plan) -> list[tuple[str, int, int]]:
    """Each machine with work, owned ones first, then bought, then rented."""
    owned = {m.machine_id for m in problem.machines if m.owned}
    rank = {
        m.machine_id: 0 if problem.whole(m.machine_id) in owned else 1 for m in problem.machines
    }
    lanes = dict.fromkeys((p.machine_id, p.order, p.unit) for p in plan.placed)
    return sorted(lanes, key=lambda lane: (rank.get(lane[0], 2), lane))


def _alike(plan: Plan, lanes: list[Lane]) -> dict[Lane, int]:
    """The first of the lanes beside each other that have the same runs on the same days, and how
    many those are."""
    runs: dict[Lane, list[object]] = {lane: [] for lane in lanes}
    for p in plan.placed:
        runs[p.machine_id, p.order, p.unit].append((p.experiment_id, p.pieces))
    numbered = enumerate(lanes)
    groups = [
        [lane for _, lane in group]
        for _, group in groupby(numbered, lambda n: (n[1][:2], n[1][2] - n[0], runs[n[1]]))
    ]
    return {group[0]: len(group) for group in groups}


def end_of(problem: PlanningProblem, plan: Plan, machine: Machine) -> int:
    """The day after a machine's last: that of the grant, or on which it becomes another one."""
    into = {m.machine_id for m in problem.machines if m.upgrade_of == machine.machine_id}
    days = [
        problem.orders[p.order] + problem.rules.lead_days
        for p in plan.purchases
        if machine.owned and p.machine_id in into
    ]
    return min([*days, problem.year_days[-1]])


def _label(option: Machine | Rental, unit: int, count: int) -> tuple[str, str]:
    """A name that may be cut, and what must stay: that it is predicted, and which of several or
    how many."""
    number = f" #{unit}" if unit > 1 else ""
    if count > 1:
        number = f" #{unit}-{unit + count - 1}"
    if option.label.endswith(PREDICTED):
        return option.label.removesuffix(PREDICTED), f" (predicted){number}"
    return option.label, number


def cut(text: str, width: int) -> str:
    """At most so many characters."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _cells(
    problem: PlanningProblem,
    plan: Plan,
    lane: tuple[str, int, int],
    room: int,
    glyphs: dict[str, str],
) -> str:
    days = problem.year_days[-1]
    owned = {m.machine_id: m for m in problem.machines}
    option_id, year, _ = lane
    cells = [OUTSIDE] * room
    if option_id in owned:
        machine = owned[option_id]
        here = year < 0
        start = machine.ready_day if here else problem.orders[year]
        ready = start if here else start + problem.rules.lead_days
        last = end_of(problem, plan, machine)
        for at in range(room):
            middle = (at + 0.5) * days / room
            if start <= middle < last:
                cells[at] = DELIVERY if middle < ready else IDLE
    for p in plan.placed:
        if (p.machine_id, p.order, p.unit) != lane:
            continue
        for begin, end in p.pieces:
            first = int(begin / days * room)
            for at in range(first, max(first + 1, round(end / days * room))):
                if at < room:
                    cells[at] = glyphs[p.experiment_id]
    return "".join(cells).rstrip()


def _legend(
    problem: PlanningProblem,
    names: list[str],
    glyphs: dict[str, str],
    width: int,
    dated: bool,
    bought: bool,
) -> list[str]:
    called = {e.experiment_id: e.name for e in problem.experiments}
    entries = [f"{glyphs[name]} {called[name]}" for name in names]
    entries += [f"{DUE} due"] if dated else []
    entries += [f"{DELIVERY} delivery"] if bought else []
    entries.append(f"{IDLE} idle")
    lines, line = [], ""
    for entry in entries:
        if line and len(line) + len(entry) + 3 > width:
            lines.append(line)
            line = ""
        line += f"{'   ' if line else ''}{entry}"
    return [*lines, line]
