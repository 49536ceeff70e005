"""Predictions with the settings that the program writes out: for every pair the fastest of what it
knows to write, be it lean, as in the paper, or either with fused attention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from advisor.prediction.fitted import Fitted
from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip
from advisor.prediction.physics.memory import ANY, Option, Wanted
from advisor.prediction.predict_many import AS_FAST, Predictions, predict_many
from bench_runner.records.measurement import Settings
from bench_runner.settings.kernels import Kernels, with_kernels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Whole = NDArray[np.int64]

FUSED_ATTENTION: Mapping[str, Any] = {"attention": "sdpa", "compilation": "regional"}
"""The further settings where a recipe names unfused attention and the library has a fused kernel:
as they were measured (docs/measurements.md, RoBERTa)."""

COLUMNS = tuple(field.name for field in fields(Predictions) if field.name != "options")


def settings_of(option: Option, micro: int, steps: int, kernels: Kernels | None) -> Settings:
    """An option as it is written out: beyond the paper's settings with the kernels that are the
    most promising for a recipe."""
    settings = option.settings(micro, steps)
    if not option.lean or kernels is None:
        return settings
    return with_kernels(settings, kernels)


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """What there is to choose from, and what the paper's settings take."""

    paper: Predictions
    ways: Sequence[tuple[Predictions, Whole, bool]]
    """Predictions, the place of each pair in them (-1 where there is none), and whether they need
    FUSED_ATTENTION."""

    def fastest(self) -> tuple[Predictions, Flags]:
        """Of each pair the fastest that fits, in one table, and where it needs FUSED_ATTENTION."""
        import numpy as np

        first, places, attention = self.ways[0]
        table = {name: getattr(first, name)[places] for name in COLUMNS}
        fused = np.full(len(places), attention)
        options = [*first.options]
        for many, places, attention in self.ways[1:]:
            # Where both stand at the bound of all trainings, rounding must not choose.
            faster = many.days[places] < table["days"] * AS_FAST
            better = (places >= 0) & many.fits[places] & (~table["fits"] | faster)
            for name in COLUMNS:
                found = getattr(many, name)[places]
                if name == "option":
                    found = found + len(options)
                np.copyto(table[name], found, where=better)
            np.copyto(fused, attention, where=better)
            options += many.options
        return Predictions(options=tuple(options), **table), fused


def written_out(
    workloads: Sequence[Workload],
    chips: Sequence[Chip],
    workload_index: Whole,
    chip_index: Whole,
    counts: Whole,
    fitted: Fitted,
    wanted: Wanted = ANY,
) -> WrittenOut:
    """As `predict_many`, with every way that the program writes out."""
    import numpy as np

    def both(models: Sequence[Workload], rows: Whole) -> tuple[Predictions, Predictions]:
        asked = (models, chips, workload_index[rows], chip_index[rows], counts[rows], fitted)
        return (
            predict_many(*asked, wanted=wanted),
            predict_many(*asked, method="paper", wanted=wanted),
        )

    every = np.arange(len(counts))
    lean, paper = both(workloads, every)
    ways = [(lean, every, False), (paper, every, False)]
    eager = np.array([w.fusible for w in workloads], dtype=bool)[workload_index]
    if eager.any():
        rows = np.flatnonzero(eager)
        places = np.full(len(counts), -1)
        places[rows] = np.arange(len(rows))
        fused = [
            replace(w, fused_attention=True, opens=False) if w.fusible else w for w in workloads
        ]
        ways += [(many, places, True) for many in both(fused, rows)]
    return WrittenOut(paper, ways)
