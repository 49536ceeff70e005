"""Which output a config.json names beside the one that is counted: what it is trained for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from advisor.parse import shown
from bench_runner.models.architecture import Architecture
from bench_runner.models.architecture_two_sides import EncoderDecoder
from bench_runner.recipes import IMAGE_FAMILIES

_COUNTED = ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "Model")
_COUNTED_OF_IMAGES = ("ForImageClassification", "Model")
_OTHER_MODELS = ("DoubleHeadsModel", "RewardModel", "EncoderModel")
"""Called models, which are told by what they have beside one."""
_TRAINED_AS = {
    "electra": "trained as a masked language model, without ELECTRA's generator",
    **dict.fromkeys(
        ("beit", "data2vec-vision", "vit_msn"), "trained as a classifier, not on masked images"
    ),
    "dinov2": "trained as a classifier, without a teacher beside it",
}


def said_of_outputs(content: Mapping[str, Any], kind: type[Architecture]) -> list[str]:
    """What is assumed where a file's model has another output than the one counted."""
    model_type = str(content.get("model_type"))
    said = [_TRAINED_AS[model_type]] if model_type in _TRAINED_AS else []
    images = kind.family in IMAGE_FAMILIES
    counted = _COUNTED_OF_IMAGES if images else _COUNTED
    if issubclass(kind, EncoderDecoder):
        counted = (*counted, "ForConditionalGeneration")
    if model_type == "electra":
        counted = (*counted, "ForPreTraining")
    names = content.get("architectures")
    for name in map(str, names if isinstance(names, list) else filter(None, [names])):
        if name.endswith(counted) and not name.endswith(_OTHER_MODELS):
            continue
        masked = kind.family == "encoder" and not issubclass(kind, EncoderDecoder)
        what = "a masked language model" if masked else "a language model"
        return [f"trained as {'a classifier' if images else what}, not as {shown(name)}", *said]
    return said
