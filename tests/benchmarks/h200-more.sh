#!/bin/sh
# Two H200s of one host: `h200-more.sh OUT SECONDS JOB`, from the repository's root. JOB, a folder of
# `two_nodes.sh make`, as two nodes on both; then side by side h200-more-a.txt on one, and on the
# other the loss curves over eight seeds, a trial, and the export's check of it.
set -u
OUT=$1 SECONDS_IN_ALL=$2 JOB=$3
mkdir -p "$OUT"
BEGAN=$(date +%s)
left() { echo $((SECONDS_IN_ALL - $(date +%s) + BEGAN)); }
other() {
    export CUDA_VISIBLE_DEVICES=1
    sh tests/benchmarks/groups.sh "$OUT" 100 more-b:1
    timeout 130 python3 tests/benchmarks/export_check.py --recipe pythia-160m --steps 8 \
        --records "$OUT/more-b/records.jsonl" --work /tmp/exported > /tmp/export.jsonl 2> /tmp/export.err
    cat /tmp/export.jsonl; tail -n 5 /tmp/export.err
    cp /tmp/export.jsonl "$OUT/export.jsonl"
    echo "export: $(left) s left"
    timeout "$(left)" python3 tests/benchmarks/loss_curves.py --out "$OUT/curves.jsonl" \
        --minutes "$(left | awk '{print ($1 - 12) / 60}')" --seeds 8 --each 8 --parallel 8 \
        --settings zero-1,regional,fused,trimmed --settings naive,rounded-start > /tmp/curves.log 2>&1
    tail -n 4 /tmp/curves.log | cut -c 1-600
}
timeout 190 bash tests/benchmarks/two_nodes.sh run "$JOB" "$OUT/nodes" 170 > /tmp/nodes.log 2>&1
tail -n 12 /tmp/nodes.log
echo "nodes: $(left) s left"
other &
sh tests/benchmarks/groups.sh "$OUT" "$(left)" more-a:0
wait
