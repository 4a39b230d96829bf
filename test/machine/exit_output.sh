#!/bin/sh
# What gfxsim writes when programs end without shutting anything down: exit_output.sh GFXSIM-RUN MACHINE-TEST
set -eu
gfxsim_run=$1
machine=$2
unset GFXSIM_STATS GFXSIM_TRACE GFXSIM_EXECUTE
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "$*" >&2
  cat "$scratch"/*.err >&2
  exit 1
}

# The program exits while a kernel runs: the statistics show the kernels that have ended, once.
"$gfxsim_run" --stats --cus=4 "$machine" exit_while_running >/dev/null 2>"$scratch/exit.err" ||
  fail "exit_while_running failed"
[ "$(grep -c 'kernels by time' "$scratch/exit.err")" = 1 ] || fail "not one table of statistics at exit"
grep -Eq ' 1 +4 .* k_place$' "$scratch/exit.err" || fail "no row for the kernel k_place with 1 dispatch of 4 waves"
if grep -q k_spin "$scratch/exit.err"; then fail "a row for a kernel that has not ended"; fi

# The same when it does shut down.
"$gfxsim_run" --stats "$machine" cu_mask >/dev/null 2>"$scratch/down.err" || fail "cu_mask failed"
[ "$(grep -c 'kernels by time' "$scratch/down.err")" = 1 ] || fail "not one table of statistics after hsa_shut_down"
grep -Eq ' k_place$' "$scratch/down.err" || fail "no row for the kernel k_place after hsa_shut_down"

# The trace is complete.
"$gfxsim_run" --trace="$scratch/trace" --cus=4 "$machine" cu_mask_limits_residency >/dev/null 2>"$scratch/trace.err" ||
  fail "cu_mask_limits_residency failed"
tail -n 1 "$scratch/trace" | grep -Eq '^gpu0 wg\([0-9]+,0,0\) wave[0-9]+ 0x[0-9a-f]+ exec=[0-9a-f]{16} s_endpgm' ||
  fail "the trace does not end with s_endpgm"

# Or it says that it is not.
"$gfxsim_run" --trace=/dev/full --cus=4 "$machine" cu_mask_limits_residency >/dev/null 2>"$scratch/full.err" ||
  fail "cu_mask_limits_residency failed with a trace that cannot be written"
[ "$(grep -c 'the trace /dev/full is incomplete: ' "$scratch/full.err")" = 1 ] || fail "not one word about a lost trace"

# The name that the user wrote may be a link; no link is followed for the further ones, which are made from it.
ln -s "$scratch/behind" "$scratch/link"
ln -s "$scratch/elsewhere" "$scratch/link.1"
"$gfxsim_run" --trace="$scratch/link" --devices=gfx90a,gfx90a --cus=4 "$machine" cu_mask_limits_residency >/dev/null \
  2>"$scratch/link.err" || fail "cu_mask_limits_residency failed with links"
[ -s "$scratch/behind" ] || fail "no trace behind the link that was named"
[ ! -e "$scratch/elsewhere" ] || fail "a link was followed that nobody named"
grep -q "can't write the trace .*/link.1: a symbolic link has this name" "$scratch/link.err" || fail "not a word about it"

# Also when the process aborts after a fault: it ends with the instruction that failed.
if "$gfxsim_run" --trace="$scratch/trace" --cus=4 "$machine" abort_after_a_fault >/dev/null 2>"$scratch/abort.err"; then
  fail "abort_after_a_fault did not abort"
fi
tail -n 1 "$scratch/trace" | grep -Eq ' global_store_dword ' || fail "the trace does not end with the store that failed"

# With GFXSIM_DETERMINISTIC=1 two runs execute the same instructions in the same order. (The place of code in memory
# differs: of addresses only the last three digits count.)
for run in 1 2; do
  "$gfxsim_run" --trace="$scratch/trace" --deterministic "$machine" cu_mask >/dev/null 2>"$scratch/trace.err" ||
    fail "cu_mask failed"
  sed 's/0x[0-9a-f]*\([0-9a-f]\{3\}\) exec=/\1 exec=/' "$scratch/trace" >"$scratch/trace$run"
done
[ "$(wc -l <"$scratch/trace1")" -gt 1000 ] || fail "the trace has hardly any instructions"
cmp "$scratch/trace1" "$scratch/trace2" >&2 || fail "two deterministic runs have different traces"

# Said once, whatever the number of kernels.
"$gfxsim_run" --no-execute "$machine" without_execution >/dev/null 2>"$scratch/null.err" ||
  fail "without_execution failed"
[ "$(grep -c 'KERNELS ARE NOT EXECUTED' "$scratch/null.err")" = 1 ] || fail "not one notice that kernels do not run"

# Where a kernel is that does not end: said once, of all waves of one workgroup, and only behind the time that was set.
"$gfxsim_run" --stuck=1 --devices=gfx90a --cus=4 "$machine" spin_for_seconds >/dev/null 2>"$scratch/stuck.err" ||
  fail "spin_for_seconds failed"
[ "$(grep -c 'kernel k_spin_first: has not ended in 1 s (GFXSIM_STUCK), and goes on; workgroup ([0-2], 0, 0) is at:$' "$scratch/stuck.err")" = 1 ] ||
  fail "not one word of the kernel that does not end"
grep -Eo 'wave [0-9]+, [0-9]+ of [0-9]+ lanes.*: pc 0x[0-9a-f]+ \(k_spin_first\+0x[0-9a-f]+\): s_(nop|branch|endpgm)|[0-9]* more waves' \
  "$scratch/stuck.err" | sed 's/pc.*: s_/s_/; s/_branch/_nop/' >"$scratch/waves"
{
  echo "wave 0, 64 of 64 lanes: s_nop"
  printf 'wave %d, 64 of 64 lanes, at a barrier: s_endpgm\n' 1 2 3 4 5 6 7
  echo "8 more waves"
} | cmp - "$scratch/waves" >&2 || fail "not the place of each wave"
for seconds in 0 60; do
  "$gfxsim_run" --stuck=$seconds --devices=gfx90a --cus=4 "$machine" spin_for_seconds >/dev/null 2>"$scratch/patient.err" ||
    fail "spin_for_seconds failed"
  if grep -q 'not ended' "$scratch/patient.err"; then fail "words of a kernel before its time"; fi
done
