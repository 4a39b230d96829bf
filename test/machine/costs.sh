#!/bin/sh
# What gfxsim counts of what costs on a card: so much for each operation of a program, exactly; through either door:
# costs.sh GFXSIM-RUN MACHINE-TEST DOOR
set -eu
gfxsim_run=$1
machine=$2
door=$3
unset GFXSIM_STATS GFXSIM_EXECUTE GFXSIM_DEVICES
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A kernel that is waited for and a copy of 4096 bytes each way, $1 times; the rest are options.
run() {
  count=$1
  shift
  COUNTED_OPERATIONS=$count "$gfxsim_run" --door="$door" --stats "$@" "$machine" counted >/dev/null 2>"$scratch/$count" || {
    cat "$scratch/$count" >&2
    echo "the program failed" >&2
    exit 1
  }
}
# The count of one kind in that run; 0 if there is no row.
of() { awk -v what="$2" 'substr($0, length($0) - length(what) - 1) == "  " what { n = $1 } END { print n + 0 }' "$scratch/$1"; }

failed=
more() { # WHAT NUMBER: ten rounds more have so many more
  difference=$(($(of 17 "$1") - $(of 7 "$1")))
  [ "$difference" = "$2" ] || { echo "$1: $difference for ten rounds, not $2" >&2; failed=1; }
}

run 7
run 17
more 'kernels' 10
more 'packets with the barrier bit' 10
more 'releases to system scope' 10
more 'signals counted down' 30
more 'waits of kernels for host memory' 10 # for their arguments; who stores does not wait
more 'lines of host memory, by kernels' 20 # the arguments, and the word that 64 lanes store to
more 'DMA copies and fills' 20
more 'DMA commands' 20
more 'bytes to the device, by DMA' 40960
more 'bytes from the device, by DMA' 40960
more 'interrupts' 30
more 'pins made and ended' 20
more 'pages pinned' 30
more 'allocations' 0
more 'queues made' 0
for row in 'allocations' 'queues made' 'changes of access' 'events made' 'calls that wait for an event'; do
  [ "$(of 7 "$row")" -gt 0 ] || { echo "$row: none" >&2; failed=1; }
done
# Kernels have it in their own rows: waits, lines, microseconds.
awk '$NF == "k_store" && $(NF - 3) == 17 && $(NF - 2) == 34 && $(NF - 1) == "80.0" { found = 1 } END { exit !found }' "$scratch/17" || {
  echo "no row of k_store with 17 waits, 34 lines, 80.0 us" >&2
  failed=1
}
# A link without atomics has other commands, and the same copies.
run 7 --no-pcie-atomics
run 17 --no-pcie-atomics
more 'DMA copies and fills' 20
more 'signals counted down' 30

# Each device has its own link. (The program ends early there: its kernels are another device's.)
COUNTED_OPERATIONS=1 "$gfxsim_run" --stats --devices=gfx900 "$machine" counted >/dev/null 2>"$scratch/7" || :
grep -q 'what would cost on a card (PCIe 3.0 x16)' "$scratch/7" || { echo "no PCIe 3.0 for gfx900" >&2; failed=1; }
# Without --stats nothing is said.
COUNTED_OPERATIONS=2 "$gfxsim_run" "$machine" counted >/dev/null 2>"$scratch/off"
if grep -q 'on a card' "$scratch/off"; then echo "costs without --stats" >&2; failed=1; fi
[ -z "$failed" ] || { cat "$scratch"/[0-9]* >&2; exit 1; }
