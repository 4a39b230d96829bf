#!/bin/sh
# What gfxsim tells the person when kernels go wrong: fault_messages.sh FAULT-TEST (its environment: that of the test fault/kernels)
set -eu
fault=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
export HSA_ENABLE_INTERRUPT=1

# says SCENARIO REGEX...: one line on stderr has all of them, in this order.
says() {
  scenario=$1
  shift
  "$fault" "$scenario" >/dev/null 2>"$scratch/err" || true
  pattern="^gfxsim: GPU 0 \\(gfx90a\\)"
  for part in "$@"; do pattern="$pattern.*$part"; done
  [ "$(grep -cE "$pattern" "$scratch/err")" = 1 ] || {
    echo "$scenario: no line, or not one, that matches $pattern in:" >&2
    cat "$scratch/err" >&2
    failed=1
  }
}

item='; workgroup \(0, 0, 0\), wave 0'
nothing='where nothing is mapped: [0-9]+ bytes'
says store_to_unmapped ", kernel k_store: memory fault: write at 0x123456789000 $nothing before" \
  'the nearest allocation 0x[0-9a-f]+ of [0-9]+ bytes; ' '/kernels\.s:[0-9]+, pc 0x[0-9a-f]+ \(k_store\+0x14\): ' \
  "global_store_dword v1, v2, s\\[2:3\\]$item, lane 0\$"
says store_in_function ', kernel k_call: memory fault: write at 0x123456789000 ' '/kernels\.s:[0-9]+, pc 0x[0-9a-f]+ \(inner\+0x4\): '
says load_from_unmapped ', kernel k_load: memory fault: read at 0x123456789000 ' \
  "global_load_dword v2, v1, s\\[2:3\\]$item, lane 0\$"
says scalar_load_from_unmapped ', kernel k_scalar_load: memory fault: read at ' \
  's_load_dword s4, s\[2:3\], 0x0' "$item\$"
says one_lane ', kernel k_store_once: memory fault: write at ' '; workgroup \(3, 0, 0\), wave 1, lane 17$'
says store_to_read_only 'write at 0x[0-9a-f]+ is not allowed: offset 0x0 of the allocation 0x[0-9a-f]+ of 4096 bytes'
says execute_data 'execution at 0x[0-9a-f]+ is not allowed: offset 0x0 of the allocation '
says image ', kernel k_image: illegal instruction of images, which are not simulated; ' 'image_store'
says misaligned ', kernel k_misaligned: illegal instruction: vector registers of 64 bits and more, and of GWS, want even numbers on this part; '
says execute_nothing 'execution at 0x123456789000 where nothing is mapped'
export HSA_XNACK=1
says xnack_load_without_rights ', kernel k_load: memory fault: access at 0x[0-9a-f]+, ' \
  'where the program itself has no memory that allows it: ' 'global_load_dword v2, v1, s\[2:3\]'
unset HSA_XNACK
says store_to_lost_memory 'which the program has unmapped: offset 0x0 of the allocation 0x[0-9a-f]+ of 8192 bytes'
export HSA_DISABLE_FRAGMENT_ALLOCATOR=1
says store_behind_the_end 'where nothing is mapped: 0 bytes behind the end of the nearest allocation' ' of 20480 bytes; '
says store_behind_a_variable ' bytes behind the end of the nearest allocation ' \
  ', [0-9]+ bytes behind the end of k_table \(48 bytes\); '
unset HSA_DISABLE_FRAGMENT_ALLOCATOR

# The line in the source is that of the instruction.
"$fault" store_to_unmapped >/dev/null 2>"$scratch/err" || true
place=$(sed -n 's,.*; \(/.*/kernels\.s:[0-9]*\)\, pc .*,\1,p' "$scratch/err")
sed -n "${place##*:}p" "${place%:*}" | grep -q 'global_store_dword v1, v2, s\[2:3\]' || {
  echo "$place is not the line of the instruction" >&2
  failed=1
}

# A process that is not told of memory faults is told why nothing goes on.
HSA_ENABLE_INTERRUPT=0 "$fault" fault_without_interrupts >/dev/null 2>"$scratch/err" || {
  echo "fault_without_interrupts failed" >&2
  failed=1
}
for pattern in 'memory fault: write at 0x5000 where' 'takes no memory fault events .HSA_ENABLE_INTERRUPT=0'; do
  grep -q "$pattern" "$scratch/err" || { echo "fault_without_interrupts: no \"$pattern\"" >&2; failed=1; }
done
exit $failed
