"""Reads a Hugging Face config.json as data: nothing in it is imported, fetched or run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from advisor.parse import shown
from advisor.prediction.model.activations import activation_arguments
from advisor.prediction.model.config_file import ConfigFile, plain_number, read_config
from advisor.prediction.model.config_kinds import KIN
from advisor.prediction.model.dropout import dropout_arguments
from advisor.prediction.model.encoder_kinds import LONGEST_BERT
from advisor.prediction.model.kin import Kin
from advisor.prediction.model.known_keys import implied, unknown_keys
from advisor.prediction.model.masks import window_arguments
from advisor.prediction.model.outputs import said_of_outputs
from advisor.prediction.model.targets import Run, Target, make_target
from advisor.prediction.model.uncounted import (
    adapter,
    heads_of_later_tokens,
    said_of_windows,
    uncounted,
    uncounted_kind,
)
from bench_runner.models.architecture import (
    Architecture,
    Mamba,
    TextTransformer,
    Vit,
    read_architecture,
)
from bench_runner.models.architecture_encoders import Bert
from bench_runner.models.architecture_experts import Experts
from bench_runner.models.architecture_text import Starcoder2
from bench_runner.models.architecture_two_sides import T5, Bart, target_length
from bench_runner.models.timm_models import plain_name, timm_model
from bench_runner.recipe_flops import count_flops
from bench_runner.recipes import ATTENTIONS, IMAGE_FAMILIES, Precision
from bench_runner.typed_numbers import count_words

CODE_KEYS = ("auto_map", "trust_remote_code", "custom_pipelines", "custom_code")
"""Keys that name Python code to fetch or run."""
_LONGEST = 100_000_000
"""Tokens of a sequence, or pixels a side: more than any model's."""
_STORED: Mapping[str, Precision] = {"bfloat16": "bf16", "float16": "fp16"}
_WIDEST = 1_000_000
_LARGEST_RATIO = 10_000


def target_of_config(path: Path, run: Run) -> Target:
    """The model that a config.json describes, trained as ``run`` says; ValueError of one line."""
    path = Path(path)
    file = ConfigFile(path.name, _one_spelling(read_config(path)))
    kind = file.content.get("model_type")
    if adapter(file.content):
        raise ValueError(
            f"{file.name} describes an adapter (LoRA and its kin), and training one is other work "
            "than training its model, which is not predicted; give the model's config.json"
        )
    if (name := _name_of_timm(file.content)) is not None:
        raise ValueError(f"{file.name} is timm's of {name}; write the timm name {name} instead")
    if "_diffusers_version" in file.content:
        raise file.error("_diffusers_version", "models of diffusion are not counted")
    if not isinstance(kind, str) or not kind:
        such_as = "mamba" if "ssm_cfg" in file.content else "llama"
        lack = "is missing" if kind is None else f"is {shown(repr(kind))[1:-1]}"
        raise file.error("model_type", f"{lack}; write the architecture's name, as {such_as}")
    if kind not in KIN:
        raise file.error(*uncounted_kind(kind, file.content, KIN))
    for key in CODE_KEYS:
        code = file.content.get(key)
        if code and not (key == "auto_map" and _is_namesake(code, kind)):
            raise file.error(
                key,
                "names code to run, which is never done here; remove the key if the model is a "
                "plain one of its model_type",
            )
    kin = KIN[kind]
    for refusal in kin.refuses:
        if not refusal.fits(file.content.get(refusal.key)):
            raise file.error(refusal.key, refusal.words)
    counted = {
        word for key in kin.kind().arguments() for word in kin.spelling.get(key, key).split()
    }
    counted |= set(kin.idle.split()) | ({"mlp_ratio"} if issubclass(kin.kind, Vit) else set())
    counted |= {refusal.key for refusal in kin.refuses}
    follows = counted | implied(file.content)
    gated = bool(getattr(kin.kind, "gated", False))
    found = uncounted(file.content, follows, family=kin.kind.family, gated=gated)
    if found is not None:
        raise file.error(*found)
    strange = unknown_keys(file.content, counted | set(kin.longest.split()), family=kin.kind.family)
    arguments = _arguments(file, kin)
    if kind == "helium" and (
        arguments["head_dim"] * arguments["num_attention_heads"] != arguments["hidden_size"]
    ):
        raise file.error("head_dim", "times num_attention_heads is hidden_size in every Helium")
    longest = file.whole(kin.longest, _LONGEST, kin.usual) if kin.longest else None
    if issubclass(kin.kind, Bert):
        # RoBERTa's kin reserve two positions more.
        spare = 2 if longest and longest % 64 == 2 else 0
        longest = (longest or LONGEST_BERT) - spare
    elif issubclass(kin.kind, Vit) and longest and arguments["patch_size"] > longest:
        raise file.error(
            "patch_size", f"is {arguments['patch_size']}, larger than the image ({longest})"
        )
    target = make_target(
        # Its folder, where the file is called config.json like all others and a folder was named.
        name=path.parent.name or path.name if path.name == "config.json" else path.stem,
        kind=kin.kind,
        arguments=arguments,
        run=run,
        longest=longest,
        # How a model of images was stored does not say how it was trained.
        precision=None if kin.kind.family in IMAGE_FAMILIES else _precision(file),
        positions_end=_positions_end(kin, arguments),
        said=lambda length: [*_said(file, kin, length), *_passed_over(strange)],
        attention=_attention(file, kin),
    )
    return _with_active(target)


def _positions_end(kin: Kin, arguments: Mapping[str, Any]) -> bool:
    """Whether each position has weights of its own."""
    if issubclass(kin.kind, Bart):
        return kin.kind.has_positions
    built = read_architecture(kin.kind, arguments, where="")
    return isinstance(built, TextTransformer) and built.longest is not None


def _with_active(target: Target) -> Target:
    """Of a mixture of experts, how much of it a token uses."""
    recipe = target.recipe
    if recipe is None or not isinstance(recipe.architecture, Experts):
        return target
    count = count_flops(recipe)
    active, all_of_it = count_words(count.active_parameters), count_words(count.parameters)
    words = f"a token passes through {active} of its {all_of_it} parameters"
    return replace(target, assumptions=(words, *target.assumptions))


def _name_of_timm(content: Mapping[str, Any]) -> str | None:
    """timm's own name of a model, where the file is one that timm writes."""
    name = content.get("architecture")
    written = content.get("model_type") in (None, "timm_wrapper")
    known = written and isinstance(name, str) and timm_model(name) is not None
    return plain_name(str(name)) if known else None


def _is_namesake(code: object, kind: object) -> bool:
    """Whether every class that ``auto_map`` names is called after the model's type, as in files
    from before the library had it (DeepSeek's, Phi's, Falcon's), so that the type says it all."""
    if not isinstance(code, dict) or not isinstance(kind, str) or kind not in KIN:
        return False
    own = kind.replace("_", "").replace("-", "")
    expected = {own + ending for ending in _ENDINGS}
    return all(
        key in _OF_INPUTS or str(name).rpartition(".")[2].casefold() in expected
        for key, name in code.items()
    )


_ENDINGS = (
    *("config", "model", "forcausallm", "formaskedlm", "forsequenceclassification"),
    "forpretraining",
    *("fortokenclassification", "forquestionanswering"),
)
_OF_INPUTS = ("AutoTokenizer", "AutoProcessor", "AutoImageProcessor", "AutoFeatureExtractor")
"""What prepares a model's inputs is no work of a step."""


def _attention(file: ConfigFile, kin: Kin) -> str | None:
    """The attention that the file asks for, where the model has the choice; None: not said."""
    key = file.first(("_attn_implementation", "attn_implementation"))
    if key is None or kin.kind.attention in (None, "eager"):
        return None
    said = file.content[key]
    if said not in ATTENTIONS:
        raise file.error(key, f"{shown(str(said))} is not one of {', '.join(ATTENTIONS)}")
    return str(said)


def _one_spelling(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """DeBERTa's kinds of relative attention in one text, where the library wrote them as a list."""
    kinds = content.get("pos_att_type")
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        return content
    return {**content, "pos_att_type": "|".join(kinds)}


def _said(file: ConfigFile, kin: Kin, length: int) -> list[str]:
    """What is assumed of a model that its counts do not show."""
    said = []
    if (window := said_of_windows(file.content, length)) is not None:
        said.append(window)
    if issubclass(kin.kind, T5):
        said.append(f"the decoder writes {target_length(length):,} tokens a sample (masked spans)")
        if file.content.get("tie_word_embeddings") is False:
            said.append(
                "one table for input and output, as the library builds it, not two as the file says"
            )
    if issubclass(kin.kind, Bart):
        said.append(f"the decoder writes {length:,} tokens a sample, as many as are read")
    if any(file.content.get(key) for key in heads_of_later_tokens(file.content)):
        said.append("one token predicted at a time, as the library trains it")
    if _attention(file, kin) == "eager":
        said.append(
            "unfused attention, as the file names it; settings that we write out ask for the fused "
            "kernel where that is faster, which computes the same"
        )
    if file.content.get("attn_logit_softcapping"):
        said.append("attention as fast as without its soft cap, which not every fused kernel has")
    if file.content.get("sparse_prediction"):
        said.append("the output computed for every token, not for the masked alone")
    if file.content.get("alibi") or _attention_of_mpt(file.content).get("alibi"):
        said.append("attention as fast as without ALiBi's biases")
    if file.content.get("auto_map"):
        said.append(
            f"counted as the plain {file.content['model_type']}; the code that auto_map names is "
            "neither read nor run"
        )
    if file.content.get("model_type") in _WITHOUT_FUSED:
        said.append("fused attention, which the library's own code for it does not use")
    if file.content.get("model_type") in ("beit", "data2vec-vision"):
        said.append("positions as in a vision transformer, a few weights in a hundred")
    return [*said, *said_of_outputs(file.content, kin.kind)]


def _attention_of_mpt(content: Mapping[str, Any]) -> Mapping[str, Any]:
    found = content.get("attn_config")
    return found if isinstance(found, dict) else {}


def _passed_over(keys: tuple[str, ...]) -> list[str]:
    """That keys which nobody knows here were not counted."""
    if not keys:
        return []
    named = ", ".join(shown(key) for key in keys[:_MOST_NAMED])
    more = f" and {len(keys) - _MOST_NAMED} more" if len(keys) > _MOST_NAMED else ""
    one = len(keys) == 1
    return [
        f"that {'a key' if one else 'keys'} unknown here {'changes' if one else 'change'} no work: "
        f"{named}{more}"
    ]


_MOST_NAMED = 6


_WITHOUT_FUSED = (
    *("gpt_neo", "xglm", "openai-gpt"),
    *("mpnet", "megatron-bert", "granite_swa", "granitemoe_swa"),
)
"""Of transformers 5.17 (no ``_supports_sdpa``); counted and built as their kin that have it."""


def _precision(file: ConfigFile) -> Precision | None:
    stored = file.content.get("dtype") or file.content.get("torch_dtype")
    return _STORED.get(str(stored))


def _arguments(file: ConfigFile, kin: Kin) -> dict[str, Any]:
    """What a recipe is told of the model: the keys that are always kept, and what else the file
    says that differs from what they imply."""
    spelling: dict[str, str] = {}
    given = dict(kin.defaults)
    for key in kin.kind().arguments():
        own = kin.spelling.get(key, key).split()
        spelling[key] = file.first(own) or own[0]
        _refuse_two_values(file, own)
        if (value := file.content.get(spelling[key])) is not None:
            given[key] = plain_number(value)
        elif spelling[key] in file.content:
            given.setdefault(key, None)  # which is not always to leave it out
    given |= kin.fixed
    if given.get("num_key_value_heads", 0) is None:  # null is to every class one for each head
        given["num_key_value_heads"] = given.get("num_attention_heads")
    if kin.kind is Starcoder2:
        _fill_in(given, file.content)
    if kin.kind is Mamba and (inner := file.whole("intermediate_size", _WIDEST, 0)):
        hidden = file.whole(kin.spelling["hidden_size"], _WIDEST, Mamba().hidden_size)
        if inner % hidden:
            raise file.error("intermediate_size", f"{inner} is no multiple of the width {hidden}")
        given["expand"] = inner // hidden  # which the library passes over where this is said
    names = file.content.get("id2label")
    if isinstance(names, dict) and names:
        given["num_labels"] = len(names)
    told = "mlp_ratio" in kin.defaults or file.content.get("mlp_ratio") is not None
    if kin.kind is Vit and told and "intermediate_size" not in given:
        ratio = file.whole("mlp_ratio", _LARGEST_RATIO, 4)
        given["intermediate_size"] = ratio * file.whole("hidden_size", _WIDEST, Vit().hidden_size)
    missing = [key for key in kin.required.split() if given.get(key) is None]
    if missing:
        raise file.error(spelling[missing[0]], _missing(file, kin, spelling, missing))
    where = f"{file.name}, key"
    architecture = read_architecture(kin.kind, given, where=where, spelling=spelling)
    kept = set(kin.kept.split())
    every = architecture.arguments()
    plain = read_architecture(kin.kind, {key: every[key] for key in kept}, where=where).arguments()
    counted = {key: value for key, value in every.items() if key in kept or value != plain[key]}
    return counted | _beside(file, architecture)


def _beside(file: ConfigFile, architecture: Architecture) -> dict[str, Any]:
    """What changes a step's time and none of its counts: dropout, windows, activations."""
    kind, where = architecture.config_class, f"{file.name}, key"
    layers = getattr(architecture, "num_hidden_layers", 0)
    return {
        **dropout_arguments(kind, file.content, where=where),
        **window_arguments(kind, file.content, layers, where=where),
        **activation_arguments(kind, file.content, where=where),
    }


def _refuse_two_values(file: ConfigFile, spellings: Sequence[str]) -> None:
    """ValueError where a number stands in the file twice, and is not the same."""
    said = [(key, file.content.get(key)) for key in spellings]
    numbers = [(key, value) for key, value in said if type(value) is int]
    for key, value in numbers[1:]:
        first, other = numbers[0]
        if value != other:
            raise file.error(key, f"is {value}, but {first}, which says the same, is {other}")


def _missing(
    file: ConfigFile, kin: Kin, spelling: Mapping[str, str], missing: Sequence[str]
) -> str:
    """What is wrong where sizes are missing; the library's own are another model's more often than
    not, and so are told and never taken."""
    others = ", ".join(spelling[key] for key in missing[1:])
    also = f", and so {'is' if len(missing) == 2 else 'are'} {others}" if others else ""
    own = ""
    if file.content.get("model_type") == kin.kind.model_type:
        taken = kin.kind().arguments()
        values = ", ".join(str(taken[key]) for key in missing)
        own = f" (where a file says nothing the library takes {values})"
    return f"is missing{also}; write what the model has{own}"


def _fill_in(given: dict[str, Any], content: Mapping[str, Any]) -> None:
    """What the plain decoders' files leave to their classes: the feed-forward layer's size and
    heads of keys and values."""
    model_type, heads = content["model_type"], given.get("num_attention_heads")
    hidden = given.get("hidden_size")
    if "intermediate_size" not in given and isinstance(hidden, int):
        given["intermediate_size"] = 4 * hidden
    if model_type != "starcoder2":
        given.setdefault("num_key_value_heads", heads)
