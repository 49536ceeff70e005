"""Reads a Hugging Face config.json as data: nothing in it is imported, fetched or run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from advisor.prediction.model.targets import Run, Target, make_target

LARGEST_FILE = 8 * 2**20
"""Bytes; the largest real ones name 21,841 classes in under two million."""
CODE_KEYS = ("auto_map", "trust_remote_code", "custom_pipelines", "custom_code")
"""Keys that name Python code to fetch or run."""

_LIMITS: Mapping[str, int] = {
    "layers": 10_000,
    "hidden": 1_000_000,
    "heads": 10_000,
    "vocabulary": 100_000_000,
    "length": 100_000_000,
}

_LLAMAS = (
    "llama",
    "mistral",
    "qwen2",
    "qwen3",
    "gemma",
    "gemma2",
    "gemma3_text",
    "phi3",
    "olmo",
    "olmo2",
    "olmo3",
    "stablelm",
    "granite",
    "smollm3",
    "cohere",
    "cohere2",
    "exaone4",
    "internlm2",
    "seed_oss",
    "ministral",
    "helium",
    "glm",
    "glm4",
    "arcee",
)
"""Decoders with gated feed-forward layers, under the same keys as Llama's."""
_TIED_LLAMAS = ("gemma", "gemma2", "gemma3_text", "smollm3", "cohere", "cohere2")
_UNGATED = ("opt", "bloom", "mpt", "gptj", "gpt_neo", "phi", "starcoder2", "gpt_bigcode", "falcon")
_BERTS = ("bert", "roberta", "xlm-roberta", "camembert", "electra", "ernie", "mpnet", "distilbert")
_VITS = ("vit", "deit", "dinov2", "beit", "vit_mae", "ijepa")


@dataclass(frozen=True, slots=True)
class _File:
    """A parsed config.json: hands out checked numbers and knows its own name."""

    name: str
    content: Mapping[str, Any]

    def error(self, key: str, problem: str) -> ValueError:
        return ValueError(f"{self.name}, key '{key}': {problem}")

    def first(self, keys: tuple[str, ...]) -> str | None:
        """Which of the spellings the file has."""
        return next((key for key in keys if self.content.get(key) is not None), None)

    def whole(self, keys: str, kind: str, default: int | None = None) -> int:
        """A number above 0 under one of the spellings, separated by spaces."""
        spellings = tuple(keys.split())
        key = self.first(spellings)
        if key is None:
            if default is None:
                raise self.error(spellings[0], "is missing; the model cannot be counted without it")
            return default
        value = self.content[key]
        if isinstance(value, float) and value.is_integer():
            value = int(value)  # mlp_ratio is often 4.0
        limit = _LIMITS[kind]
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= limit:
            shown = repr(value)
            shown = shown if len(shown) <= 40 else shown[:37] + "..."
            raise self.error(key, f"is {shown}; write a whole number from 1 to {limit:,}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self.content.get(key, default)
        return value if isinstance(value, bool) else default


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
    if kind not in _READERS:
        shown = kind if len(kind) <= 40 else kind[:37] + "..."
        raise file.error(
            "model_type",
            f"'{shown}' is not an architecture that can be predicted; known: "
            + ", ".join(sorted(_READERS)),
        )
    if any(isinstance(file.content.get(key), int) and file.content[key] > 1 for key in _EXPERTS):
        raise file.error(
            file.first(_EXPERTS) or "num_experts",
            "the model is a mixture of experts, of which there is no evidence; measure it",
        )
    model = _READERS[kind](file, kind)
    folder = path.resolve().parent.name
    return make_target(
        # Its folder, where the file is called config.json like all others.
        name=folder if path.name == "config.json" and folder else path.stem,
        family=model.family,
        config_class=model.config_class,
        arguments=model.arguments,
        run=run,
        longest=model.longest,
        # How a model of images was stored does not say how it was trained.
        precision=None if model.family in ("vit", "convnet") else _precision(file),
    )


_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")


def _read(path: Path) -> Mapping[str, Any]:
    import json

    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise ValueError(f"{path} is not there; give the path of a config.json") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder; give the path of the config.json in it") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    if len(raw) > LARGEST_FILE:
        raise ValueError(
            f"{path.name} is larger than {LARGEST_FILE // 2**20} MiB, which no config.json is; "
            "give the model's configuration, not its weights"
        )
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


def _precision(file: _File) -> str | None:
    stored = file.content.get("dtype") or file.content.get("torch_dtype")
    return {"bfloat16": "bf16", "float16": "fp16"}.get(str(stored))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """What a file describes, in the words of the class that it is counted as."""

    family: str
    config_class: str
    arguments: Mapping[str, Any]
    longest: int | None = None
    """Tokens of the longest sequence, or pixels of the image's side; None: the file cannot say."""


def _heads(file: _File, hidden: int, keys: str, default: int | None = None) -> int:
    heads = file.whole(keys, "heads", default)
    if heads > hidden:
        raise file.error(keys.split()[0], f"is {heads}, more than the hidden size {hidden}")
    return heads


def _llama(file: _File, kind: str) -> _Model:
    hidden = file.whole("hidden_size", "hidden")
    heads = _heads(file, hidden, "num_attention_heads")
    groups = file.whole("num_key_value_heads", "heads", heads)
    if heads % groups:
        raise file.error("num_key_value_heads", f"is {groups}, which does not divide {heads}")
    return _Model(
        family="decoder",
        config_class="LlamaConfig",
        arguments={
            "hidden_size": hidden,
            "num_hidden_layers": file.whole("num_hidden_layers", "layers"),
            "num_attention_heads": heads,
            "num_key_value_heads": groups,
            "head_dim": file.whole("head_dim", "hidden", max(1, hidden // heads)),
            "intermediate_size": file.whole("intermediate_size", "hidden"),
            "vocab_size": file.whole("vocab_size", "vocabulary"),
            "tie_word_embeddings": file.flag("tie_word_embeddings", kind in _TIED_LLAMAS),
        },
        longest=file.whole("max_position_embeddings", "length", 2048),
    )


def _ungated(file: _File, kind: str) -> _Model:
    """Decoders with a plain feed-forward layer, whatever their keys are called."""
    hidden = file.whole("hidden_size n_embd d_model n_embed", "hidden")
    inner = "ffn_dim ffn_hidden_size intermediate_size n_inner"
    return _Model(
        family="decoder",
        config_class="GPT2Config",
        arguments={
            "n_embd": hidden,
            "n_layer": file.whole("num_hidden_layers n_layer n_layers num_layers", "layers"),
            "n_head": _heads(file, hidden, "num_attention_heads n_head n_heads num_heads"),
            "n_inner": file.whole(inner, "hidden", 4 * hidden),
            "n_positions": 1 if kind in ("bloom", "falcon", "gptj", "phi", "starcoder2") else 2048,
            "vocab_size": file.whole("vocab_size", "vocabulary"),
            "tie_word_embeddings": file.flag("tie_word_embeddings", kind not in ("gptj", "phi")),
        },
        longest=file.whole(
            "max_position_embeddings n_positions max_seq_len seq_length", "length", 2048
        ),
    )


def _gpt2(file: _File, kind: str) -> _Model:
    hidden = file.whole("n_embd", "hidden", 768)
    positions = file.whole("n_positions", "length", 1024)
    return _Model(
        family="decoder",
        config_class="GPT2Config",
        arguments={
            "n_embd": hidden,
            "n_layer": file.whole("n_layer", "layers", 12),
            "n_head": _heads(file, hidden, "n_head", 12),
            "n_inner": file.whole("n_inner", "hidden", 4 * hidden),
            "n_positions": positions,
            "vocab_size": file.whole("vocab_size", "vocabulary", 50257),
        },
        longest=positions,
    )


def _neox(file: _File, kind: str) -> _Model:
    hidden = file.whole("hidden_size", "hidden", 6144)
    return _Model(
        family="decoder",
        config_class="GPTNeoXConfig",
        arguments={
            "hidden_size": hidden,
            "num_hidden_layers": file.whole("num_hidden_layers", "layers", 44),
            "num_attention_heads": _heads(file, hidden, "num_attention_heads", 64),
            "intermediate_size": file.whole("intermediate_size", "hidden", 24576),
            "vocab_size": file.whole("vocab_size", "vocabulary", 50432),
            "tie_word_embeddings": file.flag("tie_word_embeddings", False),
        },
        longest=file.whole("max_position_embeddings", "length", 2048),
    )


def _bert(file: _File, kind: str) -> _Model:
    hidden = file.whole("hidden_size dim", "hidden", 768)
    positions = file.whole("max_position_embeddings", "length", 512)
    return _Model(
        family="encoder",
        config_class="BertConfig",
        arguments={
            "hidden_size": hidden,
            "num_hidden_layers": file.whole("num_hidden_layers n_layers", "layers", 12),
            "num_attention_heads": _heads(file, hidden, "num_attention_heads n_heads", 12),
            "intermediate_size": file.whole("intermediate_size hidden_dim", "hidden", 3072),
            "vocab_size": file.whole("vocab_size", "vocabulary", 30522),
            "max_position_embeddings": positions,
        },
        longest=min(positions, 512),  # RoBERTa's kin reserve two positions more
    )


def _mamba(file: _File, kind: str) -> _Model:
    return _Model(
        family="ssm",
        config_class="MambaConfig",
        arguments={
            "hidden_size": file.whole("hidden_size d_model", "hidden", 768),
            "num_hidden_layers": file.whole("num_hidden_layers n_layer", "layers", 32),
            "state_size": file.whole("state_size", "hidden", 16),
            "conv_kernel": file.whole("conv_kernel", "hidden", 4),
            "expand": file.whole("expand", "heads", 2),
            "vocab_size": file.whole("vocab_size", "vocabulary", 50280),
            "tie_word_embeddings": file.flag("tie_word_embeddings", True),
        },
    )


def _vit(file: _File, kind: str) -> _Model:
    hidden = file.whole("hidden_size", "hidden", 768)
    ratio = file.whole("mlp_ratio", "heads", 4)
    size = file.whole("image_size", "length", 224)
    patch = file.whole("patch_size", "length", 16)
    if patch > size:
        raise file.error("patch_size", f"is {patch}, larger than the image ({size})")
    return _Model(
        family="vit",
        config_class="ViTConfig",
        arguments={
            "hidden_size": hidden,
            "num_hidden_layers": file.whole("num_hidden_layers", "layers", 12),
            "num_attention_heads": _heads(file, hidden, "num_attention_heads", 12),
            "intermediate_size": file.whole("intermediate_size", "hidden", ratio * hidden),
            "patch_size": patch,
            "num_labels": _labels(file),
        },
        longest=size,
    )


def _convnext(file: _File, kind: str) -> _Model:
    sizes: dict[str, list[int]] = {}
    for key, default in (("depths", [3, 3, 9, 3]), ("hidden_sizes", [96, 192, 384, 768])):
        value = file.content.get(key) or default
        good = isinstance(value, list) and all(
            isinstance(v, int) and not isinstance(v, bool) and 1 <= v <= _LIMITS["hidden"]
            for v in value
        )
        if not good or not 1 <= len(value) <= 8:
            raise file.error(key, "is no list of one to eight whole numbers above 0")
        sizes[key] = value
    if len(sizes["depths"]) != len(sizes["hidden_sizes"]):
        raise file.error("depths", "has not as many stages as hidden_sizes")
    return _Model(
        family="convnet",
        config_class="ConvNextConfig",
        arguments={
            **sizes,
            "patch_size": file.whole("patch_size", "length", 4),
            "num_labels": _labels(file),
        },
        longest=file.whole("image_size", "length", 224),
    )


def _labels(file: _File) -> int:
    names = file.content.get("id2label")
    if isinstance(names, dict) and names:
        return len(names)
    return file.whole("num_labels", "vocabulary", 2)


_Reader = Callable[[_File, str], _Model]
_READERS: Mapping[str, _Reader] = {
    **dict.fromkeys(_LLAMAS, _llama),
    **dict.fromkeys(_UNGATED, _ungated),
    **dict.fromkeys(_BERTS, _bert),
    **dict.fromkeys(_VITS, _vit),
    "gpt2": _gpt2,
    "gpt_neox": _neox,
    "mamba": _mamba,
    "falcon_mamba": _mamba,
    "convnext": _convnext,
    "convnextv2": _convnext,
}
