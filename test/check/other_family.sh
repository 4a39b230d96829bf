#!/bin/sh
# All tools know all parts, and find what they should on others than gfx90a, and in machines with several.
# Called: other_family.sh GFXSIM_RUN SOURCES FOLDER   ($OMP_CC compiles)
set -eu
run=$1 sources=$2 folder=$3
mkdir -p "$folder"
wrong=0
complain() { echo "other_family: $*" >&2; wrong=1; cat "$folder/out" "$folder/log" >&2; }

compile() { # PROGRAM SOURCE BUG
  $OMP_CC -g gfx1030 -O2 -g -w "$sources/$2" "-DBUG=$3" -o "$folder/$1"
}

# try PROGRAM STATUS FINDINGS TOOLS: so it ends, with so many findings (a pattern), and nothing is told not to be looked for.
try() {
  status=0
  timeout 100 "$run" --devices="${machine:-gfx1030}" --plugin=ours "--check=$4" --check-log="$folder/log" --check-fail \
    "$folder/$1" >"$folder/out" 2>&1 || status=$?
  what="$1, --check=$4"
  [ "$status" = "$2" ] || complain "$what: status $status"
  # shellcheck disable=SC2254
  case $(grep -cE '^==[0-9]+== (Invalid|Data race|Branch|Uninit|Missing|Possibly|Stale|Never)' "$folder/log") in
    $3) ;;
    *) complain "$what: not $3 findings" ;;
  esac
  ! grep -q 'GFXSIM_CHECK: ' "$folder/out" "$folder/log" || complain "$what: some tool does not know a part"
}

export OMP_TARGET_OFFLOAD=MANDATORY
ulimit -c 0
compile bounds write_behind.c 1
compile good write_behind.c 0
compile race race/histogram.c 1
compile init init/branch.c 1
compile other_gpu other_gpu.c 1
compile own_gpu other_gpu.c 0
try bounds 99 1 all
try bounds 99 1 bounds
try good 0 0 all
try good 0 0 bounds,transfer
try race 99 '[1-9]' race
try race 0 0 cache
try init 99 1 init
machine=gfx1030,gfx1030
try own_gpu 0 0 bounds
try other_gpu 134 1 bounds # the kernel faults
grep -q 'bytes into a block of 4000 bytes, which this GPU has no access to' "$folder/log" || complain "whose memory it is"
machine=gfx1030,gfx90a
try race 99 '[1-9]' race,wait
machine=gfx1030,gfx942 # which this ROCr leaves out
try race 99 '[1-9]' race,cache
try race 99 '[1-9]' race,wait
try bounds 99 1 all
try good 0 0 cache
[ "$wrong" = 0 ]
