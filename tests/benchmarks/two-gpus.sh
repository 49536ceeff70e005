#!/bin/sh
# `two-gpus.sh OUT SECONDS A.txt B.txt PAIR.txt RECIPE`, from the repository's root on a machine with two
# GPUs that can fetch nothing: installs the wheels that travelled in .whl; A on the first GPU, named
# by its number, beside B on the second, named by its UUID as clusters do; then PAIR on both, and
# what `bench_runner export` writes for RECIPE, set against its record.
set -u
OUT=$1 SECONDS_IN_ALL=$2 A=$3 B=$4 PAIR=$5 RECIPE=$6
BEGAN=$(date +%s)
left() { echo $((SECONDS_IN_ALL - $(date +%s) + BEGAN)); }
pip install -q --no-index --no-deps --target .site .whl/*.whl >/dev/null 2>&1
export PYTHONPATH="$PWD:$PWD/.site" HF_HUB_OFFLINE=1 TORCH_CUDA_ARCH_LIST=9.0
nvidia-smi --query-gpu=index,uuid,name,driver_version,power.limit --format=csv,noheader
MACHINE=${MACHINE:-h200}
FLAGS="--peak-tflops fp16=989,bf16=989,tf32=494.7,fp32=66.9 --source-id $MACHINE-2026-11"
SECOND=$(nvidia-smi --query-gpu=uuid --format=csv,noheader -i 1)
PAIR_S=195
campaign() { # NAME VISIBLE PLAN: within what is left but the pair's share
    minutes=$(python3 -c "print(max(0, $(left) - $4) / 60)")
    CUDA_VISIBLE_DEVICES=$2 python3 tests/benchmarks/campaign.py "$3" --out "$OUT/$1" \
        --work "/tmp/work-$1" --minutes "$minutes" --flags "$FLAGS" > "$OUT/$1.log" 2>&1
}
mkdir -p "$OUT"
campaign a 0 "$A" $PAIR_S &
campaign b "$SECOND" "$B" $PAIR_S &
wait
cut -c1-330 "$OUT/a.log" "$OUT/b.log"
echo "pair: $(left) s left"
campaign pair 0,1 "$PAIR" 0
cut -c1-330 "$OUT/pair.log"
echo "export: $(left) s left"
timeout "$(left)" python3 tests/benchmarks/export_check.py --recipe "$RECIPE" --steps 6 \
    --records "$OUT/pair/records.jsonl" --work /tmp/exported > "$OUT/export.jsonl" 2> "$OUT/export.err"
tail -n 3 "$OUT/export.jsonl"; tail -n 3 "$OUT/export.err"
echo "end: $(left) s left"
cd "$OUT" && tar cf all.tar a b pair ./*.log && rm -r a b pair
