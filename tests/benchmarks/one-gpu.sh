#!/bin/sh
# `one-gpu.sh OUT MINUTES PLAN.txt [PLAN.txt ...]`, from the repository's root on a GPU machine that
# can fetch nothing: installs the wheels that travelled in .whl, then measures plan after plan.
set -eu
OUT=$1 MINUTES=$2
shift 2
pip install -q --no-index --no-deps --target .site .whl/*.whl >/dev/null 2>&1
export PYTHONPATH="$PWD:$PWD/.site" HF_HUB_OFFLINE=1 TORCH_CUDA_ARCH_LIST=9.0
mkdir -p "$OUT"
nvidia-smi --query-gpu=name,driver_version,power.limit --format=csv,noheader
cat "$@" > "$OUT/plan.txt"
python3 tests/benchmarks/campaign.py "$OUT/plan.txt" --out "$OUT" --minutes "$MINUTES" --flags "--peak-tflops fp16=989,bf16=989,tf32=494.7,fp32=66.9 --source-id ${MACHINE:-h100}-2026-11"
