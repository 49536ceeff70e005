"""One rank of two that take a step by the real Trainer with each way to share it: what changed.

Run by test_exact_ranks as ``exact_ranks.py OUT``, which forks its ranks so that they load libraries
once; by SGD at a learning rate of 1, so that what a step changes is its gradient. All of a step's
samples are one epoch, hence the same in any order, and of different numbers of labels on each rank.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import traceback
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
import transformers
from accelerate.state import AcceleratorState
from transformers.integrations.deepspeed import unset_hf_deepspeed_config

from bench_runner.recipes import Recipe, recipe_from
from bench_runner.settings import configure
from bench_runner.settings.obstacles import parse_settings
from bench_runner.worker.models import prepared_model
from bench_runner.worker.ranks import shard_on_cpus, tell_deepspeed

SAMPLES, LENGTH, VOCABULARY = 8, 17, 97
SHAPE: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
SHAPE["intermediate_size"] = 64
TEXT = SHAPE | {"vocab_size": VOCABULARY, "max_position_embeddings": 32}
STILL = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
FAMILIES: dict[str, tuple[str, dict[str, Any], str]] = {
    "decoder": ("GPTNeoXConfig", TEXT, "GPTNeoXLayer"),
    "encoder": ("RobertaConfig", TEXT | STILL, "RobertaLayer"),
    "vit": ("ViTConfig", SHAPE | STILL | {"image_size": 16, "patch_size": 8}, "ViTLayer"),
}
LEAN = {"decoder": "fused,trimmed", "encoder": "fused", "vit": "checkpointing"}
SHARED = {
    "decoder": ("", "fsdp-full-shard", "zero-1", "zero-3"),
    "encoder": ("", "fsdp-shard-grad-op", "zero-2", "zero-3"),
    "vit": ("", "fsdp-full-shard,checkpointing", "zero-1"),
}
"""How the two share a step of each family's leanest settings; nothing said is DDP."""


def recipe_of(family: str) -> Recipe:
    """A tiny recipe of the family, trained by SGD."""
    kind, arguments, layer = FAMILIES[family]
    images = {"image_size": 16, "classes": 7}
    training = {"batch_size": SAMPLES, "training_steps": 1, "precision": "fp32"}
    training |= {"optimizer": "sgd", "learning_rate": 1.0, "max_grad_norm": 0.0}
    training |= {"scheduler": "constant", "weight_decay": 0.0}
    return recipe_from(
        {
            "id": f"exact-{family}",
            "name": family,
            "family": family,
            "source": "tests",
            "architecture": {"config_class": kind, "arguments": arguments},
            "training": training | (images if family == "vit" else {"sequence_length": LENGTH}),
            "support": {"attention": "sdpa", "fsdp_wrap": [layer]},
        },
        Path("exact.toml"),
    )


def samples(family: str, *, even: bool = False) -> list[dict[str, torch.Tensor]]:
    """Eight samples; an encoder's have from one label to many, or ``even`` as many each."""
    draw = torch.Generator().manual_seed(3)
    found = []
    for number in range(SAMPLES):
        if family == "vit":
            pixels = torch.randn(3, 16, 16, generator=draw)
            found.append({"pixel_values": pixels, "labels": torch.tensor(number % 7)})
            continue
        ids = torch.randint(VOCABULARY, (LENGTH,), generator=draw)
        labels = ids.clone()
        if family == "encoder":
            labels[4 if even else 1 + number :] = -100
        found.append({"input_ids": ids, "labels": labels})
    return found


def step(
    family: str, words: str, ranks: int, *, micro_batch: int = 2, even: bool = False
) -> tuple[float, torch.Tensor]:
    """The loss of one step by these settings, and what it changed, as one vector on each rank."""
    recipe = recipe_of(family)
    settings = parse_settings(f"naive,{words}".strip(","))
    AcceleratorState._reset_state()
    for name in ("ACCELERATE_USE_FSDP", "ACCELERATE_USE_DEEPSPEED"):
        os.environ.pop(name, None)
    keywords = configure.training_arguments(
        recipe,
        settings,
        micro_batch_size=micro_batch,
        accumulation_steps=SAMPLES // micro_batch // ranks,
        device="cpu",
        compute_capability=None,
    )
    arguments = transformers.TrainingArguments(**keywords)
    if configure.zero_stage(settings) is not None:
        tell_deepspeed()
    model = prepared_model(recipe, settings, arguments, torch.device("cpu"))
    give_values(model)
    before = values(model)
    trainer = transformers.Trainer(
        model=model, args=arguments, train_dataset=samples(family, even=even)
    )
    if configure.uses_fsdp(settings):
        shard_on_cpus(trainer)
    loss = trainer.train().training_loss
    after = values(trainer.model)
    parameters = list(trainer.model.parameters())
    if configure.zero_stage(settings) is not None:
        trainer.deepspeed.destroy()
        unset_hf_deepspeed_config()
    assert trainer.state.global_step == 1
    assert all(hasattr(p, "full_tensor") for p in parameters) == configure.uses_fsdp(settings)
    assert all(hasattr(p, "ds_id") for p in parameters) == (configure.zero_stage(settings) == 3)
    return loss, before - after


def give_values(model: Any) -> None:
    """The same random parameters however the model was built; ZeRO-3 draws others."""
    draw = torch.Generator().manual_seed(5)
    named = {name.replace(".decoder.bias", ".bias"): p for name, p in model.named_parameters()}
    for name, parameter in sorted(named.items()):
        shape = getattr(parameter, "ds_shape", parameter.shape)
        drawn = 0.1 * torch.randn(shape, generator=draw) + name.lower().endswith("norm.weight")
        with whole(parameter, write=True), torch.no_grad():
            parameter.copy_(drawn)


def whole(parameter: Any, *, write: bool = False) -> AbstractContextManager[Any]:
    """While this lasts ZeRO-3's shards are one parameter on each rank."""
    if not hasattr(parameter, "ds_id"):
        return nullcontext()
    import deepspeed

    gathered: AbstractContextManager[Any] = deepspeed.zero.GatheredParameters(
        [parameter], modifier_rank=0 if write else None
    )
    return gathered


def values(model: Any) -> torch.Tensor:
    """All parameters, whole, in the order of their names; RoBERTa's output bias, which has two, by
    the one that its last linear layer calls it by."""
    found = []
    named = model.named_parameters(remove_duplicate=False)
    for name, parameter in sorted(
        (
            (name.replace("_checkpoint_wrapped_module.", "").removeprefix("module."), p)
            for name, p in named
        ),
        key=lambda each: each[0],
    ):
        if name == "lm_head.bias":
            continue
        with whole(parameter):
            held = parameter.detach()
            if hasattr(held, "full_tensor"):
                held = held.full_tensor()
            found.append(held.flatten().clone())
    return torch.cat(found)


def rank_steps(out: str) -> None:
    """Take every step as the rank that the environment says; the first writes what it found."""
    found = {}
    # DeepSpeed last: what it leaves behind FSDP would stumble over.
    ways = [(family, way) for family, some in SHARED.items() for way in some]
    for family, way in sorted(ways, key=lambda each: "zero" in each[1]):
        words = dict.fromkeys(f"{way},{LEAN[family]}".strip(",").split(","))
        found[family, way] = step(family, ",".join(words), 2)
    if torch.distributed.get_rank() == 0:
        torch.save(found, out)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def main(out: str) -> int:
    """Two ranks that meet at a store of this process, as torchrun's do; 0 where both ended well."""
    import deepspeed  # noqa: F401 - for both ranks

    gc.freeze()  # each step ends with a collection, which would look through all that is loaded
    store = torch.distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port), "WORLD_SIZE": "2"}
    os.environ |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "LOCAL_WORLD_SIZE": "2"}
    ranks = []
    for rank in range(2):
        if (forked := os.fork()) == 0:
            os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            code = 1
            try:
                rank_steps(out)
                code = 0
            except BaseException:
                traceback.print_exc()
            sys.stderr.flush()
            os._exit(code)
        ranks.append(forked)
    failed = 0
    while ranks:
        ended, status = os.wait()
        ranks.remove(ended)
        if status and not failed:
            failed = 1
            for other in ranks:  # it would wait for the one that is gone
                os.kill(other, signal.SIGTERM)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
