"""Models whose batch this many GPUs do not share evenly (pure).

No runner trains such a batch: what stands for it is a training on as many samples with a batch near
it that they do share.
"""

from __future__ import annotations

from advisor.ranking.times import Model
from bench_runner.settings.paper_space import even_batch


def is_uneven(model: Model, gpu_count: int) -> bool:
    """Whether this many GPUs do not share the model's batch evenly."""
    return model.batch_size >= gpu_count and model.batch_size % gpu_count != 0


def uneven_words(model: Model, gpu_count: int) -> str | None:
    """``3 GPUs do not share a batch of 1,024 evenly: the time is with one of 1,008``; None where
    they do."""
    if not is_uneven(model, gpu_count):
        return None
    near = even_batch(model.batch_size, gpu_count)
    return (
        f"{gpu_count} GPUs do not share a batch of {model.batch_size:,} evenly: the time is with "
        f"one of {near:,}"
    )
