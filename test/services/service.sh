#!/bin/bash
# Builds a program of this folder with the device support library and checks what it does:
# service.sh WHAT CLANG-VERSION OPTIMISATION GFX DEVICE-DIR GFXSIM-RUN SCRATCH
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
what=$1 version=$2 level=$3 gfx=$4 device=$5 gfxsim_run=$6 scratch=$7
mkdir -p "$scratch"
program=$scratch/$what
export OMP_TARGET_OFFLOAD=MANDATORY KMP_WARNINGS=0

fail() {
  echo "$*" >&2
  head -c 2000 "$scratch"/out "$scratch"/err >&2 || true
  exit 1
}

[ -n "${PROGRAMS_BUILT-}" ] ||
  "$here/../../script/omp-cc" -v "$version" -g "$gfx" --services "$device" "-$level" "$here/$what"*.c* -o "$program" 2>"$scratch/warnings" ||
  { cat "$scratch/warnings" >&2; fail "cannot compile $what"; }

. "$here/runtime.sh"

# start STATUS ARGUMENT...: runs the program, with its output in the scratch folder.
start() {
  local expected=$1 status=0
  shift
  "$here/../../script/with-rocr" "$gfx" "$gfxsim_run" --runtime="$runtime" --devices="$gfx,$gfx" --cus=8 "$program" "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  [ "$status" = "$expected" ] || fail "$what $*: exit status $status instead of $expected"
}

case $what in
  formats)
    start 0 host
    mv "$scratch/out" "$scratch/host"
    [ "$(grep -o '%' "$here/formats.c" | wc -l)" -gt 100 ] || fail "fewer than 100 formats"
    start 0 device
    cmp "$scratch/host" "$scratch/out" || fail "$(diff "$scratch/host" "$scratch/out" | head -n 20)"
    ;;
  functions)
    start 0
    printf '%s\n' before count puts 'out abcdefghijklmnopqrstuvwxyz' fputs '!' after | diff - "$scratch/out" >&2 ||
      fail "wrong output"
    grep -q 'number of characters for %n, which only device code' "$scratch/err" || fail "nothing is said of %n"
    printf '%s\n' 'err abcdefghijklmnopqrstuvwxyz' 'to stderr' | diff - <(grep -v '%n' "$scratch/err") >&2 ||
      fail "wrong output on stderr"
    ;;
  stress)
    start 0 64 256
    for line in 0 1; do
      for thread in $(seq 0 16383); do
        case $((thread % 3)) in
          0) echo "thread $thread line $line a longer text, so that the lanes of a wave differ" ;;
          *) echo "thread $thread line $line short" ;;
        esac
      done
    done | sort >"$scratch/expected"
    sort "$scratch/out" | cmp - "$scratch/expected" || fail "lines are missing or torn"
    # Each thread's first line comes before its second.
    awk '$4 == 0 { seen[$2] = 1 } $4 == 1 && !seen[$2] { exit 1 }' "$scratch/out" || fail "lines of a thread out of order"
    ;;
  ends)
    start 0 exit 0
    start 7 exit 7
    start 255 exit 255
    [ "$(cat "$scratch/out")" = "on the way" ] || fail "what was printed before exit is lost"
    grep -qx atexit "$scratch/err" || fail "the host's atexit functions were not called"
    start 134 abort
    [ "$(cat "$scratch/out")" = "on the way" ] || fail "what was printed before abort is lost"
    start 134 assert
    grep -q "ends.c:[0-9]*: .*Assertion \`what == 0' failed." "$scratch/err" || fail "no message of assert"
    ;;
  units)
    start 0
    { printf '%s\n' begin 'first 5' 'second 5' 'helper 3' copied 'result 4' end
      for line in $(seq 0 199); do printf 'device %d line %d\n' 0 "$line" 1 "$line"; done; } | sort >"$scratch/expected"
    sort "$scratch/out" | diff "$scratch/expected" - >&2 || fail "wrong output"
    [ "$(sed -n '1p;$p' "$scratch/out" | tr '\n' ' ')" = "begin end " ] || fail "output after the end"
    ;;
  threads)
    start 0
    for thread in 0 1 2 3; do for round in 0 1 2 3 4; do for lane in $(seq 0 99); do
      echo "thread $thread round $round lane $lane"
    done; done; done | sort >"$scratch/expected"
    sort "$scratch/out" | cmp - "$scratch/expected" || fail "lines are missing or torn"
    ;;
  hostcall)
    start 0
    for thread in $(seq 0 511); do
      printf 'thread %d: %s|%5.2f|%c%c|%*d|%lx|%-8s|%%|0x1000\n' "$thread" \
        "a string of more than fifty-six bytes, which takes several packets to get through" \
        "$((thread / 4)).$((thread % 4 * 25))" a b 5 "$thread" $((0xabcdef0123)) left
    done | sort >"$scratch/expected"
    sort "$scratch/out" | cmp - "$scratch/expected" || fail "wrong lines: $(diff "$scratch/expected" "$scratch/out" | head -4)"
    characters=$(($(wc -c <"$scratch/out") + $(grep '^thread 999' "$scratch/err" | wc -c)))
    grep -qx "$characters characters, 0 failed" "$scratch/err" || fail "wrong results"
    ;;
  words)
    # Memory of the host is written in words: hardly any store of a byte is left. (A byte each, it would be 142.)
    export GFXSIM_TRACE=$scratch/trace
    start 0
    [ "$(cat "$scratch/out")" = "a string of more than fifty-six bytes, which takes several packets|7|odd|1.500" ] ||
      fail "wrong output"
    bytes=$(grep -Ec '(flat|global)_store_(byte|b8)' "$scratch/trace") || true
    [ "$bytes" -lt 8 ] || fail "$bytes bytes were stored one by one"
    grep -Eq '(flat|global)_store_(dword|b32)' "$scratch/trace" || fail "there is nothing in the trace"
    ;;
  idle | memory)
    start 0
    ;;
  *) fail "no such test: $what" ;;
esac
