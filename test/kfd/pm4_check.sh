#!/bin/sh
# Kernels of PM4 commands are checked and named, and not taken for ROCr's own: pm4_check.sh LIBGFXSIM-KFD DOOR
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
LD_PRELOAD=$1 GFXSIM_CHECK=race "$2" --race-of-pm4 >"$scratch/out" 2>&1 || { cat "$scratch/out"; exit 1; }
for text in "(PM4 command's, at 0x" global_store_dword "1 error"; do
  grep -qF "$text" "$scratch/out" || { echo "nothing says '$text':" >&2; cat "$scratch/out" >&2; exit 1; }
done
