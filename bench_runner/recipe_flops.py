"""Parameters and floating-point operations of a recipe, from its architecture alone (no torch).

A training pass is three forward passes (Kaplan et al. 2020, section 2.1: the backward pass forms
two products for each one of the forward pass). What activation checkpointing computes again never
counts, as in the model FLOPs utilisation of Chowdhery et al. 2022, appendix B. `ModelCount` says
what a forward pass counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from bench_runner.models.architecture import Architecture, ModelCount
from bench_runner.models.model_types import model_types
from bench_runner.recipes import Recipe

TRAIN_OVER_FORWARD = 3
_LONGEST_NAME = 60


class UncountedArchitectureError(ValueError):
    """The model may be fine, but its operations cannot be counted without building it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlopCount:
    """What one recipe's model holds and costs."""

    model: ModelCount
    samples: int
    """Samples of the whole run: batch size times steps."""
    frozen: bool = False
    """Whether the weights stay beside adapters, whose own operations are left out as too few."""

    @property
    def parameters(self) -> int:
        """Trained parameters; tied weights once."""
        return self.model.parameters

    @property
    def active_parameters(self) -> int:
        """Those that one token passes through: of a mixture of experts the experts chosen for
        it."""
        return self.model.parameters - self.model.unused

    @property
    def train_sample_full(self) -> int:
        """Operations to train on one sample, as torch's counter would have it."""
        return self._train(self.model.attention_full)

    @property
    def train_sample_lowest(self) -> int:
        """Operations to train on one sample, the lowest defensible count."""
        return self._train(self.model.attention_lowest)

    def _train(self, attention: int) -> int:
        """Products with weights that stay make no gradients of these."""
        passes = TRAIN_OVER_FORWARD - 1 if self.frozen else TRAIN_OVER_FORWARD
        return TRAIN_OVER_FORWARD * attention + passes * self.model.weights

    @property
    def flops_full(self) -> int:
        """Operations of the whole training run, as torch's counter would have it."""
        return self.samples * self.train_sample_full

    @property
    def flops_lowest(self) -> int:
        """Operations of the whole training run, the lowest defensible count."""
        return self.samples * self.train_sample_lowest


def counted_architecture(recipe: Recipe) -> Architecture:
    """What is counted of a recipe's model; UncountedArchitectureError where nothing is."""
    if recipe.architecture is None:
        from difflib import get_close_matches  # only a model that is not counted pays for it

        model = recipe.model
        name = str(model.timm or model.config_class or model.arguments.get("model_type"))
        classes = [each.config_class for each in model_types().values()]
        near = get_close_matches(name[:_LONGEST_NAME], classes, n=1)
        mend = (
            f"did you mean {near[0]}?" if near else "such as LlamaConfig, BertConfig or ViTConfig"
        )
        raise UncountedArchitectureError(
            f"recipe '{recipe.recipe_id}': the operations of {name} are not counted without "
            f"torch; measure it, or give a configuration class that is counted; {mend}"
        )
    return recipe.architecture


def count_flops(recipe: Recipe) -> FlopCount:
    """Count one recipe; UncountedArchitectureError where the architecture is not known here."""
    architecture, training = counted_architecture(recipe), recipe.training
    length = training.sequence_length or training.image_size
    if length is None:
        raise ValueError(f"recipe '{recipe.recipe_id}': has no sequence_length or image_size")
    model = architecture.count(length)
    return FlopCount(
        model=model,
        samples=training.batch_size * training.training_steps,
        frozen=training.adapter_rank is not None,
    )
