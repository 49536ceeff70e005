"""Reads a Hugging Face config.json as data: nothing in it is imported, fetched or run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from advisor.prediction.model.targets import Run, Target, make_target
from bench_runner.architecture import (
    Architecture,
    Bert,
    ConvNext,
    Gpt2,
    GptNeoX,
    Llama,
    Mamba,
    Roberta,
    Vit,
    read_architecture,
    whole,
)
from bench_runner.outside import OutsideError, TooLargeError, read_outside
from bench_runner.recipes import IMAGE_FAMILIES, Precision

LARGEST_FILE = 8 * 2**20
"""Bytes; the largest real ones name 21,841 classes in under two million."""
CODE_KEYS = ("auto_map", "trust_remote_code", "custom_pipelines", "custom_code")
"""Keys that name Python code to fetch or run."""
_LONGEST = 100_000_000
"""Tokens of a sequence, or pixels a side: more than any model's."""
_STORED: Mapping[str, Precision] = {"bfloat16": "bf16", "float16": "fp16"}
_WIDEST = 1_000_000
_LARGEST_RATIO = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kin:
    """How the files of some model types say the numbers of an architecture that stands for them.

    Keys are those of the architecture's configuration class, which is what a recipe keeps.
    """

    kind: type[Architecture]
    kept: str
    """The keys that a recipe is always told, separated by spaces."""
    spelling: Mapping[str, str] = field(default_factory=dict)
    """The file's own keys, the first that it has, separated by spaces."""
    required: str = ""
    """The keys that must be there, for their defaults are another model's."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What the files leave out, where it is not the architecture's own default."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What stands for the model, whatever the file says under this key."""
    longest: str = ""
    """The file's own keys of the longest sequence or the image's side; "": it cannot say."""
    usual: int = 2048
    """... and what they default to, in tokens or pixels."""


_LONGEST_BERT = 512
"""Tokens; RoBERTa's kin reserve two positions more."""
_SIZES = "hidden_size num_hidden_layers num_attention_heads intermediate_size vocab_size"
_LLAMA = _Kin(
    kind=Llama,
    kept=f"{_SIZES} num_key_value_heads head_dim tie_word_embeddings",
    required=_SIZES,
    longest="max_position_embeddings",
)
_UNGATED = _Kin(
    kind=Gpt2,
    kept="n_embd n_layer n_head n_inner n_positions vocab_size tie_word_embeddings",
    spelling={
        "n_embd": "hidden_size n_embd d_model n_embed",
        "n_layer": "num_hidden_layers n_layer n_layers num_layers",
        "n_head": "num_attention_heads n_head n_heads num_heads",
        "n_inner": "ffn_dim ffn_hidden_size intermediate_size n_inner",
    },
    required="n_embd n_layer n_head vocab_size",
    fixed={"n_positions": 2048},
    longest="max_position_embeddings n_positions max_seq_len seq_length",
)
"""Decoders with a plain feed-forward layer, whatever their keys are called."""
_UNPLACED = replace(_UNGATED, fixed={"n_positions": 1})
"""Of these, the ones that learn no positions."""
_BERT = _Kin(
    kind=Bert,
    kept=f"{_SIZES} max_position_embeddings",
    spelling={
        "hidden_size": "hidden_size dim",
        "num_hidden_layers": "num_hidden_layers n_layers",
        "num_attention_heads": "num_attention_heads n_heads",
        "intermediate_size": "intermediate_size hidden_dim",
    },
    longest="max_position_embeddings",
    usual=_LONGEST_BERT,
)
_MAMBA = _Kin(
    kind=Mamba,
    kept="hidden_size num_hidden_layers state_size conv_kernel expand vocab_size "
    "tie_word_embeddings",
    spelling={
        "hidden_size": "hidden_size d_model",
        "num_hidden_layers": "num_hidden_layers n_layer",
    },
)
_VIT = _Kin(
    kind=Vit,
    kept="hidden_size num_hidden_layers num_attention_heads intermediate_size patch_size "
    "num_labels",
    longest="image_size",
    usual=224,
)
_CONVNEXT = _Kin(
    kind=ConvNext,
    kept="depths hidden_sizes patch_size num_labels",
    longest="image_size",
    usual=224,
)
_WIDE_HEADS = {"head_dim": 256}
_TIED = {"tie_word_embeddings": True}
_KIN: Mapping[str, _Kin] = {
    # Decoders with gated feed-forward layers, under the same keys as Llama's.
    **dict.fromkeys(
        (
            *("llama", "mistral", "qwen2", "phi3", "olmo", "olmo2", "olmo3", "stablelm"),
            *("granite", "exaone4", "internlm2", "ministral", "helium", "arcee"),
        ),
        _LLAMA,
    ),
    **dict.fromkeys(
        ("qwen3", "seed_oss", "glm", "glm4"), replace(_LLAMA, defaults={"head_dim": 128})
    ),
    **dict.fromkeys(
        ("gemma", "gemma2", "gemma3_text"), replace(_LLAMA, defaults=_TIED | _WIDE_HEADS)
    ),
    **dict.fromkeys(("smollm3", "cohere", "cohere2"), replace(_LLAMA, defaults=_TIED)),
    **dict.fromkeys(("opt", "mpt", "gpt_neo", "gpt_bigcode"), _UNGATED),
    **dict.fromkeys(("bloom", "falcon", "starcoder2"), _UNPLACED),
    **dict.fromkeys(("gptj", "phi"), replace(_UNPLACED, defaults={"tie_word_embeddings": False})),
    "gpt2": _Kin(
        kind=Gpt2,
        kept="n_embd n_layer n_head n_inner n_positions vocab_size",
        longest="n_positions",
        usual=Gpt2().positions,
    ),
    "gpt_neox": _Kin(
        kind=GptNeoX,
        kept=f"{_SIZES} tie_word_embeddings",
        longest="max_position_embeddings",
    ),
    **dict.fromkeys(("bert", "xlm-roberta", "camembert", "ernie"), _BERT),
    "roberta": replace(_BERT, defaults={"vocab_size": Roberta().vocab_size}),
    "mpnet": replace(_BERT, defaults={"vocab_size": 30527}),
    "distilbert": replace(_BERT, defaults={"num_hidden_layers": 6}),
    "electra": replace(
        _BERT,
        defaults={"hidden_size": 256, "num_attention_heads": 4, "intermediate_size": 1024},
    ),
    "mamba": _MAMBA,
    "falcon_mamba": _MAMBA,
    **dict.fromkeys(("vit", "deit", "beit", "vit_mae", "ijepa"), _VIT),
    "dinov2": replace(_VIT, defaults={"patch_size": 14, "mlp_ratio": 4}),
    "convnext": _CONVNEXT,
    "convnextv2": _CONVNEXT,
}


@dataclass(frozen=True, slots=True)
class _File:
    """A parsed config.json, which knows its own name."""

    name: str
    content: Mapping[str, Any]

    def error(self, key: str, problem: str) -> ValueError:
        return ValueError(f"{self.name}, key '{key}': {problem}")

    def first(self, keys: Iterable[str]) -> str | None:
        """Which of the spellings the file has."""
        return next((key for key in keys if self.content.get(key) is not None), None)

    def whole(self, keys: str, most: int, default: int) -> int:
        """A number above 0 under one of the spellings, separated by spaces."""
        key = self.first(keys.split())
        if key is None:
            return default
        try:
            return whole(_plain(self.content[key]), most)
        except ValueError as problem:
            raise self.error(key, str(problem)) from None


def _plain(value: Any) -> Any:
    """4.0, which some files say, is 4."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def target_of_config(path: Path, run: Run) -> Target:
    """The model that a config.json describes, trained as ``run`` says; ValueError of one line."""
    path = Path(path)
    file = _File(path.name, _read(path))
    for key in CODE_KEYS:
        if file.content.get(key):
            raise file.error(
                key,
                "names code to run, which is never done here; remove the key if the model is a "
                "plain one of its model_type",
            )
    kind = file.content.get("model_type")
    if not isinstance(kind, str) or not kind:
        raise file.error("model_type", "is missing; write the architecture's name, as llama")
    if kind not in _KIN:
        shown = kind if len(kind) <= 40 else kind[:37] + "..."
        raise file.error(
            "model_type",
            f"'{shown}' is not an architecture that can be predicted; known: "
            + ", ".join(sorted(_KIN)),
        )
    if any(isinstance(file.content.get(key), int) and file.content[key] > 1 for key in _EXPERTS):
        raise file.error(
            file.first(_EXPERTS) or "num_experts",
            "the model is a mixture of experts, of which there is no evidence; measure it",
        )
    kin = _KIN[kind]
    arguments = _arguments(file, kin)
    longest = file.whole(kin.longest, _LONGEST, kin.usual) if kin.longest else None
    if issubclass(kin.kind, Bert):
        longest = min(longest or _LONGEST_BERT, _LONGEST_BERT)
    elif issubclass(kin.kind, Vit) and longest and arguments["patch_size"] > longest:
        raise file.error(
            "patch_size", f"is {arguments['patch_size']}, larger than the image ({longest})"
        )
    folder = path.resolve().parent.name
    return make_target(
        # Its folder, where the file is called config.json like all others.
        name=folder if path.name == "config.json" and folder else path.stem,
        kind=kin.kind,
        arguments=arguments,
        run=run,
        longest=longest,
        # How a model of images was stored does not say how it was trained.
        precision=None if kin.kind.family in IMAGE_FAMILIES else _precision(file),
    )


_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")


def _read(path: Path) -> Mapping[str, Any]:
    import json

    try:
        raw = read_outside(path, LARGEST_FILE)
    except FileNotFoundError:
        raise ValueError(f"{path} is not there; give the path of a config.json") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder; give the path of the config.json in it") from None
    except TooLargeError:
        raise ValueError(
            f"{path.name} is larger than {LARGEST_FILE // 2**20} MiB, which no config.json is; "
            "give the model's configuration, not its weights"
        ) from None
    except OutsideError as error:
        raise ValueError(f"{path.name} {error}") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    try:
        content = json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path.name} is not UTF-8 text (byte {error.start}); give a config.json"
        ) from None
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path.name} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        ) from None
    except (RecursionError, MemoryError):
        raise ValueError(
            f"{path.name} is nested too deeply to be a configuration; give a config.json"
        ) from None
    except ValueError:  # a number of more digits than Python converts
        raise ValueError(f"{path.name} holds a number too long to be one; correct it") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path.name} holds no object; a config.json starts with an open brace")
    return content


def _precision(file: _File) -> Precision | None:
    stored = file.content.get("dtype") or file.content.get("torch_dtype")
    return _STORED.get(str(stored))


def _arguments(file: _File, kin: _Kin) -> dict[str, Any]:
    """What a recipe is told of the model: the keys that are always kept, and what else the file
    says that differs from what they imply."""
    spelling: dict[str, str] = {}
    given = dict(kin.defaults)
    for key in kin.kind().arguments():
        own = kin.spelling.get(key, key).split()
        spelling[key] = file.first(own) or own[0]
        if (value := file.content.get(spelling[key])) is not None:
            given[key] = _plain(value)
    given |= kin.fixed
    names = file.content.get("id2label")
    if isinstance(names, dict) and names:
        given["num_labels"] = len(names)
    told = "mlp_ratio" in kin.defaults or file.content.get("mlp_ratio") is not None
    if kin.kind is Vit and told and "intermediate_size" not in given:
        ratio = file.whole("mlp_ratio", _LARGEST_RATIO, 4)
        given["intermediate_size"] = ratio * file.whole("hidden_size", _WIDEST, Vit().hidden_size)
    where = f"{file.name}, key"
    architecture = read_architecture(
        kin.kind, given, where=where, spelling=spelling, required=kin.required.split()
    )
    kept = set(kin.kept.split())
    every = architecture.arguments()
    plain = read_architecture(kin.kind, {key: every[key] for key in kept}, where=where).arguments()
    return {key: value for key, value in every.items() if key in kept or value != plain[key]}
