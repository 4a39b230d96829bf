#!/bin/bash
# A launch of an image that asks its host for nothing executes none of the code that serves requests: counted by callgrind.
# launch_cost.sh DEVICE-DIR GFXSIM-RUN SCRATCH
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
device=$1 gfxsim_run=$2 scratch=$3
mkdir -p "$scratch"
export OMP_TARGET_OFFLOAD=MANDATORY KMP_WARNINGS=0 LIBOMP_USE_HIDDEN_HELPER_TASK=FALSE

fail() {
  echo "$*" >&2
  cat "$scratch/log" >&2
  exit 1
}

# instructions NAME OPTION...: lines "file instructions" of what runs in `measured`, by file of source.
instructions() {
  local name=$1
  shift
  "$here/../../script/omp-cc" -v 16 -g gfx906 "$@" "$here/plain.c" -o "$scratch/$name" 2>"$scratch/log" || fail "cannot compile"
  rm -f "$scratch/$name".count*
  "$gfxsim_run" --devices=gfx906 --cus=1 --deterministic valgrind --quiet --tool=callgrind --fair-sched=yes \
    --px-default=allregs-at-mem-access --px-file-backed=allregs-at-mem-access --compress-strings=no --compress-pos=no \
    --collect-atstart=no --toggle-collect=measured --callgrind-out-file="$scratch/$name.count" "$scratch/$name" \
    >"$scratch/$name.out" 2>"$scratch/log" || fail "$name does not run"
  # A line after calls= is what the callee cost, which is counted at the callee.
  awk -F= '/^(fl|fi|fe)=/ { file = $2; sub(/.*\/impl\//, "", file) }
    /^calls=/ { skip = 1; next }
    /^[0-9]/ { if (!skip) { split($0, field, " "); count[file] += field[2] } skip = 0 }
    END { for (file in count) print file, count[file] }' "$scratch/$name.count" >"$scratch/$name.files"
}

service='^(services/|base/(service|heap))'
instructions quiet
grep -Eq '^stream/stream\.c [1-9]' "$scratch/quiet.files" || fail "nothing was counted in the plugin"
! grep -E "$service" "$scratch/quiet.files" >&2 || fail "a launch without services executes this"
# Nor with the device support library, as long as nothing calls.
instructions optional --services "$device" -DPARALLEL
grep -Eq '^stream/stream\.c [1-9]' "$scratch/optional.files" || fail "nothing was counted in the plugin"
! grep -E "$service" "$scratch/optional.files" >&2 || fail "a launch that asks for nothing executes this"
# The same launches when the kernel may print: then it is seen.
instructions prints --services "$device" -DPRINTS
[ "$(wc -l <"$scratch/prints.out")" = 21 ] || fail "wrong output"
grep -Eq '^base/service\.c [1-9]' "$scratch/prints.files" || fail "services are not seen where they are used"
