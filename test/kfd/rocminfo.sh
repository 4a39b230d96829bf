#!/bin/sh
# What rocminfo says below the kernel driver's interface: rocminfo.sh GFXSIM-RUN
set -eu
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$1" --door=kfd --devices=gfx90a,gfx906:8G rocminfo >"$out"
for line in 'Name: +gfx90a' 'Name: +gfx906' 'Marketing Name: +AMD Instinct MI210' 'Compute Unit: +104' \
  'Name: +amdgcn-amd-amdhsa--gfx90a:sramecc\+:xnack-' 'Size: +8388608\('; do
  grep -qE "$line" "$out" || { echo "rocminfo does not say $line:" >&2; cat "$out" >&2; exit 1; }
done
