#!/bin/sh
# Nothing that concerns the driver reaches the kernel: traces.sh LIBGFXSIM-KFD HSA-TEST
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v strace >/dev/null || { echo "strace is missing: apt-get install strace" >&2; exit 1; }
strace -f -o "$scratch/trace" -E LD_PRELOAD="$1" -E GFXSIM_CUS=4 "$2" init_again
grep -q 'exited with 0' "$scratch/trace" || { echo "the program failed" >&2; exit 1; }
grep -q 'gfxsim-device' "$scratch/trace" || { echo "the program used no driver: the test proves nothing" >&2; exit 1; }
if grep -E '"(/dev/kfd|/dev/dri|/sys/(devices/virtual|class)/kfd|/sys/module/amdgpu|/sys/dev/char/226)|ioctl\(' "$scratch/trace"; then
  echo "these reached the kernel" >&2
  exit 1
fi
