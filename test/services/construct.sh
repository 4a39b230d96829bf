#!/bin/bash
# Builds a program of the folder constructs with the device support library and runs it: it compares what the device
# computes with what it should be, or is told why it cannot. construct.sh NAME CLANG-VERSION OPTIMISATION GFX DEVICE-DIR GFXSIM-RUN SCRATCH
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
name=$1 version=$2 level=$3 gfx=$4 device=$5 gfxsim_run=$6 scratch=$7
mkdir -p "$scratch"
program=$scratch/$name
export OMP_TARGET_OFFLOAD=MANDATORY KMP_WARNINGS=0

fail() {
  echo "$*" >&2
  head -c 2000 "$scratch"/out "$scratch"/err >&2 || true
  exit 1
}

# build OPTION...
build() {
  [ -z "${PROGRAMS_BUILT-}" ] || return 0
  "$here/../../script/omp-cc" -v "$version" -g "$gfx" "$@" "-$level" "$here/constructs/$name.c" -o "$program" \
    2>"$scratch/warnings" || { cat "$scratch/warnings" >&2; fail "cannot compile $name"; }
}

. "$here/runtime.sh"

# start STATUS [MEMORY-SIZE]
start() {
  local status=0
  timeout 120 "$here/../../script/with-rocr" "$gfx" "$gfxsim_run" --runtime="$runtime" --devices="$gfx${2:+:$2}" --cus=8 "$program" >"$scratch/out" 2>"$scratch/err" || status=$?
  [ "$status" = "$1" ] || fail "$name: exit status $status instead of $1"
}

advice="AMDGPU warning: .*device runtime of clang $version stops like this.*--config .*/device/clang-$version.cfg"
case $name in
  same_lock)
    build --services "$device"
    start 134
    grep -q '^omp_set_lock: two threads of a wave want the same lock' "$scratch/err" || fail "the program is not told why"
    ! grep -q "$advice" "$scratch/err" || fail "advice to take the option that it has"
    ;;
  no_memory)
    build --services "$device"
    start 134 256M
    grep -q '^OpenMP: no device memory is left for variables that threads share' "$scratch/err" || fail "no reason"
    ;;
  without)
    # A program without the library stops, and is told of it once.
    name=critical
    [ "$version" -lt 17 ] || name=locks # whose critical works
    build
    start 134
    [ "$(grep -c "$advice" "$scratch/err")" = 1 ] || fail "no advice"
    ;;
  *)
    build --services "$device"
    start 0
    ;;
esac
