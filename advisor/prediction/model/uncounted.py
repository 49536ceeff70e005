"""What a config.json says besides the numbers that are counted.

What changes the work of a training is refused with the reason; what is known to change none is
passed over; what is not known at all is passed over with a word.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from advisor.typed_input import shown
from bench_runner.models.architecture import Refusal
from bench_runner.models.model_types import model_types
from bench_runner.models.timm_models import timm_names

PLAIN = "--model decoder --parameters 7B asks for a plain decoder of its size"
"""What may be asked in place of most decoders, with the size that theirs has."""
BY_SIZE = (
    "of a plain transformer give the size instead, --model decoder (or encoder, vit) "
    "--parameters 7B"
)
EXPERTS = (
    "write qwen3_moe with its sizes, or deepseek_v3 where some experts are shared, to ask for the "
    "nearest"
)
PAIRS_ALONE = (
    "encoder-decoders are counted as T5, BART and their kin alone; write t5 or bart with its sizes "
    "to ask for the nearest"
)
_LONGEST_KIND = 60
_TELLING = (
    *("expert", "moe_", "first_k_dense", "lora", "adapter", "peft", "prefix_tuning"),
    *("mamba", "ssm", "d_inner", "headdim", "conv_", "hyena", "recurren", "recurs"),
    *("cross_attention", "attn_cfg", "attn_layer", "linear_attn"),
    *("linear_attention", "sparse_attention", "sparse_config", "blocksparse", "attention_window"),
    *("attention_chunk", "attention_sink", "encoder_attention_type", "local_radius", "index_topk"),
    *("index_head", "compression_ratio", "memory_", "hybrid", "kv_head", "head_kv"),
    *("key_value_heads", "key_value_groups", "query_group", "kv_channels", "head_dim", "head_size"),
    *("vision", "visual", "audio", "mm_projector", "mm_hidden", "codebook", "num_frames"),
    *("tubelet", "mask_ratio", "register_tokens", "prune", "altup", "laurel", "hyper_connection"),
    *("early_exit", "mixture_of_depths", "num_hidden_groups", "kv_share", "shared_", "share_layer"),
    *("layer_sharing", "layer_reuse", "unique_layers", "cross_layer", "use_cla", "cla_share"),
    *("loop", "num_repeats", "ut_steps", "block_config", "block_types", "per_layer"),
    *("layer_config", "multipliers", "intermediate_sizes", "d_intermediate", "ffn_config"),
    *("embedding_dim", "embedding_rank", "embedding_size", "embed_proj", "use_moe", "num_moe"),
    *("mlp_ratio", "expansion_ratio", "multi_query", "new_decoder_architecture"),
    *("distill", "teacher", "encoder_layers", "decoder_layers"),
)
"""Parts of keys that make a model another one where their value says so."""
_NO_WORK = ("_dropout", "_prob", "_token_id", "_token_ids", "_token_index")
_IN_WORDS = ("hybrid", "vision", "visual", "audio", "mm_projector", "attention_type", "ssm_layer")
"""Those of them whose value may be a word."""
_PARTS = ("text_config", "vision_config", "audio_config", "encoder", "decoder", "backbone_config")
_PLAIN_LAYERS = {"full_attention", "sliding_attention", "attention", "global", "local"}
_ACTIVATIONS = (
    *("hidden_act", "activation_function", "activation", "hidden_activation", "afn"),
    *("feed_forward_type", "mlp_type", "ffn_type"),
)
_HARMLESS = {
    "num_experts_per_token",
    "moe_layer_freq",  # which is looked at apart
    "ep_size",
    "expert_dropout",
    "output_router_logits",
    "memory_efficient_attention",
    "moe_router_enable_expert_bias",
    "qk_head_dim",  # of the two that it is put together from
    "pad_head_dim_to_multiple_of",
}


_STORED_IN_FEWER_BITS = (
    *("quantization_config", "compression_config", "quantization"),
    *("load_in_4bit", "_load_in_4bit", "load_in_8bit", "_load_in_8bit"),
)


@cache
def _table(name: str) -> dict[str, Any]:
    import tomllib

    text = (Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def other_work() -> Mapping[str, str]:
    """Model types whose work is not counted: why, and what may be asked in their place."""
    return {
        each: row["words"].format(plain=PLAIN, pairs=PAIRS_ALONE)
        for row in _table("uncounted_types")["other_work"]
        for each in row["types"].split()
    }


def language_of() -> Mapping[str, str]:
    """Language models of those that see, and which model type has the same layers."""
    found: dict[str, str] = _table("uncounted_types")["language_of"]
    return found


@cache
def _refused(family: str) -> tuple[Refusal, ...]:
    """Keys that make a model of a family another one than those that are counted."""
    return tuple(
        Refusal(**{**row, "allowed": tuple(row.get("allowed", ()))})
        for families, row in (
            (row["families"], {**row}) for row in _table("uncounted_types")["refused"]
        )
        if family in families.split() and row.pop("families")
    )


def uncounted_kind(kind: str, content: Mapping[str, Any]) -> tuple[str, str]:
    """The key that says a model is of a type that is not counted, and why it is refused, with what
    may be asked instead."""
    if kind in other_work():
        return "model_type", other_work()[kind]
    if (parts := of_several(content)) is not None:
        return parts
    if content.get("is_encoder_decoder") is True:
        return "model_type", PAIRS_ALONE
    bare = kind.casefold().replace("_", "")[:_LONGEST_KIND]
    timm = next((name for name in timm_names() if name.replace("_", "").startswith(bare)), None)
    if timm is not None and "vocab_size" not in content:
        words = f"{shown(kind)} is counted by its timm name alone; write one, such as {timm}"
        return "model_type", words
    if any("expert" in key and type(value) is int and value > 1 for key, value in content.items()):
        return "model_type", f"the mixture of experts {shown(kind)} is not counted; {EXPERTS}"
    # A library wrote it, not a person: only what is all but the same can be a slip.
    # Of one with another number the layers may be others, too.
    numbers = _digits(kind)
    alike = [each for each in model_types() if _digits(each) == numbers]
    near = get_close_matches(kind.casefold()[:_LONGEST_KIND], alike, n=1, cutoff=0.88)
    mend = f"did you mean '{near[0]}'?" if near else BY_SIZE
    return "model_type", f"{shown(kind)} is not an architecture that is counted here; {mend}"


def _digits(kind: str) -> str:
    return "".join(letter for letter in kind if letter.isdigit())


def adapter(content: Mapping[str, Any]) -> bool:
    """Whether the file describes an adapter, whose base model lies elsewhere."""
    return "peft_type" in content or ("base_model_name_or_path" in content and "r" in content)


def uncounted(
    content: Mapping[str, Any], known: Collection[str], *, family: str, gated: bool = False
) -> tuple[str, str] | None:
    """A key of the file that says something of the work that would be passed over, and why it is
    refused; None where there is none. ``known`` are the keys that are counted or follow from
    others; ``gated``, whether the feed-forward layers that are counted have gates."""
    if stored := next((key for key in _STORED_IN_FEWER_BITS if content.get(key)), ""):
        return stored, (
            "the weights are stored in fewer bits, which are not trained as they are; remove the "
            "key to ask for a training in mixed precision"
        )
    if (found := of_several(content)) is not None:
        return found
    layers = content.get("layer_types") or content.get("layers_block_type")
    if isinstance(layers, list):
        others = [str(each) for each in layers if str(each) not in _PLAIN_LAYERS]
        if others:
            words = f"layers of the kind {others[0][:40]!r} are not counted here; {PLAIN}"
            return "layer_types", words
        said = content.get("num_hidden_layers")
        if isinstance(said, int) and said != len(layers):
            names = f"names {len(layers)} layers, num_hidden_layers says {said}"
            return "layer_types", f"{names}; write one a layer"
    for refusal in _refused(family):
        key = refusal.key.partition(".")[0]
        if key not in known and refusal.refuses(content):
            return key, refusal.words
    if not _every_layer_routes(content):
        key = "mlp_layer_types" if content.get("mlp_layer_types") else "moe_layer_freq"
        return key, "layers with experts and layers without in turn are not counted"
    classes = content.get("architectures")
    for name in classes if isinstance(classes, list) else [classes]:
        if "Bidirectional" in str(name):
            return "architectures", (
                f"{str(name)[:60]} attends without a causal mask, which is not counted; remove the "
                "key for the language model"
            )
        if "ForMaskedImageModeling" in str(name) or str(name).endswith("MAEForPreTraining"):
            return "architectures", (
                f"{str(name)[:60]} is trained on masked images, which is other work than a "
                "classifier's; remove the key to ask for the classifier"
            )
    for key in _ACTIVATIONS:
        if not gated and key not in known and "glu" in str(content.get(key)).casefold():
            return key, (
                f"a gated feed-forward layer ({shown(str(content[key]))}) is not counted in this "
                "model_type; write llama with the same sizes for a decoder, modernbert for an "
                "encoder"
            )
    for key, value in content.items():
        telling = any(word in key.lower() for word in _TELLING)
        if not telling or key in known or key in _HARMLESS or key.endswith(_NO_WORK):
            continue
        written = isinstance(value, str) and any(word in key.lower() for word in _IN_WORDS)
        if (written or isinstance(value, int | float | dict | list)) and value:
            return key, (
                "says something of the architecture that is not counted here; remove the key if "
                "the model is one without it"
            )
    return None


def of_several(content: Mapping[str, Any]) -> tuple[str, str] | None:
    """The key that says the model is put together of several; None where none does."""
    parts = [key for key in _PARTS if isinstance(content.get(key), dict)]
    if not parts:
        return None
    first = parts[0]
    kind = content[first].get("model_type")
    how = "give the config.json of one of them"
    if kind in language_of() or kind in model_types():
        how = f"to ask for that one alone, give what is under {first} as a file"
        if kind in language_of():
            how += f", and write {language_of()[kind]} as its model_type"
    return first, f"a model of several models is not counted; {how}"


def _every_layer_routes(content: Mapping[str, Any]) -> bool:
    """Whether every layer behind the first dense ones has experts, as is counted."""
    often = content.get("moe_layer_freq", 1)
    named = content.get("mlp_layer_types")
    if isinstance(named, list):
        often = [each == "sparse" for each in named]
    if isinstance(often, list):
        dense = content.get("first_k_dense_replace")
        first = dense if isinstance(dense, int) else 0
        return all(bool(each) == (number >= first) for number, each in enumerate(often))
    return often in (None, 1)


_WHOLE = _PLAIN_LAYERS - {"sliding_attention", "local"}
_WINDOWS = ("sliding_window", "sliding_window_size", "local_attention")


def said_of_windows(content: Mapping[str, Any], length: int) -> str | None:
    """What is assumed of a window of attention that is shorter than the sequence: under the mask of
    a fused kernel the whole square is computed."""
    window = next((content[key] for key in _WINDOWS if content.get(key)), None)
    if content.get("model_type") == "gpt_neo":
        window = content.get("window_size", 256)
    if content.get("model_type") == "mpt" and isinstance(content.get("attn_config"), dict):
        window = content["attn_config"].get("sliding_window_size")
    if not isinstance(window, int) or isinstance(window, bool) or not 0 < window < length:
        return None
    kinds = content.get("layer_types")
    every_full = isinstance(kinds, list) and bool(kinds) and set(map(str, kinds)) <= _WHOLE
    if content.get("use_sliding_window") is False or every_full:
        return None
    return f"attention computed over all {length:,} tokens, its window of {window:,} only masked"


_OF_LATER_TOKENS = ("mtp", "nextn", "future_tokens", "medusa")


def heads_of_later_tokens(content: Mapping[str, Any]) -> tuple[str, ...]:
    """Keys of layers that predict more than the next token, which the library does not train."""
    return tuple(key for key in content if any(word in key for word in _OF_LATER_TOKENS))


def unknown_keys(
    content: Mapping[str, Any], counted: Collection[str], *, family: str
) -> tuple[str, ...]:
    """Keys of the file that are neither counted nor known to change no work, and say something:
    what is false, null, 0 or empty is switched off."""
    lists = {name: tuple(words.split()) for name, words in _table("keys_without_effect").items()}
    kinds = ["library", "alike", "small", "elsewhere", "experts"]
    kinds += {"ssm": ["ssm"], "vit": ["images"], "convnet": ["images"]}.get(family, [])
    if content.get("is_encoder_decoder") is not False and "decoder_layers" in counted:
        kinds.append("pairs")
    known = implied(content).union(*(lists[kind] for kind in kinds))
    return tuple(
        key
        for key, value in content.items()
        if value
        and key not in counted
        and key not in known
        and key not in heads_of_later_tokens(content)
        and not key.startswith(lists["starts"])
        and not key.endswith(lists["ends"])
    )


def implied(content: Mapping[str, Any]) -> frozenset[str]:
    """Keys whose value follows from the others, as some files spell it out."""

    def first(*keys: str) -> int:
        found = (content.get(key) for key in keys)
        return next((value for value in found if type(value) is int and value > 0), 0)

    hidden = first("hidden_size", "d_model", "n_embd", "dim")
    heads = first(
        "num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"
    )
    shared = first("num_key_value_heads", "num_kv_heads") or heads
    size = first("head_dim") or (hidden // heads if heads else 0)
    values: dict[str, object] = {
        "num_key_value_groups": heads // shared if shared else 0,
        "num_key_value_heads": 1 if content.get("multi_query") else heads,
        "d_inner": 2 * hidden,
        "num_layers": first("num_hidden_layers", "n_layer"),
        "mlp_type": "default",
        "feed_forward_type": "original",
    }
    values |= dict.fromkeys(("attention_head_size", "head_size", "kv_channels", "v_head_dim"), size)
    values |= dict.fromkeys(
        (
            *("embedding_dim", "input_embedding_size", "output_embedding_size", "embedding_size"),
            *("hidden_size", "word_embed_proj_dim"),
        ),
        hidden,
    )
    inner = first("intermediate_size", "ffn_dim", "n_inner", "hidden_dim") or 4 * hidden
    values |= dict.fromkeys(("mlp_ratio", "expansion_ratio"), inner / hidden if hidden else 0)
    values["head_dim"] = content.get("qk_rope_head_dim", hidden // heads if heads else 0)
    if type(content.get("expand")) is int:
        values["d_inner"] = content["expand"] * hidden
    return frozenset(
        key for key, value in values.items() if content.get(key) == value and value is not None
    )
