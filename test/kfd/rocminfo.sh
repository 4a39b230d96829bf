#!/bin/sh
# What rocminfo says below the kernel driver's interface: rocminfo.sh GFXSIM-RUN
set -eu
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$1" --door=kfd --devices=gfx90a,gfx906:8G,gfx1030 rocminfo >"$out"
for line in 'Name: +gfx90a' 'Name: +gfx906' 'Marketing Name: +AMD Instinct MI210' 'Compute Unit: +104' \
  'Name: +amdgcn-amd-amdhsa--gfx90a:sramecc\+:xnack-' 'Size: +8388608\(' 'Name: +gfx1030' \
  'Name: +amdgcn-amd-amdhsa--gfx1030 *$' 'Marketing Name: +AMD Radeon RX 6900 XT' 'Wavefront Size: +32\(' 'Compute Unit: +80'; do
  grep -qE "$line" "$out" || { echo "rocminfo does not say $line:" >&2; cat "$out" >&2; exit 1; }
done
