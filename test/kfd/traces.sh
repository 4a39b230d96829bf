#!/bin/sh
# Nothing that concerns the driver reaches the kernel: traces.sh LIBGFXSIM-KFD HSA-TEST DOOR-TEST. Of an HSA program's calls,
# and of paths that the driver does not have, which a real driver of the machine might.
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v strace >/dev/null || { echo "strace is missing: apt-get install strace" >&2; exit 1; }
paths='"(/dev/kfd"|/dev/dri|/sys/(devices/virtual|class)/(kfd|drm)|/sys/module/amdgpu|/sys/dev/char/226)'
strace -f -o "$scratch/trace" -E LD_PRELOAD="$1" -E GFXSIM_CUS=4 "$2" init_again
grep -q 'exited with 0' "$scratch/trace" || { echo "the program failed" >&2; exit 1; }
grep -q 'gfxsim-device' "$scratch/trace" || { echo "the program used no driver: the test proves nothing" >&2; exit 1; }
strace -f -o "$scratch/door" -e trace=%file -E LD_PRELOAD="$1" -E GFXSIM_CUS=4 -E GFXSIM_DEVICES=gfx90a:1G,gfx906:1G "$3" \
  >"$scratch/said" 2>&1 || { cat "$scratch/said" >&2; exit 1; }
if grep -E "$paths|ioctl\\(" "$scratch/trace" || grep -E "$paths" "$scratch/door"; then
  echo "these reached the kernel" >&2
  exit 1
fi
