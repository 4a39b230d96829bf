#!/bin/sh
# What gfxsim-run --check=bounds says of a block that is taken from a GPU whose kernel goes on using it, and that it says nothing
# of one that is not. Called: taken.sh GFXSIM_RUN PROGRAM FOLDER   (PROGRAM is cache.c's; $CACHE_KERNELS: the code object)
set -eu
run=$1 program=$2 folder=$3
mkdir -p "$folder"
log=$folder/log
complain() { echo "taken: $*" >&2; cat "$log" "$folder/out" >&2; exit 1; }

check() { # bug|good
  status=0
  timeout 100 "$run" --check=bounds --check-log="$log" --check-fail "$program" taken "$1" >"$folder/out" 2>&1 || status=$?
}

ulimit -c 0
check good
[ "$status" = 0 ] || complain "without its error: status $status"
grep -q 'ERROR SUMMARY: 0 errors from 0 places' "$log" || complain "something is told of the good one"
check bug # the kernel faults, which ROCr ends the process for
[ "$status" != 0 ] || complain "ends well"
at=1
while IFS= read -r regex; do
  line=$(tail -n "+$at" "$log" | grep -nE -- "$regex" | head -n 1 | cut -d: -f1)
  [ -n "$line" ] || complain "no line \"$regex\" from line $at on"
  at=$((at + line))
done <<'LINES'
Invalid change of access under a kernel
by the host's call of hsa_amd_agents_allow_access
Address 0x[0-9a-f]+ is 0 bytes into a block of 4096 bytes
GPU 0 loses it, and runs 1 kernel that has accessed it
Invalid read of 4 bytes in kernel host_good
Address 0x[0-9a-f]+ is 0 bytes into a block of 4096 bytes
Only other GPUs may access it since
by the host's call of hsa_amd_agents_allow_access
Hint: hsa_amd_agents_allow_access replaces the list
LINES
[ "$(grep -c '== Invalid' "$log")" = 2 ] || complain "more is told"
echo "taken: found"
