#!/bin/sh
# What gfxsim-run --check=bounds says of copies and frees that programs ask HSA for. Called: hsa_copies.sh GFXSIM_RUN PROGRAM FOLDER
set -eu
run=$1 program=$2 folder=$3
mkdir -p "$folder"
wrong=0
faults=
complain() { echo "hsa_copies: $*" >&2; wrong=1; cat "$folder/log" >&2; }

try() { # NAME REGEX... : the faulty one is told of with these lines, the other not
  name=$1
  shift
  status=0
  timeout 60 "$run" --check=bounds --check-log="$folder/log" --check-fail "$program" "$name" 1 >"$folder/out" 2>&1 || status=$?
  [ "$status" = 99 ] || [ -n "$faults" ] || complain "$name: status $status"
  for regex; do grep -qE -- "$regex" "$folder/log" || complain "$name: no line \"$regex\""; done
  [ "$(grep -c '== Invalid' "$folder/log")" = 1 ] || [ -z "$faults" ] || complain "$name: more is told"
  grep -q 'ERROR SUMMARY: 1 errors from 1 places' "$folder/log" || [ -n "$faults" ] || complain "$name: more is told"
  status=0
  timeout 60 "$run" --check=bounds --check-log="$folder/log" --check-fail "$program" "$name" 0 >"$folder/out" 2>&1 || status=$?
  [ "$status" = 0 ] || complain "$name: without its error: status $status"
}

try fill 'Invalid write of 8004 bytes by a fill' 'the host.s call of hsa_amd_memory_fill' \
  'is 8000 bytes before the end of a block of 8000 bytes' '4 of the 8004 bytes are behind it' 'called at .*hsa_copies.c:[0-9]+ \(fill\)'
try rectangle 'Invalid write of 64 bytes of a row by a copy' 'hsa_amd_memory_async_copy_rect' \
  'is 60 bytes before the end of a block of 8000 bytes' '4 of the 64 bytes are behind it'
try plain 'Invalid write of 8008 bytes by a copy' 'call of hsa_memory_copy' '8 of the 8008 bytes are behind it'
try late 'Invalid write of 8000 bytes by a copy engine of GPU 0' 'is 0 bytes into a block of 8000 bytes that was freed' \
  'freed by .*hsa_copies.c:[0-9]+ \(late\)' 'made by .*hsa_copies.c:[0-9]+ \(allocate\)' 'Hint: wait for the copy'
try twice 'Invalid free$' 'called at .*hsa_copies.c:[0-9]+ \(twice\)' 'is 0 bytes into a block of 8000 bytes that was freed' \
  'freed by .*hsa_copies.c:[0-9]+ \(twice\)' 'made by .*hsa_copies.c:[0-9]+ \(allocate\)' 'Hint: it must be freed once'
try inside 'Invalid free$' 'called at .*hsa_copies.c:[0-9]+ \(inside\)' 'is 16 bytes into a block of 8000 bytes$' 'Hint: keep the pointer'
# Copies that run for half a second. A copy whose memory is taken faults, so its program may not get to its status.
export GFXSIM_COPY_US=500000
try under 'Invalid free of memory under a copy' 'GPU 0 copies 8000 bytes from' 'called at .*hsa_copies.c:[0-9]+ \(under\)' 'Hint: wait for the copy'
faults=yes
try taken_under 'Invalid change of access under a copy' 'called at .*hsa_copies.c:[0-9]+ \(take_away\)' 'is 0 bytes into a block of 8000 bytes'
try taken_before 'Invalid change of access in front of a copy' 'called at .*hsa_copies.c:[0-9]+ \(take_away\)'
[ "$wrong" = 0 ] || exit 1
echo "hsa_copies: found 9"
