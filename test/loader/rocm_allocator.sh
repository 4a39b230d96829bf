#!/bin/sh
# Runs allocator.c under amdhsa-loader on gfxsim: rocm_allocator.sh GFX CODE-OBJECT BITCODE-DIR LOADER GFXSIM-RUN SCRATCH
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
gfx=$1 object=$2 bitcode=$3 loader=$4 gfxsim_run=$5 scratch=$6
mkdir -p "$scratch"
# Clang 16 compiles for all parts but gfx942, of which the library does not know the number, either.
clang=16 number=
[ "$gfx" != gfx942 ] || { clang=19 number=9402; }
waves=on
case $gfx in gfx1*) waves=off ;; esac
set -- ockl "oclc_abi_version_${object}00" "oclc_wavefrontsize64_$waves"
[ -n "$number" ] || set -- "$@" "oclc_isa_version_${gfx#gfx}"
for name in "$@"; do
  shift
  set -- "$@" -Xclang -mlink-builtin-bitcode -Xclang "$bitcode/$name.bc"
done
"clang-$clang" -x c -std=c11 -target amdgcn-amd-amdhsa "-mcpu=$gfx" "-mcode-object-version=$object" -nogpulib -ffreestanding -O2 \
  -Wall -Wextra -Werror ${number:+"-DISA_VERSION=$number"} "$@" -c "$here/allocator.c" -o "$scratch/program.o"
"ld.lld-$clang" -shared --no-undefined "$scratch/program.o" -o "$scratch/program"
if [ "$object" = 5 ] && ! llvm-readelf-16 --notes "$scratch/program" | grep -q hidden_heap_v1; then
  echo "the kernel does not ask for the allocator's state" >&2
  exit 1
fi
status=0
"$here/../../script/with-rocr" "$gfx" "$gfxsim_run" "--devices=$gfx" --cus=8 "$loader" --timeout 60 --threads 64 --blocks 4 "$scratch/program" || status=$?
[ $status = 64 ] || { echo "exit status $status instead of 64" >&2; exit 1; }
