"""Kinds of models whose work is not counted: why, and what may be asked in their place."""

from __future__ import annotations

from collections.abc import Mapping

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
OTHER_WORK: Mapping[str, str] = {
    "openelm": "OpenELM's layers differ in heads and inner sizes, which is not counted; " + PLAIN,
    **dict.fromkeys(
        ("led", "bigbird_pegasus", "longt5", "prophetnet", "fsmt", "mvp", "t5gemma", "pegasus_x"),
        PAIRS_ALONE,
    ),
    **dict.fromkeys(
        ("nllb-moe", "switch_transformers"),
        "encoder-decoders with experts are not counted; write t5 or m2m_100 to ask for one without",
    ),
    **dict.fromkeys(
        (
            *("jamba", "zamba", "zamba2", "nemotron_h", "bamba"),
            *("falcon_h1", "recurrent_gemma", "qwen3_next", "kimi_linear", "minimax"),
            *("olmo_hybrid", "qwen3_5_text", "qwen3_5_moe_text"),
        ),
        f"layers of recurrence among those of attention are not counted; {PLAIN}",
    ),
    **dict.fromkeys(
        ("lfm2", "lfm2_moe"),
        f"short convolutions among layers of attention are not counted; {PLAIN}",
    ),
    **dict.fromkeys(
        ("minicpm3", "youtu"),
        f"keys through a narrow layer are counted with experts alone (DeepSeek's); {PLAIN}",
    ),
    "doge": f"Doge's attention learns what to leave out, which is not counted; {PLAIN}",
    "diffllama": "differences of two attentions are not counted; write llama with its sizes to ask "
    "for one",
    "bitnet": "BitNet is trained with three values a weight, which is not counted; write llama "
    "with its sizes to ask for the same in half precision",
    **dict.fromkeys(
        (
            *("big_bird", "longformer", "funnel", "fnet", "nystromformer", "yoso", "mra"),
            *("perceiver", "reformer", "canine"),
        ),
        "its attention is not one of every token to every other, which alone is counted; write "
        "bert with its sizes, or modernbert for long texts, to ask for that",
    ),
    **dict.fromkeys(
        ("convbert", "mobilebert", "squeezebert", "rembert", "xlnet"),
        "its layers are not BERT's and are not counted; write bert with its sizes to ask for those",
    ),
    **dict.fromkeys(
        (
            *("whisper", "wav2vec2", "hubert", "wavlm", "speech_to_text", "wav2vec2-bert"),
            *("wav2vec2-conformer", "unispeech", "seamless_m4t", "seamless_m4t_v2", "moonshine"),
        ),
        "models of speech read sound, which is not counted; write bart (or bert) with its sizes "
        "and --sequence-length for its frames to ask for the transformer alone",
    ),
    **dict.fromkeys(
        ("deepseek_v32", "deepseek_v4", "glm_moe_dsa"),
        "its attention chooses the tokens that it looks at, which is not counted; write "
        "deepseek_v3 and remove the keys that begin with index_ to ask for one that looks at all",
    ),
    **dict.fromkeys(
        ("gemma3n_text", "gemma4_text"),
        "layers with embeddings of their own, and layers that share keys, are not counted; write "
        "gemma3_text with its sizes to ask for layers without",
    ),
    **dict.fromkeys(
        ("llama4", "llama4_text"),
        "Llama 4's layers with experts and without in turn are not counted; write mixtral with "
        "its sizes to ask for experts in every layer",
    ),
    **dict.fromkeys(
        ("rwkv", "xlstm"),
        "layers of recurrence are counted as Mamba's alone; write mamba with its hidden_size and "
        "num_hidden_layers to ask for the nearest",
    ),
    "ibert": "I-BERT is trained in whole numbers, which is not counted; write roberta to ask for "
    "the same model in floating point",
    "bit": "Big Transfer is counted by its timm name alone; write one, such as resnetv2_50x1_bit",
    "qwen": "the first Qwen brings code of its own; its layers are Qwen 2's: write qwen2 and half "
    "the intermediate_size, which it halves itself",
    "kimi_k2": "its layers are DeepSeek V3's; write deepseek_v3",
    "mamba2": "Mamba 2's layers differ from Mamba's and are not counted; write mamba with its "
    "hidden_size and num_hidden_layers to ask for the nearest",
    "neobert": "NeoBERT's layers are EuroBERT's with two thirds of the intermediate_size that its "
    "file names; write eurobert and those two thirds",
    "phi4mm": "a model of text, images and sound is not counted; write phi3 to ask for its model "
    "of language alone",
    "dinov3_convnext": "its layers are ConvNeXt's; write convnext to ask for the classifier",
    **dict.fromkeys(
        ("dinov3_vit", "dinov2_with_registers"),
        "tokens beside the patches are not counted; write one of timm's names instead, such as "
        "vit_base_patch16_dinov3 or vit_base_patch14_reg4_dinov2",
    ),
    **dict.fromkeys(
        ("siglip_vision_model", "siglip2_vision_model"),
        "it is counted by its timm name alone; write one, such as vit_base_patch16_siglip_224",
    ),
    **dict.fromkeys(
        ("clip_vision_model", "aimv2_vision_model", "ijepa_vision", "videomae", "vjepa2"),
        "its training is other work than a classifier's and is not counted; write vit with its "
        "sizes to ask for the classifier",
    ),
    "vit_mae": "masked autoencoding feeds a quarter of the patches and trains a decoder beside the "
    "model, which is not counted; write vit to ask for the classifier",
    "ijepa": "its training predicts one part of an image from another, which is not counted; write "
    "vit to ask for the classifier",
}
LANGUAGE_OF: Mapping[object, str] = {
    **dict.fromkeys(("qwen2_vl_text", "qwen2_5_vl_text", "qwen2_5_omni_text"), "qwen2"),
    "qwen3_vl_text": "qwen3",
    "glm4v_text": "glm4",
    "glm4v_moe_text": "glm4_moe",
}
"""Language models of those that see, and which others have the same layers."""
