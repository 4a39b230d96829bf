#!/bin/sh
# A trap that is not the checker's ends a program as without it, also where the checker has the program trap behind each of its
# instructions. Called: trap.sh GFXSIM_RUN SOURCE FOLDER ($OMP_CC compiles)
set -eu
run=$1 source=$2 folder=$3
mkdir -p "$folder"
log=$folder/log
complain() { echo "trap: $*" >&2; cat "$folder/out" >&2; exit 1; }

check() { # ARGUMENT...: of gfxsim-run
  status=0
  timeout 100 "$run" --runtime=ours "$@" >"$folder/out" 2>&1 || status=$?
}

ulimit -c 0
export OMP_TARGET_OFFLOAD=MANDATORY
[ "$folder/trap" -nt "$source" ] || $OMP_CC -O1 -g "$source" -o "$folder/trap"
trapped=133 # 128, and SIGTRAP
check "$folder/trap"
[ "$status" = "$trapped" ] || complain "without the checker it ends with $status, not $trapped"
check --check=transfer --check-log="$log" "$folder/trap" reads
grep -q 'Stale read of `sum` by the host' "$log" || complain "no steps are taken there"
check --check=transfer --check-log="$log" "$folder/trap"
[ "$status" = "$trapped" ] || complain "with the checker it ends with $status, not $trapped"
! grep -q 'went on' "$folder/out" || complain "it went on behind its breakpoint"
echo "trap: ends it"
