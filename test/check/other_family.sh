#!/bin/sh
# The checker says once which tools do not know a part; those say nothing of it, and the others find what they should.
# Called: other_family.sh GFXSIM_RUN SOURCES FOLDER   ($OMP_CC compiles)
set -eu
run=$1 sources=$2 folder=$3
mkdir -p "$folder"
wrong=0
complain() { echo "other_family: $*" >&2; wrong=1; cat "$folder/out" "$folder/log" >&2; }

compile() { # PROGRAM SOURCE BUG
  $OMP_CC -g gfx1030 -O2 -g -w "$sources/$2" "-DBUG=$3" -o "$folder/$1"
}

# try PROGRAM STATUS FINDINGS TOOLS UNKNOWN: so it ends, with so many findings (a pattern), and UNKNOWN is told not to be looked for.
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
  told=$(cat "$folder/out" "$folder/log" | grep -c 'GFXSIM_CHECK: ' || true)
  [ "$told" = "${5:+1}" ] || [ "$told${5:+1}" = 0 ] || complain "$what: $told messages"
  [ -z "$5" ] || grep -q "${unknown:-gfx1030} is not known to: $5\." "$folder/out" ||
    complain "$what: does not say that it does not know $5"
}

export OMP_TARGET_OFFLOAD=MANDATORY
ulimit -c 0
compile bounds write_behind.c 1
compile good write_behind.c 0
compile race race/histogram.c 1
compile init init/branch.c 1
try bounds 99 1 all ''
try bounds 99 1 bounds ''
try good 0 0 all ''
try good 0 0 bounds,transfer ''
try race 99 '[1-9]' race ''
try race 0 0 cache ''
try init 99 1 init ''
machine=gfx1030,gfx90a
try race 99 '[1-9]' race,wait ''
machine=gfx1030,gfx942 unknown=gfx942 # which this ROCr leaves out
try race 99 '[1-9]' race,cache cache
try race 99 '[1-9]' race,wait ''
try bounds 99 1 all cache
try good 0 0 cache cache
[ "$wrong" = 0 ]
