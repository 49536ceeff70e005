"""What a GPU kernel does, by its name: matrix products by precision, attention, and so on."""

from __future__ import annotations

import re
from functools import cache

PRODUCTS = ("fp8", "fp16", "bf16", "tf32", "fp32", "fp64")
"""Precisions of matrix products and convolutions."""
KINDS = (*PRODUCTS, "attention", "loads", "memory", "communication", "transfer", "data", "host")
"""``loads``: scans and depthwise convolutions, which wait for their loads to be issued. ``memory``:
bound by memory bandwidth. ``transfer``: copies between host and GPU. ``data``: the
GPU waits for the next batch. ``host``: it waits for the program that launches its kernels."""
UNKNOWN_PRODUCT = "product"
"""A matrix product whose name says no precision, such as one that Triton compiled."""

_COMMUNICATION = re.compile(
    r"nccl|rccl|msccl|all_?reduce|all_?gather|reduce_?scatter|one_shot_|two_shot_|symm_mem"
)
_ATTENTION = re.compile(
    r"flash|fmha|_sdpa_|sdpa_|attn|attention(?!_mask)|mem_eff|cudnn_generated_fort_native"
)
_LOADS = re.compile(
    r"selective_scan|chunk_(?:scan|state|cumsum)|state_passing|wkv|depthwise|_c1_k1_|grouped_direct"
)
_NOT_PRODUCT = re.compile(
    r"splitk_?reduce|gemv(?!tensor)|dequant|memset|_softmax|layer_?norm|im2col|col2im"
)
_PRODUCT = re.compile(
    r"gemm|nvjet|cutlass|xmma|wgmma|implicit_con|convolve|winograd|scudnn|fprop|dgrad|wgrad"
    r"|conv2d_|_conv(?:2d|3d)?_kernel|cijk_|matmul|triton_mm|triton_tem_|bmm|[hsd]884|[sh]1688"
    r"|s16816|hmma|qmma"
)
_LETTERS = {"t": "bf16", "h": "fp16", "s": "tf32", "q": "fp8", "d": "fp64"}
"""How cuBLAS's newer names say what they multiply: nvjet_tst_... multiplies bf16."""
_PRECISIONS = (
    ("fp8", re.compile(r"e4m3|e5m2|fp8|f8f8|qmma|_f8_")),
    ("fp64", re.compile(r"dgemm|d884|f64f64|_d_|double")),
    ("bf16", re.compile(r"bf16|bfloat|b16b16|_bb_s_|bbs_")),
    ("tf32", re.compile(r"tf32|s1688(?:gemm|fprop|dgrad|wgrad)(?!_(?:fp16|f16|bf16))")),
    ("fp16", re.compile(r"fp16|f16f16|_f16|half|h884|s884|h1688|hgemm|h16816|_hh_s_|hhs_|s16816")),
    ("fp32", re.compile(r"sgemm|scudnn|simt|f32f32|float|ffma|s_?winograd|winograd")),
)


@cache
def kernel_kind(name: str) -> str:
    """One of `KINDS`, or `UNKNOWN_PRODUCT`; what is nothing else is bound by memory."""
    low = name.lower()
    if _COMMUNICATION.search(low):
        return "communication"
    if _LOADS.search(low):
        return "loads"
    if _NOT_PRODUCT.search(low):
        return "memory"
    if _ATTENTION.search(low):
        return "attention"
    if not _PRODUCT.search(low):
        return "memory"
    if (letters := re.search(r"nvjet_(?:sm\d+_)?([a-z])[a-z]{2,}_", low)) is not None:
        return _LETTERS.get(letters[1], UNKNOWN_PRODUCT)
    found = (precision for precision, pattern in _PRECISIONS if pattern.search(low))
    return next(found, UNKNOWN_PRODUCT)


_CPU_PRODUCT = re.compile(r"mm$|addmm|bmm|linear|convolution|conv\dd|mkldnn|matmul|lstm|gru")


@cache
def operator_kind(name: str) -> str:
    """The same of an operator that runs on the processors, where there are no kernels."""
    low = name.lower().removeprefix("aten::")
    if "enumerate(dataloader)" in low:
        return "data"
    if low.startswith(("c10d::", "gloo", "nccl", "record_param_comms")):
        return "communication"
    if "scaled_dot_product" in low:
        return "attention"
    if _CPU_PRODUCT.search(low):
        return "fp32"
    return "memory" if name.startswith("aten::") else "host"
