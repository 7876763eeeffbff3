#!/usr/bin/env bash
# slurm.sh FOLDER PORT: a Slurm cluster of two nodes on loopback, as the first process of namespaces of its own.
set -euo pipefail
folder=$1 port=$2
export PATH="$PATH:/usr/sbin:/sbin"
mount --make-rslave /
mount -t proc proc /proc
mkdir -p "$folder"/{state,spool,munge}
head -c 1024 /dev/urandom >"$folder/munge/key"; chmod 400 "$folder/munge/key"
chown -R munge:munge "$folder/munge"; chmod 711 "$folder/munge"
host=$(hostname -s)
memory=$(($(grep MemTotal /proc/meminfo | tr -dc 0-9) / 2048))
printf '%s\n' ClusterName=nacre "SlurmctldHost=$host(127.0.0.1)" SlurmUser=root SlurmdUser=root AuthType=auth/munge \
  "AuthInfo=socket=$folder/munge/sock" CryptoType=crypto/munge "StateSaveLocation=$folder/state" \
  "SlurmdSpoolDir=$folder/spool/%n" "SlurmctldPidFile=$folder/ctld.pid" "SlurmdPidFile=$folder/%n.pid" \
  ProctrackType=proctrack/linuxproc TaskPlugin=task/none MpiDefault=none SwitchType=switch/none ReturnToService=2 \
  SelectType=select/cons_tres SelectTypeParameters=CR_Core JobAcctGatherType=jobacct_gather/none \
  AccountingStorageType=accounting_storage/none KillWait=5 "SlurmctldPort=$port" \
  "NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 2))] CPUs=$(nproc) RealMemory=$memory State=UNKNOWN" \
  'PartitionName=all Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES' >"$folder/slurm.conf"
export SLURM_CONF="$folder/slurm.conf"
setpriv --reuid munge --regid munge --clear-groups munged --foreground --key-file="$folder/munge/key" \
  --socket="$folder/munge/sock" --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" &
until [ -S "$folder/munge/sock" ]; do sleep 0.05; done
slurmctld -D -i >"$folder/engine.log" 2>&1 &
for node in n1 n2; do slurmd -D -N $node >"$folder/$node.log" 2>&1 & done
while :; do wait -n || true; sleep 0.2; done
