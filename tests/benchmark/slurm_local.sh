#!/bin/bash
# A real Slurm of two nodes with two pretended GPUs each, on one machine, as root, without systemd or
# munge: slurm_local.sh start|stop DIR PORT. Then SLURM_CONF=DIR/slurm.conf; sacct does not work.
set -eu
S=$2; H=$(hostname -s)
if [ "$1" = stop ]; then
  for p in "$S"/*.pid; do [ -e "$p" ] && kill "$(cat "$p")" 2>/dev/null || true; done; exit 0
fi
P=$3
mkdir -p "$S"/state "$S"/log "$S"/spool/n1 "$S"/spool/n2
# Character devices: from plain files Slurm counts GPUs, but sets no CUDA_VISIBLE_DEVICES.
for i in 0 1; do [ -e "$S/nvidia$i" ] || mknod "$S/nvidia$i" c 195 $i; done
cat > "$S/slurm.conf" <<C
ClusterName=test
SlurmctldHost=$H(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=$P
StateSaveLocation=$S/state
SlurmdSpoolDir=$S/spool/%n
SlurmctldPidFile=$S/slurmctld.pid
SlurmdPidFile=$S/slurmd-%n.pid
SlurmctldLogFile=$S/log/slurmctld.log
SlurmdLogFile=$S/log/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
MinJobAge=3600
KillWait=2
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=n[1-2] NodeHostname=$H NodeAddr=127.0.0.1 Port=$((P + 1))-$((P + 2)) Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=1000 Gres=gpu:h100:2 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=60 State=UP
C
printf 'AutoDetect=off\nNodeName=n[1-2] Name=gpu Type=h100 File=%s/nvidia[0-1] Flags=nvidia_gpu_env\n' "$S" > "$S/gres.conf"
export SLURM_CONF=$S/slurm.conf
slurmctld -c >"$S/log/start" 2>&1 </dev/null          # without the redirections a pipe on stdout never closes
for n in n1 n2; do slurmd -N $n >>"$S/log/start" 2>&1 </dev/null; done
for _ in $(seq 300); do [ "$(sinfo -h -N -o %T | grep -c idle)" = 2 ] && exit 0; sleep 0.2; done
echo "not up: see $S/log" >&2; exit 1
