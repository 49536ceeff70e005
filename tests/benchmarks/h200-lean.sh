#!/bin/sh
# Two H200s of one host: `h200-lean.sh OUT SECONDS JOB`, from the repository's root. Side by side the
# leaner settings on one GPU, and on the other the loss curves, two models and the export's check;
# then JOB, a folder of `two_nodes.sh make`, as two nodes; then both GPUs together.
set -u
OUT=$1 SECONDS_IN_ALL=$2 JOB=$3
BEGAN=$(date +%s)
left() { echo $((SECONDS_IN_ALL - $(date +%s) + BEGAN)); }
other() {
    export CUDA_VISIBLE_DEVICES=1
    timeout 130 python3 tests/benchmarks/loss_curves.py --out "$OUT/curves.jsonl" --minutes 2 --seeds 3 \
        --parallel 6 --settings free-lunch --settings regional,fused,trimmed \
        --settings regional,fused,trimmed,half-weights --settings zero-1,regional,fused,trimmed \
        > "$OUT/curves.log" 2>&1
    echo "curves: $(left) s left"
    sh tests/benchmarks/groups.sh /tmp/groups 190 lean-b:1
    timeout 100 python3 tests/benchmarks/export_check.py --recipe pythia-160m --steps 4 \
        --records /tmp/groups/lean-a/records.jsonl --work /tmp/exported > "$OUT/export.jsonl" 2> "$OUT/export.err"
    tail -3 "$OUT/export.jsonl" "$OUT/export.err"
    echo "other: $(left) s left"
}
other &
sh tests/benchmarks/groups.sh /tmp/groups 310 lean-a:0
wait
timeout 110 bash tests/benchmarks/two_nodes.sh run "$JOB" "$OUT/nodes" 100 > "$OUT/nodes.log" 2>&1
tail -5 "$OUT/nodes.log"
echo "nodes: $(left) s left"
sh tests/benchmarks/groups.sh /tmp/groups "$(left)" lean-pair:0,1
