#!/bin/sh
# Instruction counts of a program repeat when nothing is executed, deterministically: instruction_counts.sh GFXSIM-RUN MACHINE-TEST
set -eu
gfxsim_run=$1
machine=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Instructions in ROCr's own code that $1 times a kernel and two copies take.
count() {
  COUNTED_OPERATIONS=$1 "$gfxsim_run" --no-execute --deterministic valgrind --quiet --tool=callgrind \
    --px-default=allregs-at-mem-access --px-file-backed=allregs-at-mem-access --toggle-collect=counted_operations \
    --callgrind-out-file="$scratch/out" "$machine" counted >"$scratch/log" 2>&1 || {
    cat "$scratch/log" >&2
    echo "the program failed" >&2
    exit 1
  }
  # An object file's costs are the second column of lines below its "ob="; what follows "calls=" is a callee's.
  awk '/^c?ob=/ { id = substr($1, index($1, "=") + 1)
         if (/libhsa-runtime64/) rocr = id
         if (/^ob=/) counting = id == rocr }
       /^calls=/ { getline; next }
       counting && /^[-+*0-9]/ { sum += $2 }
       END { print sum + 0 }' "$scratch/out"
}

first=$(count 20)
second=$(count 20)
more=$(count 21)
[ "$first" -gt 1000 ] || { echo "ROCr took only $first instructions" >&2; exit 1; }
[ "$first" = "$second" ] || { echo "two runs differ: $first and $second instructions in ROCr" >&2; exit 1; }
echo "ROCr: $first instructions for 20 rounds, $more for 21"
[ "$more" -gt "$first" ] || { echo "one round more does not cost more" >&2; exit 1; }
