#!/bin/sh
# Plans on groups of one host's GPUs, from the repository's root:
#     groups.sh OUT SECONDS STAGE...
# A stage is `plan:gpus`, or several joined by `+`, which run side by side; the next stage waits for
# all of them. `eight:0,1,2,3,4,5,6,7` and `pair:0,1+two:2,3 mamba:0+large:1` are such stages.
# A plan is tests/benchmarks/${MACHINE}-PLAN.txt, MACHINE being h200 unless the environment says h100.
# Run again, it goes on where it stopped.
set -u
OUT=$1 SECONDS_IN_ALL=$2
shift 2
MACHINE=${MACHINE:-h200}
BEGAN=$(date +%s)
FLAGS="--peak-tflops fp16=989,bf16=989,tf32=494.7,fp32=66.9 --source-id $MACHINE-2026-11 --trial-minutes ${TRIAL_MINUTES:-5}"
plan() { # name of the plan, GPUs to show
    mkdir -p "$OUT/$1"
    LEFT=$((SECONDS_IN_ALL - $(date +%s) + BEGAN))
    CUDA_VISIBLE_DEVICES=$2 python3 tests/benchmarks/campaign.py "tests/benchmarks/$MACHINE-$1.txt" \
        --out "$OUT/$1" --work "$OUT/work-$1" --minutes "$(echo "$LEFT" | awk '{print $1 / 60}')" \
        --flags "$FLAGS" >> "$OUT/$1/log.txt" 2>&1
    echo "$1 on $2: $(($(date +%s) - BEGAN)) s"
}
for STAGE in "$@"; do
    for GROUP in $(echo "$STAGE" | tr + ' '); do
        plan "${GROUP%%:*}" "${GROUP#*:}" &
    done
    wait
done
