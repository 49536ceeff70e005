#!/bin/bash
# A job as SLURM would run it, on one machine without SLURM whose GPUs are shared out to "nodes".
#     two_nodes.sh make FOLDER [FLAG...]      the folder that `advisor bench --on slurm` writes
#     two_nodes.sh run FOLDER OUT SECONDS     there: its job.sh; records and logs come to OUT
# FLAGs are advisor bench's, and stand in for those below. `run` needs bench_runner's libraries and
# bash alone: srun and scontrol are stood in for, a "node" is its own GPUs (CUDA_VISIBLE_DEVICES) and
# its own host to NCCL (NCCL_HOSTID), so that the nodes exchange through sockets over loopback.
# Exit code: the job's own. For two GPUs of one host, about 4 minutes, from the repository's root:
#     two_nodes.sh make two-nodes-job && two_nodes.sh run two-nodes-job "$OUT" 420
# The second half needs nothing of the first but the folder. Then: advisor merge two-nodes.jsonl
set -u
WHAT=${1-} FOLDER=${2-}
refuse() { echo "two_nodes.sh: $1" >&2; exit 2; }
# A link to nothing is in the way of a folder: mkdir fails on it.
dangles() { [ -L "${1%/}" ] && [ ! -e "$1" ]; }
if [ "$WHAT" = make ] && [ -n "$FOLDER" ]; then
    shift 2
    dangles "$FOLDER" && refuse "$FOLDER is a link to nothing: remove it (rm ${FOLDER%/}), then make again"
    [ $# -gt 0 ] || set -- --model pythia-160m --gpu H200 --gpus 2 --nodes 2 --methods naive,free-lunch \
        --cpus-per-gpu 8 --time 10
    HIDDEN=$(mktemp -d)
    trap 'rm -rf "$HIDDEN"' EXIT
    # Neither the list of jobs nor the clusters of whoever makes it.
    ADVISOR_JOBS=$HIDDEN/jobs ADVISOR_SETTINGS=$HIDDEN/settings.toml \
        advisor bench --on slurm --folder "$FOLDER" "$@"
    exit
fi
if [ "$WHAT" != run ] || [ $# -ne 4 ]; then
    sed -n '2,4s/^# *//p' "$0" >&2
    exit 2
fi
dangles "$FOLDER" && refuse "$FOLDER is a link to nothing: bring the folder itself, as 'make' wrote it"
[ -f "$FOLDER/job.sh" ] && [ -d "$FOLDER/node" ] ||
    refuse "$FOLDER holds no job: two_nodes.sh make $FOLDER, and bring the whole folder"
FOLDER=$(cd "$FOLDER" && pwd) || exit 2
for place in "$3" "$FOLDER/work" "$FOLDER/records.jsonl"; do
    dangles "$place" || continue
    echo "two_nodes.sh: $place was a link to nothing; it is replaced" >&2
    rm -- "${place%/}" || exit 2
done
mkdir -p "$3" && OUT=$(cd "$3" && pwd) || refuse "$3 cannot be made: name another folder for the records"
LIMIT=$4
[ "$LIMIT" -gt 0 ] 2>/dev/null || refuse "SECONDS is a whole number above 0, not '$LIMIT'"
asked() { sed -n "s/^#SBATCH --$1=\(.*:\)\{0,1\}\([0-9]*\)\$/\2/p" "$FOLDER/job.sh"; }
NODES=$(asked nodes) CPUS=$(asked cpus-per-task) GPUS=$(asked gpus-per-node)
BIN=$(mktemp -d)
trap 'rm -rf "$BIN"' EXIT

cat > "$BIN/srun" <<'SRUN'
#!/bin/bash
# Starts the command once on each "node"; one that fails ends the others, as --kill-on-bad-exit does.
count=1 first=1
while [[ ${1-} == --* ]]; do
    case $1 in
        --nodes=*) count=${1#*=} ;;
        --nodelist=n*) first=${1#*=n} ;;
    esac
    shift
done
pids=()
trap 'kill "${pids[@]}" 2>/dev/null' TERM INT
for ((node = first; node < first + count; node++)); do
    gpus=$(seq -s, $(((node - 1) * STAND_IN_GPUS)) $((node * STAND_IN_GPUS - 1)))
    SLURMD_NODENAME=n$node SLURM_NODEID=$((node - first)) SLURM_PROCID=$((node - first)) \
        CUDA_VISIBLE_DEVICES=$gpus NCCL_HOSTID=n$node "$@" &
    pids+=($!)
done
code=0
for pid in "${pids[@]}"; do
    wait -n; ended=$?
    if [ $ended -ne 0 ] && [ $code -eq 0 ]; then code=$ended; kill "${pids[@]}" 2>/dev/null; fi
done
exit $code
SRUN
cat > "$BIN/scontrol" <<'SCONTROL'
#!/bin/bash
case "$1 ${2-}" in
    "show hostnames") seq -f n%g "$SLURM_NNODES" ;;
    "show node") echo "NodeName=${*: -1} NodeAddr=127.0.0.1" ;;
    *) echo "stood in for: scontrol $*" >&2; exit 1 ;;   # nothing waits in a queue here
esac
SCONTROL
chmod +x "$BIN/srun" "$BIN/scontrol"

export PATH=$BIN:$PATH STAND_IN_GPUS=${GPUS:-1}
export SLURM_JOB_ID=$$ SLURM_SUBMIT_DIR=$FOLDER SLURM_NNODES=$NODES SLURM_JOB_NUM_NODES=$NODES
export SLURM_JOB_NODELIST="n[1-$NODES]" SLURM_CPUS_PER_TASK=$CPUS SLURM_LAUNCH_NODE_IPADDR=127.0.0.1
export NCCL_SOCKET_IFNAME=lo GLOO_SOCKET_IFNAME=lo PET_LOCAL_ADDR=127.0.0.1
# The script itself runs on the first node.
export SLURMD_NODENAME=n1 CUDA_VISIBLE_DEVICES=$(seq -s, 0 $((STAND_IN_GPUS - 1)))
cd "$FOLDER" || exit 2
bash job.sh > "job-$$.out" 2> "job-$$.err" & JOB=$!
# SLURM warns a job before its time is over.
(sleep "$LIMIT" && kill -USR1 $JOB) >/dev/null 2>&1 & WARNING=$!
trap 'kill -TERM $JOB 2>/dev/null' TERM INT
while :; do
    wait $JOB; CODE=$?
    kill -0 $JOB 2>/dev/null || break
done
kill $WARNING 2>/dev/null
cp records.jsonl "$OUT/two-nodes.jsonl" 2>/dev/null || echo "no record was written" >&2
cp "job-$$.out" "$OUT/job.out"; cp "job-$$.err" "$OUT/job.err"
cat work/trials/*/log.txt > "$OUT/trials.log" 2>/dev/null
tail -n 5 "$OUT/job.err" >&2
grep -c . "$OUT/two-nodes.jsonl"
exit "$CODE"
