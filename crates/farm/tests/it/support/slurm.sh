#!/bin/sh
# A Slurm cluster with two virtual nodes on this machine. It runs until its standard input is
# closed. Everything is in one directory, which is removed with it: munge's key and socket,
# settings, state, the output of jobs.
# Usage: slurm.sh DIRECTORY PORT PORT PORT     ports of the controller and of the two nodes
# Prints `started` when the nodes are ready for jobs. Then reads commands, one per line, and repeats
# each when it is done: `kill` (kills the controller with SIGKILL) and `start`.
set -eu
directory=$1 controller=$2 one=$3 two=$4
host=$(hostname -s)
export SLURM_CONF="$directory/slurm.conf"
umask 077

# All processes of the cluster (daemons, steps, jobs) have its settings in their environment.
of_the_cluster() {
    for environment in /proc/[0-9]*/environ; do
        process=${environment#/proc/}
        process=${process%/environ}
        if [ "$process" != $$ ] && grep -qszxF "SLURM_CONF=$SLURM_CONF" "$environment" 2>/dev/null; then
            echo "$process"
        fi
    done
}
end() {
    trap - EXIT
    for _ in 1 2 3 4 5; do
        processes=$(of_the_cluster)
        [ -n "$processes" ] || break
        # shellcheck disable=SC2086 # a list of numbers
        kill -9 $processes 2>/dev/null || true
    done
    rm -rf "$directory"
}
trap end EXIT
# Interrupts are handled by the process that started this script.
trap '' INT

mkdir -p "$directory/state" "$directory/spool/n1" "$directory/spool/n2"
head -c 128 /dev/urandom > "$directory/munge.key"
cat > "$SLURM_CONF" <<END
ClusterName=assay
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket=$directory/munge.socket
ReturnToService=2
TaskPlugin=task/none
ProctrackType=proctrack/linuxproc
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmctldPort=$controller
StateSaveLocation=$directory/state
SlurmdSpoolDir=$directory/spool/%n
SlurmdPidFile=$directory/%n.pid
SlurmctldPidFile=$directory/controller.pid
SlurmdLogFile=$directory/%n.log
SlurmctldLogFile=$directory/controller.log
KillWait=2
MinJobAge=10
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1,requeue_delay=1
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$one CPUs=2 State=UNKNOWN Features=epyc,debian12
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$two CPUs=2 State=UNKNOWN Features=epyc,slowdisk
PartitionName=bench Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE
END

said="$directory/said"
munged --foreground --force --socket="$directory/munge.socket" --key-file="$directory/munge.key" --pid-file="$directory/munge.pid" \
    --seed-file="$directory/munge.seed" --log-file="$directory/munge.log" > "$said" 2>&1 </dev/null &
start() {
    slurmctld -D -f "$SLURM_CONF" >> "$said" 2>&1 </dev/null &
    slurmctld=$!
}
wait_for() { # words of a command
    for _ in $(seq 300); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.2
    done
    echo "slurm.sh: $* never came true" >&2
    cat "$said" "$directory"/*.log >&2
    exit 1
}
both_are_idle() { [ "$(sinfo --noheader --Node --format=%T | grep -c '^idle$')" = 2 ]; }
wait_for test -S "$directory/munge.socket"
start
for node in n1 n2; do
    slurmd -D -f "$SLURM_CONF" -N "$node" >> "$said" 2>&1 </dev/null &
done
wait_for both_are_idle
echo started
while read -r asked; do
    case $asked in
    kill)
        kill -9 "$slurmctld"
        wait "$slurmctld" 2>/dev/null || true
        ;;
    start) start ;;
    esac
    echo "$asked"
done
