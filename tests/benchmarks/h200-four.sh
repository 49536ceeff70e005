#!/bin/sh
# Four GPUs of one host, `h200-four.sh first|second OUT SECONDS` from the repository's root: first,
# all four together, then a pair and two single GPUs side by side; second, two pairs side by side,
# one of them used singly to begin with. Run again, it goes on where it stopped.
set -u
OUT=$2 SECONDS_IN_ALL=$3
BEGAN=$(date +%s)
mkdir -p "$OUT"
FLAGS="--peak-tflops fp16=989,bf16=989,tf32=494.7,fp32=66.9 --source-id h200-2026-11 --trial-minutes 4"
plan() { # name of the plan, GPUs to show
    mkdir -p "$OUT/$1"
    LEFT=$((SECONDS_IN_ALL - $(date +%s) + BEGAN))
    CUDA_VISIBLE_DEVICES=$2 python3 tests/benchmarks/campaign.py "tests/benchmarks/h200-four-$1.txt" \
        --out "$OUT/$1" --work "$OUT/work-$1" --minutes "$(echo "$LEFT" | awk '{print $1 / 60}')" \
        --flags "$FLAGS" >> "$OUT/$1/log.txt" 2>&1
    echo "$1: $(($(date +%s) - BEGAN)) s"
}
advise() { # the program itself, from the measurement to the ranking
    mkdir -p "$OUT/advisor"
    cp results.duckdb "$OUT/advisor/results.duckdb"
    export CUDA_VISIBLE_DEVICES=$1 ADVISOR_STORE="$OUT/advisor/results.duckdb"
    python3 -m advisor.cli bench --model pythia-160m --methods naive,all --minutes 4 --yes \
        --records "$OUT/advisor/records.jsonl" --work "$OUT/work-advisor"
    echo "exit $?"
    python3 -m advisor.cli rank --model pythia-160m --budget 300k
    echo "exit $?"
}
if [ "$1" = first ]; then
    plan all 0,1,2,3
    plan caps 2 &
    plan large 3 &
    wait
else
    plan pair 0,1 &
    plan one 3 &
    ONE=$!
    [ -e "$OUT/advise.txt" ] || (advise 2 > "$OUT/advise.txt" 2>&1)
    wait $ONE
    plan two 2,3
    wait
fi
