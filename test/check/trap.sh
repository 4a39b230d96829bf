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
[ "$folder/trap" -nt "$source" ] || $OMP_CC -D_GNU_SOURCE -O1 -g "$source" -o "$folder/trap"
trapped=133 # 128, and SIGTRAP
for kind in int3 int1; do
  check "$folder/trap" $kind
  [ "$status" = "$trapped" ] || complain "$kind: without the checker it ends with $status, not $trapped"
  check --check=transfer --check-log="$log" "$folder/trap" $kind
  [ "$status" = "$trapped" ] || complain "$kind: with the checker it ends with $status, not $trapped"
  ! grep -q 'went on' "$folder/out" || complain "$kind: it went on behind it"
done
for kind in none lost; do
  check --check=transfer --check-log="$log" "$folder/trap" $kind
  [ "$status" = 0 ] || complain "$kind: it ends with $status"
  grep -q 'Stale read of `sum` by the host' "$log" || complain "$kind: no steps are taken there"
done
echo "trap: ends it"
