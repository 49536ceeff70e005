"""The plan as lines of text: machines against time, runs on them, delivery and due days (pure)."""

from __future__ import annotations

from datetime import date, timedelta
from string import ascii_lowercase, ascii_uppercase
from textwrap import wrap

from advisor.planning.grant.candidates.split_machines import PREDICTED
from advisor.planning.report.calendar_lanes import Lane, calendar_lanes
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Machine, PlanningProblem

GLYPHS = ascii_lowercase + ascii_uppercase
NO_BREAK = "\N{NO-BREAK SPACE}"
DELIVERY, IDLE, OUTSIDE, DUE = "░", "·", " ", "!"


def calendar_lines(problem: PlanningProblem, plan: Plan, width: int) -> list[str]:
    """A header with the years, a line for each machine, a legend; at most ``width`` wide."""
    lanes = calendar_lanes(problem, plan)
    if not lanes:
        return ["no run is placed on any machine"]
    labels = list(map(_label, lanes))
    left = min(max(len(name + tail) for name, tail in labels), max(width // 3, 12))
    room = max(width - left - 2, 10)
    days = problem.year_days[-1]
    names = list(dict.fromkeys(p.experiment_id for p in plan.placed))
    glyphs = {name: GLYPHS[i % len(GLYPHS)] for i, name in enumerate(names)}

    def column(day: float) -> int:
        return min(max(int(day / days * room), 0), room - 1)

    header = ""
    for day in problem.year_days[:-1]:
        text = short_day(problem.start + timedelta(days=day))
        if len(header) <= column(day) <= room - len(text):
            header = f"{header:{column(day)}}{text} "
    dates = sorted({e.due_day for e in problem.experiments} - set(problem.year_days))
    marks = "".join(DUE if at in set(map(column, dates)) else " " for at in range(room))
    lines = [f"{'':{left}}  {header}".rstrip()]
    lines += [f"{'':{left}}  {marks.rstrip()}"] * bool(dates)
    for (name, tail), lane in zip(labels, lanes, strict=True):
        cells = _cells(problem, plan, lane, room, glyphs)
        lines.append(f"{cut(name, left - len(tail)) + tail:{left}}  {cells}")
    called = {e.experiment_id: e.name for e in problem.experiments}
    legend = [f"{glyphs[name]} {called[name]}" for name in names]
    legend += [f"{DUE} due"] * bool(dates)
    legend += [f"{DELIVERY} delivery"] * (
        problem.rules.lead_days > 0 and any(lane.rank == 1 for lane in lanes)
    )
    # A name with its letter is not broken, and three spaces part it from the next.
    words = "   ".join(each.replace(" ", NO_BREAK) for each in (*legend, f"{IDLE} idle"))
    wrapped = wrap(words, width, break_long_words=False, break_on_hyphens=False)
    return lines + [line.replace(NO_BREAK, " ") for line in wrapped]


def short_day(day: date) -> str:
    """A day in a table: ``1 Jan 2027``."""
    return f"{day.day} {day:%b %Y}"


def end_of(problem: PlanningProblem, plan: Plan, machine: Machine) -> int:
    """The day after a machine's last: that of the grant, or on which it becomes another one."""
    into = {m.machine_id for m in problem.machines if m.upgrade_of == machine.machine_id}
    days = [
        problem.orders[p.order] + problem.rules.lead_days
        for p in plan.purchases
        if machine.owned and p.machine_id in into
    ]
    return min([*days, problem.year_days[-1]])


def _label(lane: Lane) -> tuple[str, str]:
    """A name that may be cut, and what must stay: that it is predicted, which of several it is, or
    how many look the same."""
    label, tail = lane.option.label, f" #{lane.number}" if lane.number > 1 else ""
    tail += f" × {lane.count}" if lane.count > 1 else ""
    if label.endswith(PREDICTED):
        return label.removesuffix(PREDICTED), f" (predicted){tail}"
    return label, tail


def cut(text: str, width: int) -> str:
    """At most so many characters."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _cells(
    problem: PlanningProblem, plan: Plan, lane: Lane, room: int, glyphs: dict[str, str]
) -> str:
    days, machine = problem.year_days[-1], lane.option
    cells = [OUTSIDE] * room
    if isinstance(machine, Machine):
        start = ready = machine.ready_day
        if lane.order >= 0:
            start = problem.orders[lane.order]
            ready = start + problem.rules.lead_days
        last = end_of(problem, plan, machine)
        for at in range(room):
            middle = (at + 0.5) * days / room
            if start <= middle < last:
                cells[at] = DELIVERY if middle < ready else IDLE
    for p in lane.runs:
        for begin, end in p.pieces:
            first = int(begin / days * room)
            for at in range(first, min(max(first + 1, round(end / days * room)), room)):
                cells[at] = glyphs[p.experiment_id]
    return "".join(cells).rstrip()
