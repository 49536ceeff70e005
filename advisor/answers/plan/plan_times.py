"""How long the runs of a plan take that take longest in all, how sure that is, and what measures it
where it runs (pure)."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from advisor.answers.checklist import Doubt, quoted
from advisor.answers.gpu_count_notes import measure_command
from advisor.answers.wording import PREDICTED_MARK, days_and_ends
from advisor.costs.rental import skypilot_name
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Machine, Rental
from advisor.ranking.uneven_batch import is_uneven, uneven_words

if TYPE_CHECKING:
    from advisor.ranking.times import Model

CLOUD = "cloud-credit"
"""The kind of hours that a cloud gives: not on a cluster."""


def time_doubt(loaded: Loaded, plan: Plan) -> Doubt | None:
    """How long a run takes of what takes longest in all, where nobody measured it."""
    options = loaded.problem.options()
    models = {each.experiment_id: each.model for each in loaded.problem.experiments}
    days: dict[tuple[str, str], float] = {}
    for each in plan.placed:
        model = models[each.experiment_id]
        key = each.machine_id, model
        days[key] = days.get(key, 0.0) + options[each.machine_id].times[model].days
    if not days:
        return None
    (option_id, model), _ = max(days.items(), key=itemgetter(1))
    return doubt_of(loaded.snapshot.model(model), options[option_id])


def doubt_of(asked: Model, option: Machine | Rental) -> Doubt | None:
    """The same of one model there."""
    time = option.times[asked.recipe_id]
    if time.basis != "predicted":
        return None
    low, high = time.days_low or time.days, time.days_high or time.days
    words = f"{PREDICTED_MARK}{days_and_ends(time.days, low, high)} a run, estimated: "
    words += f"{asked.name} was not measured on {gpus_of(option)}"
    if (uneven := uneven_words(asked, option.gpu_count)) is not None:
        words += f"; {uneven}"
    return Doubt(about="time", words=words, command=_measured_there(asked, option))


def _measured_there(asked: Model, option: Machine | Rental) -> str:
    """What measures it where it runs; where SkyPilot's name of a GPU is not known, what tells on
    what its time rests."""
    if isinstance(option, Machine):
        return measure_command(asked, option.gpu_id, option.gpu_count, option.nodes)
    command = measure_command(asked, option.gpu_id, option.gpu_count, 1)
    if is_uneven(asked, option.gpu_count):
        return command  # it is kept first
    if option.allocation is not None and option.kind != CLOUD:
        return f"{command} --on slurm"
    if skypilot_name(option.gpu_id) is not None:
        return f"{command} --on sky --gpu {quoted(option.gpu_id)}"
    return (
        f"advisor predict --model {quoted(asked.recipe_id)} --gpu {quoted(option.gpu_id)} "
        f"--count {option.gpu_count} --details"
    )


def gpus_of(option: Machine | Rental) -> str:
    """``4 × A6000``; over two machines ``2 machines of 4 × A6000``."""
    if isinstance(option, Rental):
        return option.gpus
    several = "" if option.nodes == 1 else f"{option.nodes} machines of "
    return f"{several}{option.gpu_count // option.nodes} × {option.gpu_name}"
