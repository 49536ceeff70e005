#!/bin/sh
# Several GPUs of one host: `h200-several.sh N OUT SECONDS`, from the repository's root.
# First all N together (Pythia-1B), then two pairs side by side (the fast search; the prediction
# under FSDP and ZeRO), then single GPUs side by side (memory caps; feasibility, no times).
set -u
N=$1 OUT=$2 SECONDS_IN_ALL=$3
BEGAN=$(date +%s)
R=tests/benchmarks/recipes/pythia-70m-short-x2.toml
FLAGS="--peak-tflops fp16=989,bf16=989,tf32=494.7,fp32=66.9 --source-id h200-2026-11 --trial-minutes 2.5"
plan() { # name, GPUs to show, seconds at most; the commands on stdin
    mkdir -p "$OUT/$1" && cat > "/tmp/plan-$1.txt"
    LEFT=$((SECONDS_IN_ALL - $(date +%s) + BEGAN))
    [ "$LEFT" -gt "$3" ] && LEFT=$3
    CUDA_VISIBLE_DEVICES=$2 python3 tests/benchmarks/campaign.py "/tmp/plan-$1.txt" \
        --out "$OUT/$1" --minutes "$(echo "$LEFT" | awk '{print $1 / 60}')" --flags "$FLAGS" \
        > "$OUT/$1/log.txt" 2>&1
}
ALL=$(seq -s, 0 $((N - 1)))
plan all "$ALL" 330 <<PLAN
validate --recipe pythia-1b --gpus $N --settings free-lunch --validate-steps 2 --minimum-steps 3
run --recipe pythia-1b --gpus $N --methods naive,all --search fast --minimum-steps 3
PLAN
echo "all: $(($(date +%s) - BEGAN)) s"
plan pair0 0,1 120 <<PLAN &
run --recipe $R --gpus 2 --methods all --search fast --minimum-steps 3
PLAN
plan pair1 2,3 120 <<PLAN &
validate --recipe $R --gpus 2 --settings fsdp-full-shard --micro-batch 16 --validate-steps 9
validate --recipe $R --gpus 2 --settings zero-2 --micro-batch 16 --validate-steps 9
PLAN
wait
echo "pairs: $(($(date +%s) - BEGAN)) s"
caps() {
    awk -v n="$N" -v i="$1" 'NR % n == i' <<CAPS
pythia-2.8b 24 zero-1,offloading,checkpointing
pythia-2.8b 48 zero-1,offloading,checkpointing
pythia-2.8b 80 free-lunch
pythia-1b 24 free-lunch,checkpointing
pythia-1b 48 free-lunch
pythia-1b 80 free-lunch
pythia-410m 24 free-lunch
pythia-160m 24 free-lunch
pythia-160m 48 free-lunch
pythia-160m 80 free-lunch
pythia-410m 48 free-lunch
pythia-410m 80 free-lunch
pythia-1b 24 free-lunch
pythia-2.8b 48 free-lunch
CAPS
}
for I in $(seq 0 $((N - 1))); do
    caps "$I" | awk '{print "trial --feasibility --search exhaustive --recipe " $1 " --memory-limit-gib " $2 " --settings " $3}' |
        plan "cap$I" "$I" 150 &
done
wait
echo "caps: $(($(date +%s) - BEGAN)) s"
