#!/bin/sh
# A program that has other rights than its user does not let the environment name files to write:
# set_user_id.sh PROGRAM FOLDER. Whoever is not root needs a second group for this (else: status 77, not tested).
set -eu
program=$1
copy=$2/set_user_id_copy

fail() { echo "set_user_id.sh: $*" >&2; exit 1; }
run() {
  LIBOMPTARGET_AMDGPU_TIMELINE=/tmp/a LIBOMPTARGET_PROFILE=/tmp/c OMP_NUM_TEAMS=7 GFXSIM_TRACE=/tmp/b GFXSIM_CUS=3 "$1" >"$copy.out" 2>"$copy.err"
}
prints() {
  [ "$(cat "$copy.out")" = "$1" ] || fail "got \"$(cat "$copy.out")\", not \"$1\" $(cat "$copy.err")"
}

rm -f "$copy"
trap 'rm -f "$copy" "$copy.out" "$copy.err"' EXIT
cp "$program" "$copy"
run "$copy"
prints "secure=0 timeline=/tmp/a profile=/tmp/c trace=/tmp/b teams=7 cus=3"
[ ! -s "$copy.err" ] || fail "$(cat "$copy.err")"

if [ "$(id -u)" -eq 0 ]; then
  chown 65534 "$copy" # any other user
  chmod 4755 "$copy"
else
  group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
  [ -n "$group" ] || { echo "NOT TESTED: neither root nor in two groups, so no program can get other rights" >&2; exit 77; }
  chgrp "$group" "$copy"
  chmod 2755 "$copy"
fi
run "$copy"
grep -q '^secure=1 ' "$copy.out" || fail "set-user-id has no effect in $2 (mounted nosuid, or this process may gain no privileges): run elsewhere"
prints "secure=1 timeline= profile= trace= teams=7 cus=3" # the others are harmless
grep -qx 'gfxsim: GFXSIM_TRACE is ignored: .*' "$copy.err" || fail "gfxsim does not say what it ignores"
grep -qx 'AMDGPU warning: environment variable LIBOMPTARGET_AMDGPU_TIMELINE is ignored: .*' "$copy.err" ||
  fail "the plugin does not say what it ignores"
grep -qx 'AMDGPU warning: environment variable LIBOMPTARGET_PROFILE is ignored: .*' "$copy.err" ||
  fail "the host runtime does not say what it ignores"
