#!/bin/sh
# user_scripts.sh PART FOLDER: the scripts that users start. Parts: omp_cc (what it takes from the command line and what it leaves to
# clang), demo (in a clone in which nothing was built yet).
set -eu
here=$(CDPATH="" cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH="" cd -- "$here/../.." && pwd)
part=$1
folder=$2
rm -rf "$folder"
mkdir -p "$folder"

fail() { echo "user_scripts.sh: $*" >&2; cat "$folder/out" "$folder/err" >&2; exit 1; }
# ends STATUS COMMAND...
ends() {
  wanted=$1
  shift
  status=0
  "$@" >"$folder/out" 2>"$folder/err" || status=$?
  [ "$status" = "$wanted" ] || fail "$*: status $status, not $wanted"
}
shows() { grep -q -- "$2" "$folder/$1" || fail "no \"$2\" in std$1"; }

case $part in
  omp_cc)
    omp_cc=$root/script/omp-cc
    source=$root/test/offload/vecadd.c
    ends 0 "$omp_cc" -v -c "$source" -o "$folder/vecadd.o" # clang's -v
    shows err '^ ".*/clang" -cc1 '
    ends 0 "$omp_cc" -c "$source" -o "$folder/vecadd.o" -v
    shows err '^ ".*/clang" -cc1 '
    cp "$source" "$folder"
    cd "$folder"
    for words in "-v 15 -g gfx906 -c vecadd.c" "-c vecadd.c -g gfx906 -v 15"; do
      # shellcheck disable=SC2086
      ends 0 "$omp_cc" -### $words
      shows err '^ *"/usr/lib/llvm-15/.*"-target-cpu" "gfx906"'
      if grep -q '"-debug-info-kind' "$folder/err"; then fail "-g gfx906 is taken for clang's -g"; fi
    done
    ends 0 "$omp_cc" -### -c -g "$source"
    shows err '"-debug-info-kind.*"-target-cpu" "gfx90a"\|"-target-cpu" "gfx90a".*"-debug-info-kind'
    ends 2 "$omp_cc" -v 12 -c "$source"
    shows err '^omp-cc: -v wants 13 to 19 or 21 to 23, not 12; '
    ends 2 "$omp_cc" -v 20 -c "$source"
    # From 20 on the device runtime is a library for the linker of device code, and code objects are to be of version 5.
    lib=$folder/llvm/23/usr/lib/llvm-23/lib
    mkdir -p "$lib/clang/23/include" "$folder/bin"
    : >"$lib/libomptarget.so"
    : >"$lib/clang/23/include/omp.h"
    printf '#!/bin/sh\necho "$@"\n' >"$folder/bin/clang-23"
    chmod +x "$folder/bin/clang-23"
    PATH=$folder/bin:$PATH OMPTARGET_AMDGPU_LLVM_DIR=$folder/llvm ends 0 "$omp_cc" -v 23 -g gfx906 "$source"
    shows out " -march=gfx906 .* -Xoffload-linker -L$lib/amdgcn-amd-amdhsa -mcode-object-version=5 "
    ends 2 "$omp_cc"
    version=$(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
    ends 0 "$omp_cc" -v 15 --version
    [ "$(head -n 1 "$folder/out")" = "omp-cc $version" ] || fail "not its own version first"
    shows out 'clang version 15\.'
    ;;
  demo)
    # A fresh clone, the runtimes elsewhere; nothing is to be installed, and the build fails at once.
    mkdir -p "$folder/clone/script" "$folder/bin"
    cp "$root/script/demo" "$folder/clone/script"
    printf '#!/bin/sh\n' >"$folder/clone/script/bootstrap"
    printf '#!/bin/sh\necho reached cmake\nexit 1\n' >"$folder/bin/cmake"
    chmod +x "$folder/clone/script/bootstrap" "$folder/bin/cmake"
    PATH=$folder/bin:$PATH ends 1 "$folder/clone/script/demo"
    shows err '^reached cmake$'
    shows err '^demo: the build failed; all of its output is in build/demo.log$'
    shows out 'takes .* minutes'
    ;;
esac
