"""How well trainings of adapters are predicted: `python -m tools.fit.finetuning` prints it.

The bytes that adapters and packed weights cost follow from some of these rows
(`work_and_traffic.ADAPTER_BYTES`, `UNPACK_BYTES`); no fit sees them.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from advisor.prediction.fitted import Fitted
from advisor.prediction.model.askable_models import Ask, train, untrained
from advisor.prediction.observed_times import chips_by_name
from advisor.prediction.physics.memory import SOFTWARE, Wanted
from advisor.prediction.predict_one import predict
from advisor.prediction.shipped_predictions import shipped_fit
from advisor.ranking.fine_tuning import TRAINS, FineTuning
from bench_runner.models.model_types import model_types
from bench_runner.records.measurement import one_of
from bench_runner.records.timing import SECONDS_PER_DAY
from bench_runner.typed_numbers import percent
from tools.fit.public_speeds import EVIDENCE_FOLDER

TABLE = EVIDENCE_FOLDER / "finetuning.csv"


@dataclass(frozen=True, slots=True)
class Tuned:
    """A row with what is predicted of it: seconds of a step of one pass, with their interval."""

    row: Mapping[str, str]
    step_s: float
    low: float
    high: float
    gib: float
    """Of the GPU's memory."""

    @property
    def has_memory(self) -> bool:
        """Whether its memory compares: not of weights without FP32 copies, which are not told."""
        return bool(self.row["peak_gib"]) and "weights and states in BF16" not in self.row["note"]

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.step_s / float(self.row["step_s"]) - 1.0


def load_tuned(fitted: Fitted) -> list[Tuned]:
    """Every row, predicted."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [_predicted(row, fitted) for row in csv.DictReader(file)]


def _predicted(row: Mapping[str, str], fitted: Fitted) -> Tuned:
    count, micro, length = (
        int(row[name]) for name in ("gpu_count", "micro_batch_size", "sequence_length")
    )
    kind, software = one_of(row["train"], TRAINS, "train"), one_of(row["software"], SOFTWARE, "")
    tuning = FineTuning(train=kind, data=1e6, length=length)
    ask = Ask(batch_size=count * micro, tuning=tuning)
    numbers = ("hidden_size", "intermediate_size", "vocab_size", "head_dim")
    arguments = {name: int(row[name]) for name in numbers} | {
        "num_hidden_layers": int(row["layers"]),
        "num_attention_heads": int(row["heads"]),
        "num_key_value_heads": int(row["kv_heads"]),
        "tie_word_embeddings": row["tied"] == "yes",
    }
    model = untrained(name=row["model"], kind=model_types()["llama"], arguments=arguments)
    target = train(model, ask, own=False, longest=length)
    compiled = None if software == "ours" else row["compiled"] == "yes"
    again = row["checkpointing"] == "yes"
    chip = chips_by_name()[row["gpu"]]
    told = predict(
        *(target, chip, count, fitted),
        software=software,
        wanted=Wanted(
            stage=0, checkpointing=again, micro_batch_size=micro, compiled=compiled, host_gib=64.0
        ),
    )
    # What a program says that it held leaves out CUDA's context.
    gib = math.nan if told.memory_gib is None else told.memory_gib - fitted.costs.fixed_gib
    scale = SECONDS_PER_DAY / target.workload.training_steps
    days = (told.training_days, told.training_days_low, told.training_days_high)
    middle, low, high = (math.nan if d is None else d * scale for d in days)
    return Tuned(row, middle, low, high, gib)


def as_table(rows: list[Tuned]) -> str:
    """A line a source, training and software."""
    lines = [
        "| source | training | software | rows | median error | bias | inside | memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    keys = [(t.row["source_id"], t.row["train"], t.row["software"]) for t in rows]
    for key in dict.fromkeys(keys):
        found = [t for t, its in zip(rows, keys, strict=True) if its == key]
        told = [t for t in found if not math.isnan(t.step_s)]
        if not told:
            lines.append(f"| {' | '.join(key)} | 0 of {len(found)} | - | - | - | - |")
            continue
        inside = sum(t.low <= float(t.row["step_s"]) <= t.high for t in told)
        gib = [t.gib / float(t.row["peak_gib"]) - 1 for t in told if t.has_memory]
        memory = percent(statistics.median(gib)) if gib else "-"
        median = percent(statistics.median(abs(t.error) for t in told))
        bias = f"{statistics.median(-math.log1p(t.error) for t in told):+.2f}"
        lines.append(
            f"| {' | '.join(key)} | {len(told)} of {len(found)} | {median} | {bias} | {inside} | "
            f"{memory} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(as_table(load_tuned(shipped_fit())))
