#!/bin/bash
# Prints from parallel regions, compiled with the very words of doc/device-services.md:
# documented_commands.sh CLANG-VERSION DEVICE-DIR LLVM-DIR GFXSIM-RUN SCRATCH BUILD-DIR LEVEL... -- GFX...
# With a BUILD-DIR, once more with what `cmake --install` of it makes, in a folder that has a space in its name.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
version=$1 device=$2 runtimes=$3/$1/usr/lib/llvm-$1/lib gfxsim_run=$4 scratch=$5 build=$6
shift 6
levels=()
while [ "$1" != -- ]; do levels+=("$1"); shift; done
shift
mkdir -p "$scratch"
export OMP_TARGET_OFFLOAD=MANDATORY KMP_WARNINGS=0
# clang 14 takes its linker from PATH.
PATH=/usr/lib/llvm-$version/bin:$PATH

{
  for thread in $(seq 0 127); do echo "hello from thread $thread of 128"; done
  for thread in $(seq 0 63); do
    half=$((thread * 3 / 2)).$((thread % 2 * 5))0
    printf 'team %d of 2, thread %d of 64: text %s 8\n' 0 "$thread" "$half" 1 "$thread" "$half"
  done
  for line in $(seq 0 99); do echo "line $line"; done
} | sort >"$scratch/expected"

. "$here/runtime.sh"

# Where runtimes are that are not installed; the rest is what the document says.
unpacked=(-L"$runtimes" -Wl,-rpath,"$runtimes")
for candidate in "$runtimes"/clang/*/include; do unpacked+=(-I"$candidate"); done

# try DEVICE-DIR LEVEL GFX
try() {
  local level=()
  case $version-$2 in 18-O0 | 19-O0) level=(-Wl,--opt-level=O2) ;; esac # as the document says
  "clang-$version" --config "$1/clang-$version.cfg" -fopenmp \
    -fopenmp-targets=amdgcn-amd-amdhsa -Xopenmp-target=amdgcn-amd-amdhsa -march="$3" "$here/hello.c" \
    "-$2" "${level[@]}" "${unpacked[@]}" -o "$scratch/hello" 2>"$scratch/err" || { echo "$*: does not compile" >&2; cat "$scratch/err" >&2; exit 1; }
  timeout 60 "$gfxsim_run" --runtime="$runtime" --devices="$3" --cus=4 "$scratch/hello" >"$scratch/out" 2>"$scratch/err" ||
    { echo "$*: exit status $?" >&2; cat "$scratch/err" >&2; exit 1; }
  sort "$scratch/out" | diff "$scratch/expected" - >&2 || { echo "$*: wrong output" >&2; exit 1; }
}

for level in "${levels[@]}"; do
  for gfx in "$@"; do try "$device" "$level" "$gfx"; done
done
if [ -n "$build" ]; then
  cmake --install "$build" --component plugin --prefix "$scratch/a prefix" >/dev/null
  for gfx in "$@"; do try "$scratch/a prefix/${LIBDIR:-lib}/omptarget-amdgpu/device" O2 "$gfx"; done
fi
