"""How the config.json of each model type says an architecture that is counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from advisor.prediction.model.decoder_kinds import DECODERS
from advisor.prediction.model.encoder_kinds import ENCODERS, PAIRS
from advisor.prediction.model.expert_kinds import MIXTURES
from advisor.prediction.model.kin import Kin
from bench_runner.models.architecture import ConvNext, ConvNextV2, Dinov2, Vit
from bench_runner.models.architecture_images import ResNet, Swin, Swinv2

_VIT = Kin(
    kind=Vit,
    kept="hidden_size num_hidden_layers num_attention_heads intermediate_size patch_size "
    "num_labels",
    longest="image_size",
    usual=224,
)
_CONVNEXT = Kin(
    kind=ConvNext,
    kept="depths hidden_sizes patch_size num_labels",
    longest="image_size",
    usual=224,
)
_SWIN = Kin(
    kind=Swin,
    kept="embed_dim depths num_heads window_size patch_size mlp_ratio num_labels",
    longest="image_size",
    usual=224,
)
_IMAGES: Mapping[str, Kin] = {
    "swin": _SWIN,
    "swinv2": replace(_SWIN, kind=Swinv2),
    "resnet": Kin(
        kind=ResNet,
        kept="embedding_size hidden_sizes depths layer_type num_labels",
        longest="image_size",
        usual=224,
    ),
    **dict.fromkeys(("vit", "deit", "beit", "data2vec-vision", "vit_msn"), _VIT),
    "dinov2": Kin(
        kind=Dinov2,
        kept="hidden_size num_hidden_layers num_attention_heads mlp_ratio patch_size num_labels",
        longest="image_size",
        usual=224,
    ),
    "convnext": _CONVNEXT,
    "convnextv2": replace(_CONVNEXT, kind=ConvNextV2, fixed={"layer_scale_init_value": 0.0}),
}
KIN: Mapping[str, Kin] = {**DECODERS, **MIXTURES, **ENCODERS, **PAIRS, **_IMAGES}
