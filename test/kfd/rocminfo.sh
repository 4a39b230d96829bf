#!/bin/sh
# What rocminfo says below the kernel driver's interface, and the driver of the memory that waves are saved to:
# rocminfo.sh GFXSIM-RUN
set -eu
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$1" --door=kfd --devices=gfx90a,gfx906:8G,gfx1030 rocminfo >"$out"
for line in 'Name: +gfx90a' 'Name: +gfx906' 'Marketing Name: +AMD Instinct MI210' 'Compute Unit: +104' \
  'Name: +amdgcn-amd-amdhsa--gfx90a:sramecc\+:xnack-' 'Size: +8388608\(' 'Name: +gfx1030' \
  'Name: +amdgcn-amd-amdhsa--gfx1030 *$' 'Marketing Name: +AMD Radeon RX 6900 XT' 'Wavefront Size: +32\(' 'Compute Unit: +80'; do
  grep -qE "$line" "$out" || { echo "rocminfo does not say $line:" >&2; cat "$out" >&2; exit 1; }
done

# Of one XCC, worked out apart from libhsakmt's queues.c, which asks for that much.
run=$1
node=0
set -- gfx906 20480 20910080 gfx908 36864 73273344 gfx90a 36864 63508480 gfx942 12288 23203840 gfx950 12288 22687744 gfx1030 28672 27881472 \
  gfx1100 40960 46047232
while [ $# -gt 0 ]; do
  node=$((node + 1))
  "$run" --door=kfd --devices=gfx906,gfx908,gfx90a,gfx942,gfx950,gfx1030,gfx1100 \
    cat "/sys/devices/virtual/kfd/kfd/topology/nodes/$node/properties" >"$out"
  for line in "ctl_stack_size $2" "cwsr_size $3"; do
    grep -qx "$line" "$out" || { echo "the driver does not say $line of $1:" >&2; cat "$out" >&2; exit 1; }
  done
  shift 3
done
