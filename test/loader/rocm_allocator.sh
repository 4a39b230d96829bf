#!/bin/sh
# Runs allocator.c under amdhsa-loader on gfxsim: rocm_allocator.sh CODE-OBJECT BITCODE-DIR LOADER GFXSIM-RUN SCRATCH
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
object=$1 bitcode=$2 loader=$3 gfxsim_run=$4 scratch=$5
mkdir -p "$scratch"
set --
for name in ockl "oclc_abi_version_${object}00" oclc_isa_version_90a oclc_wavefrontsize64_on; do
  set -- "$@" -Xclang -mlink-builtin-bitcode -Xclang "$bitcode/$name.bc"
done
clang-16 -x c -std=c11 -target amdgcn-amd-amdhsa -mcpu=gfx90a "-mcode-object-version=$object" -nogpulib -ffreestanding -O2 \
  -Wall -Wextra -Werror "$@" -c "$here/allocator.c" -o "$scratch/program.o"
ld.lld-16 -shared --no-undefined "$scratch/program.o" -o "$scratch/program"
if [ "$object" = 5 ] && ! llvm-readelf-16 --notes "$scratch/program" | grep -q hidden_heap_v1; then
  echo "the kernel does not ask for the allocator's state" >&2
  exit 1
fi
status=0
"$gfxsim_run" --devices=gfx90a --cus=8 "$loader" --timeout 60 --threads 64 --blocks 4 "$scratch/program" || status=$?
[ $status = 64 ] || { echo "exit status $status instead of 64" >&2; exit 1; }
