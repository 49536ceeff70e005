"""Swin transformers and residual networks."""

from __future__ import annotations

from dataclasses import dataclass

from bench_runner.models.architecture_base import Architecture, one_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Swin(Architecture):
    """Liu et al. 2021: attention within windows, in stages that halve the image."""

    config_class = "SwinConfig"
    model_type = "swin"
    family = "vit"
    blocks = ("SwinStage",)
    embed_dim: int = 96
    depths: tuple[int, ...] = (2, 2, 6, 2)
    num_heads: tuple[int, ...] = (3, 6, 12, 24)
    window_size: int = 7
    patch_size: int = 4
    num_channels: int = 3
    num_labels: int = 2
    mlp_ratio: float = 4.0
    qkv_bias: bool = True
    use_absolute_embeddings: bool = False

    def contradiction(self) -> tuple[str, str] | None:
        if len(self.depths) != len(self.num_heads):
            return "depths", "has not as many stages as num_heads"
        for stage, heads in enumerate(self.num_heads):
            if (self.embed_dim * 2**stage) % heads:
                return "num_heads", f"{heads} does not divide the width {self.embed_dim * 2**stage}"
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Swinv2(Swin):
    """Liu et al. 2022: cosine attention, positions from a small network."""

    config_class = "Swinv2Config"
    model_type = "swinv2"
    attention = "eager"
    blocks = ("Swinv2Stage",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResNet(Architecture):
    """He et al. 2016."""

    config_class = "ResNetConfig"
    model_type = "resnet"
    family = "convnet"
    attention = None
    blocks = ("ResNetStage",)
    embedding_size: int = 64
    hidden_sizes: tuple[int, ...] = (256, 512, 1024, 2048)
    depths: tuple[int, ...] = (3, 4, 6, 3)
    layer_type: str = one_of("bottleneck", "basic")
    downsample_in_first_stage: bool = False
    downsample_in_bottleneck: bool = False
    num_channels: int = 3
    num_labels: int = 2

    def contradiction(self) -> tuple[str, str] | None:
        if len(self.depths) != len(self.hidden_sizes):
            return "depths", "has not as many stages as hidden_sizes"
        return None
