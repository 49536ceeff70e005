#!/bin/sh
# Several GPUs of one host: `h200-several.sh N OUT SECONDS`, from the repository's root.
# First all N together (Pythia-1B), then pairs side by side (the search on two GPUs, exhaustive
# split over the pairs), then single GPUs side by side (memory caps; feasibility, no times).
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
plan all "$ALL" 220 <<PLAN
validate --recipe pythia-1b --gpus $N --settings free-lunch --validate-steps 3 --minimum-steps 3
run --recipe pythia-1b --gpus $N --methods naive --minimum-steps 3
validate --recipe pythia-1b --gpus $N --settings zero-1 --validate-steps 3 --minimum-steps 3
PLAN
echo "all: $(($(date +%s) - BEGAN)) s"
E="run --recipe $R --gpus 2 --methods all --search exhaustive --minimum-steps 3 --settle-s 30"
LANES=$((N / 2))
lane() { # number; the settings of the exhaustive search that this pair takes
    awk -v n="$LANES" -v i="$1" 'NR % n == i' <<SETTINGS
free-lunch
free-lunch,checkpointing
zero-1
zero-1,checkpointing
zero-1,offloading
zero-1,offloading,checkpointing
zero-2
zero-2,checkpointing
zero-2,offloading
zero-2,offloading,checkpointing
zero-3
zero-3,checkpointing
zero-3,offloading
zero-3,offloading,checkpointing
fsdp-shard-grad-op
fsdp-shard-grad-op,checkpointing
fsdp-shard-grad-op,offloading
fsdp-shard-grad-op,offloading,checkpointing
fsdp-full-shard
fsdp-full-shard,checkpointing
fsdp-full-shard,offloading
fsdp-full-shard,offloading,checkpointing
SETTINGS
}
for I in $(seq 0 $((LANES - 1))); do
    {
        [ "$I" = 0 ] && echo "run --recipe $R --gpus 2 --methods all --search fast --minimum-steps 3"
        lane "$I" | sed "s|^|$E --only |"
        [ "$I" = 1 ] && echo "validate --recipe $R --gpus 2 --settings fsdp-full-shard --micro-batch 16 --validate-steps 9"
        [ "$I" = 2 ] && echo "validate --recipe $R --gpus 2 --settings zero-2 --micro-batch 16 --validate-steps 9"
    } | plan "pair$I" "$((2 * I)),$((2 * I + 1))" 340 &
done
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
cat "$OUT"/*/log.txt > "$OUT/log.txt"
for KIND in records events; do cat "$OUT"/*/$KIND.jsonl > "$OUT/$KIND.jsonl"; done
