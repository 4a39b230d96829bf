#!/bin/sh
# build.sh FOLDER: compiles image.c with clang 13 to 16 and kernels.cl with clang 15 and 16 for the unit tests, into FOLDER.
# The programs are only read, but for program-16-gfx90a. gfx906: the device runtime of LLVM 13 knows no gfx90a. Files come
# there when they are complete: tests of another run may be reading those of the last time.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../../.." && pwd)
mkdir -p "$1"
made=$(mktemp -d "$1/made.XXXXXX")
trap 'rm -rf "$made"' EXIT

for version in 13 14 15 16; do "$root/script/llvm" "$version"; done

# The device linker of clang 13 and 14 wants to know where a libm is, although none is linked.
for version in 13 14; do
  lib=${OMPTARGET_AMDGPU_LLVM_DIR:-$root/build/llvm}/$version/usr/lib/llvm-$version/lib
  runtime=$lib
  [ "$version" -gt 13 ] || runtime=$lib/libomptarget-amdgcn-gfx906.bc
  for level in 0 2; do
    PATH=/usr/lib/llvm-$version/bin:$PATH "clang-$version" "-O$level" -fopenmp \
      -fopenmp-targets=amdgcn-amd-amdhsa -Xopenmp-target=amdgcn-amd-amdhsa -march=gfx906 \
      "--libomptarget-amdgcn-bc-path=$runtime" --rocm-device-lib-path=/usr/lib/x86_64-linux-gnu/amdgcn/bitcode \
      "-L$lib" "$here/image.c" -o "$made/program-$version-O$level"
  done
done
for version in 15 16; do
  for level in 0 2; do
    "$root/script/omp-cc" -v "$version" -g gfx906 "-O$level" "$here/image.c" -o "$made/program-$version-O$level"
  done
done
"$root/script/omp-cc" -v 16 -g gfx90a -O2 -g "$here/image.c" -o "$made/program-16-gfx90a"

# No linker of Debian 12 knows code object v5, so this is an object file.
for version in 15 16; do
  "clang-$version" -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx906 -mcode-object-version=5 -nogpulib -O2 \
    -c "$here/kernels.cl" -o "$made/kernels-$version.o"
done

# What clang 18 would make of a program, for the plugin's side of it.
# runtime18 NAME FLAGS...
runtime18() {
  output=$made/runtime18$1
  shift
  clang-16 -x cl -cl-std=CL2.0 -Xclang -finclude-default-header -target amdgcn-amd-amdhsa "$@" \
    -mcode-object-version=4 -nogpulib -O2 "$here/runtime18.cl" -o "$output"
}
runtime18 "" -mcpu=gfx90a
runtime18 -wave32 -mcpu=gfx1030
runtime18 -wave64 -mcpu=gfx1030 -mwavefrontsize64

mv "$made"/* "$1"
