"""Reads a Hugging Face config.json as data: nothing in it is imported, fetched or run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from advisor.prediction.model.askable_models import Ask, Target, train, untrained
from advisor.prediction.model.timed_keys import timed_arguments
from advisor.prediction.model.uncounted import (
    adapter,
    heads_of_later_tokens,
    implied,
    said_of_windows,
    uncounted,
    uncounted_kind,
    unknown_keys,
)
from advisor.typed_input import shown
from advisor.wrong_file import what_it_is
from bench_runner.models.architecture import Architecture, ModelType
from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.models.model_source import read_config
from bench_runner.models.model_types import arguments_of, model_types, read_architecture, whole
from bench_runner.models.timm_models import plain_name, timm_model
from bench_runner.models.transformer import Transformer
from bench_runner.recipe_flops import count_flops
from bench_runner.recipes import IMAGE_FAMILIES, Precision
from bench_runner.typed_numbers import count_words

CODE_KEYS = ("auto_map", "trust_remote_code", "custom_pipelines", "custom_code")
"""Keys that name Python code to fetch or run."""
_LONGEST = 100_000_000
"""Tokens of a sequence, or pixels a side: more than any model's."""
_STORED: Mapping[str, Precision] = {"bfloat16": "bf16", "float16": "fp16"}
_SIZES = (
    *("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"),
    *("vocab_size", "num_experts", "moe_intermediate_size", "depths", "hidden_sizes"),
)
"""Fields whose library default is said where a file leaves them out."""
_ALWAYS_KEPT = (*_SIZES, "num_labels", "positions", "patch_size", "tie_word_embeddings")
"""Fields that a recipe is always told."""
_MOST_NAMED = 6


def target_of_config(path: Path, ask: Ask) -> Target:
    """The model that a config.json describes, trained as ``ask`` says; ValueError of one line."""
    path = Path(path)
    content = {
        key: _plain_number(value) for key, value in read_or_say(read_config, path, "model").items()
    }
    try:
        kind = _kind_of(content)
        counted = {word for words in kind.keys.values() for word in words}
        counted |= {*kind.idle, *(refusal.key.partition(".")[0] for refusal in kind.refuses)}
        follows = counted | implied(content)
        gated = bool(kind.defaults.get("gated"))
        if found := uncounted(content, follows, family=kind.family, gated=gated):
            raise RefusedKeyError(*found)
        strange = unknown_keys(content, counted | set(kind.longest), family=kind.family)
        missing, null = _missing(content, kind)
        if missing:
            others = ", ".join(missing[1:])
            also = f", and so {'is' if len(missing) == 2 else 'are'} {others}" if others else ""
            raise RefusedKeyError(missing[0], f"is missing{also}; write what the model has")
        if null is not None:
            raise RefusedKeyError(null, "is missing (null); write what the model has")
        longest = _longest(content, kind)
    except RefusedKeyError as error:
        raise ValueError(f"{path.name}, key '{error.args[0]}': {error.args[1]}") from None
    where = f"{path.name}, key"
    labels = content.get("id2label")
    more = {"num_labels": len(labels)} if isinstance(labels, dict) and labels else {}
    architecture = read_architecture(kind, content | more, where=where)
    if isinstance(architecture, Transformer) and longest is not None:
        longest = architecture.longest or longest - (architecture.padding_token + 1)
    layers = getattr(architecture, "num_hidden_layers", 0)
    model = untrained(
        # Its folder, where the file is called config.json like all others and a folder was named.
        name=path.parent.name or path.name if path.name == "config.json" else path.stem,
        kind=kind,
        arguments=_arguments(architecture) | timed_arguments(kind, content, layers, where=where),
    )
    stored = content.get("dtype") or content.get("torch_dtype")
    target = train(
        model,
        ask,
        own=False,
        longest=longest,
        # How a model of images was stored does not say how it was trained.
        precision=None if kind.family in IMAGE_FAMILIES else _STORED.get(str(stored)),
        said=lambda length: [*_said(content, architecture, length), *_passed_over(strange)],
    )
    recipe = target.recipe
    if recipe is None or not getattr(architecture, "num_experts", 0):
        return target
    count = count_flops(recipe)
    active, all_of_it = count_words(count.active_parameters), count_words(count.parameters)
    words = f"a token passes through {active} of its {all_of_it} parameters"
    return replace(target, assumptions=(words, *target.assumptions))


class RefusedKeyError(Exception):
    """A key of the file, and what is wrong with it."""


TIME_IT = "time your own training: advisor bench --name my-run -- COMMAND"
"""What answers of a model that is not counted."""


def _kind_of(content: Mapping[str, Any]) -> ModelType:
    """The row of the file's model type. Raises RefusedKeyError where it is none that is counted,
    and ValueError for what is no model's file."""
    name = content.get("model_type")
    if adapter(content):
        raise ValueError(
            "the file describes an adapter (LoRA and its kin); give the config.json of its model, "
            "with --train lora --rank R --data 50M"
        )
    if (timm := _name_of_timm(content)) is not None:
        raise ValueError(f"the file is timm's of {timm}; write the timm name {timm} instead")
    for key in ("_diffusers_version", "_class_name"):
        if key in content:
            raise RefusedKeyError(key, f"models of diffusion are not counted; {TIME_IT}")
    if not isinstance(name, str) or not name:
        such_as = "mamba" if "ssm_cfg" in content else "llama"
        lack = "is missing" if name is None else f"is {shown(repr(name))[1:-1]}"
        words = f"{lack}; write the architecture's name, as {such_as}"
        raise RefusedKeyError("model_type", words)
    kind = model_types().get(name)
    if kind is None:
        key, why = uncounted_kind(name, content)
        raise RefusedKeyError(key, why if "did you mean" in why else f"{why}; or {TIME_IT}")
    for key in CODE_KEYS:
        code = content.get(key)
        if code and not (key == "auto_map" and _is_namesake(code, name)):
            raise RefusedKeyError(
                key,
                "names code to run, which is never done here; remove the key if the model is a "
                "plain one of its model_type",
            )
    for refusal in kind.refuses:  # here, too, what is missing: the library's default is refused
        if refusal.refuses(content):
            # What asks for a plain decoder in its place answers of another model.
            also = f"; or {TIME_IT}" if "--parameters" in refusal.words else ""
            raise RefusedKeyError(refusal.key.partition(".")[0], f"{refusal.words}{also}")
    return kind


def _first(content: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """Which of the spellings the file has."""
    return next((key for key in keys if content.get(key) is not None), None)


def _missing(content: Mapping[str, Any], kind: ModelType) -> tuple[list[str], str | None]:
    """Keys that must be there and are not, and a size of null."""
    lacking = {field: keys for field, keys in kind.keys.items() if _first(content, keys) is None}
    sizes = (lacking.get(field, ()) for field in _SIZES if kind.defaults.get(field))
    null = next((key for keys in sizes for key in keys if key in content), None)
    return [keys[0] for keys in lacking.values() if keys[0] in kind.required], null


def _longest(content: Mapping[str, Any], kind: ModelType) -> int | None:
    """Tokens or pixels that the file names as the most; None where a file cannot say it."""
    if not kind.longest:
        return None
    if (key := _first(content, kind.longest)) is None:
        return kind.usual_length
    try:
        return whole(content[key], _LONGEST)
    except ValueError as problem:
        raise RefusedKeyError(key, str(problem)) from None


def _arguments(architecture: Architecture) -> dict[str, Any]:
    """What a recipe is told of the model: sizes, and what differs from the library's defaults."""
    kind, numbers = architecture.kind, arguments_of(architecture)
    return {
        keys[0]: numbers[keys[0]]
        for field, keys in kind.keys.items()
        if field in _ALWAYS_KEPT or getattr(architecture, field) != kind.defaults[field]
    }


def _name_of_timm(content: Mapping[str, Any]) -> str | None:
    """timm's own name of a model, where the file is one that timm writes."""
    name = content.get("architecture")
    written = content.get("model_type") in (None, "timm_wrapper")
    known = written and isinstance(name, str) and timm_model(name) is not None
    return plain_name(str(name)) if known else None


def _is_namesake(code: object, kind: str) -> bool:
    """Whether every class that ``auto_map`` names is called after the model's type, as in files
    from before the library had it (DeepSeek's, Phi's, Falcon's), so that the type says it all."""
    if not isinstance(code, dict):
        return False
    own = kind.replace("_", "").replace("-", "")
    expected = {own + ending for ending in _ENDINGS}
    return all(
        key in _OF_INPUTS or str(name).rpartition(".")[2].casefold() in expected
        for key, name in code.items()
    )


_ENDINGS = (
    *("config", "model", "forcausallm", "formaskedlm", "forsequenceclassification"),
    *("forpretraining", "fortokenclassification", "forquestionanswering"),
)
_OF_INPUTS = ("AutoTokenizer", "AutoProcessor", "AutoImageProcessor", "AutoFeatureExtractor")
"""What prepares a model's inputs is no work of a step."""


def _said(content: Mapping[str, Any], architecture: Architecture, length: int) -> list[str]:
    """What is assumed of a model that its counts do not show."""
    kind, said = architecture.kind, []
    if (window := said_of_windows(content, length)) is not None:
        said.append(window)
    if isinstance(architecture, EncoderDecoder):
        written = architecture.written(length)
        how = "masked spans" if architecture.relative_positions else None
        said.append(
            f"the decoder writes {written:,} tokens a sample"
            + (f" ({how})" if how else ", as many as are read")
        )
        if how and content.get("tie_word_embeddings") is False:
            said.append(
                "one table for input and output, as the library builds it, not two as the file says"
            )
    if any(content.get(key) for key in heads_of_later_tokens(content)):
        said.append("one token predicted at a time, as the library trains it")
    if content.get("attn_logit_softcapping"):
        said.append("attention as fast as without its soft cap, which not every fused kernel has")
    if content.get("sparse_prediction"):
        said.append("the output computed for every token, not for the masked alone")
    attention = content.get("attn_config")
    if content.get("alibi") or (isinstance(attention, dict) and attention.get("alibi")):
        said.append("attention as fast as without ALiBi's biases")
    if content.get("auto_map"):
        said.append(
            f"counted as the plain {kind.name}; the code that auto_map names is neither read nor "
            "run"
        )
    left_out = [
        f"{kind.keys[field][0]} {_written(kind.defaults[field])}"
        for field in _SIZES
        if kind.defaults.get(field)
        and field in kind.keys
        and _first(content, kind.keys[field]) is None
    ]
    if left_out:
        said.append(f"the library's own {', '.join(left_out)}, which the file leaves out")
    return [*said, *_said_of_outputs(content, kind)]


def _written(value: int | tuple[int, ...]) -> str:
    return f"{value:,}" if isinstance(value, int) else str(list(value))


def _passed_over(keys: tuple[str, ...]) -> list[str]:
    """That keys which are not known here were not counted."""
    if not keys:
        return []
    named = ", ".join(shown(key) for key in keys[:_MOST_NAMED])
    more = f" and {len(keys) - _MOST_NAMED} more" if len(keys) > _MOST_NAMED else ""
    one = len(keys) == 1
    return [
        f"that {'a key' if one else 'keys'} unknown here {'changes' if one else 'change'} no work: "
        f"{named}{more}"
    ]


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


def _said_of_outputs(content: Mapping[str, Any], kind: ModelType) -> list[str]:
    """What is assumed where a file's model has another output than the one counted."""
    said = [_TRAINED_AS[kind.name]] if kind.name in _TRAINED_AS else []
    images, pair = kind.family in IMAGE_FAMILIES, kind.description == "EncoderDecoder"
    counted = _COUNTED_OF_IMAGES if images else _COUNTED
    if pair:
        counted = (*counted, "ForConditionalGeneration")
    if kind.name == "electra":
        counted = (*counted, "ForPreTraining")
    names = content.get("architectures")
    for name in map(str, names if isinstance(names, list) else filter(None, [names])):
        if name.endswith(counted) and not name.endswith(_OTHER_MODELS):
            continue
        masked = kind.family == "encoder" and not pair
        what = "a masked language model" if masked else "a language model"
        return [f"trained as {'a classifier' if images else what}, not as {shown(name)}", *said]
    return said


def _plain_number(value: Any) -> Any:
    """4.0, which some files say, is 4."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def read_or_say(read: Callable[[Path], Any], path: Path, wanted: Literal["model", "recipe"]) -> Any:
    """What the file holds. Raises ValueError, which says what another file is."""
    try:
        return read(path)
    except ValueError:
        if path.is_file() and (found := what_it_is(path, wanted)) is not None:
            raise ValueError(f"{path.name} {found}") from None
        raise
