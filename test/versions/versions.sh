#!/bin/sh
# versions.sh CASE BUILD FOLDER: what depends on the versions of clang and libomptarget, and on what a machine has. Compiles into
# FOLDER. Cases: sample-N (programs of clang N under libomptarget N), mixed-N-M (programs of clang N under libomptarget M),
# unload-N (libraries that come and go), ending-N (a region behind exit handlers), no-gpu-N (no GPU and no simulator),
# no-rocr-N (no ROCr), forks-N (which child processes have a GPU), constructors-N (of variables on the device).
set -eu
root=$(CDPATH="" cd -- "$(dirname -- "$0")/../.." && pwd)
sources=$root/test/offload
case=$1
build=$2
folder=$3
version=$(echo "$case" | sed 's/^[a-z-]*-\([0-9]*\).*/\1/')
host=${case##*-}
llvm=${OMPTARGET_AMDGPU_LLVM_DIR:-$root/build/llvm}
mkdir -p "$folder"

"$root/script/llvm" "$version"
gfx=gfx90a
[ "$version" -ne 13 ] || gfx=gfx906 # the device runtime of 13 has no gfx90a
export KMP_WARNINGS=0

cc() { "$root/script/omp-cc" -v "$version" -g "$gfx" -O2 "$@"; }
plugin=$(readlink -f "$build/src/libomptarget.rtl.amdgpu.so")
simulated() {
  OMP_TARGET_OFFLOAD=MANDATORY CHECK_PLUGIN=$plugin CHECK_THUNK=$(readlink -f "$build/lib/gfxsim/libhsakmt.so.1") \
    "$build/bin/gfxsim-run" "--devices=$gfx" "$@"
}

# On the host, right, and without a word.
on_the_host() {
  "$@" >"$folder/output" 2>"$folder/messages" || { cat "$folder/output" "$folder/messages" >&2; exit 1; }
  cat "$folder/output"
  [ ! -s "$folder/messages" ] || { cat "$folder/messages" >&2; exit 1; }
}

programs="vecadd since"
[ "$version" -ne 13 ] || programs="$programs globals" # generic regions with parallel parts need care there
[ "$case" != mixed-17-18 ] || programs="vecadd reduce_teams globals" # 18 takes the memory locks of 16 and 17 away
case $case in
  sample-*)
    for program in $programs; do
      cc "$sources/$program.c" -o "$folder/$program"
      simulated "$folder/$program"
    done
    ;;
  mixed-*)
    # The newer libraries, libomptarget under the name that programs of the older clang ask for.
    "$root/script/llvm" "$host"
    newer=$(readlink -f "$llvm/$host/usr/lib/llvm-$host/lib/libomptarget.so")
    ln -sf "$llvm/$host/usr/lib/llvm-$host/lib/libomp.so.5" "$folder" # libomptarget 16 wants no older one
    for program in $programs; do
      cc "$sources/$program.c" -o "$folder/$program"
      name=$(readelf -d "$folder/$program" | sed -n 's/.*(NEEDED).*\[\(libomptarget\.so[^]]*\)\]/\1/p')
      ln -sf "$newer" "$folder/$name"
      LD_LIBRARY_PATH=$folder CHECK_HOST=$newer simulated "$folder/$program"
    done
    ;;
  unload-*)
    cc -fPIC -shared -DLIBRARY_FACTOR=3 "$root/test/versions/unload_library.c" -o "$folder/first.so"
    cc -fPIC -shared -DLIBRARY_FACTOR=10 "$root/test/versions/unload_library.c" -o "$folder/other.so"
    cc "$root/test/versions/unload.c" -ldl -o "$folder/unload"
    simulated "$folder/unload" "$folder/first.so" "$folder/other.so"
    ;;
  ending-*)
    # ROCr has ended when libomptarget 13 to 15 get there, and ours says so; it is not touched any more.
    cc "$root/test/versions/ending.c" -o "$folder/ending"
    for argument in "" used; do
      status=0
      simulated "$folder/ending" ${argument:+"$argument"} 2>"$folder/messages" || status=$?
      cat "$folder/messages"
      if [ "$version" -ge 16 ]; then
        grep -qx "ending: $([ -n "$argument" ] && echo 4 || echo 2)" "$folder/messages"
        [ "$status" = 0 ]
      else
        grep -q '^AMDGPU error: cannot .*: the program is ending, and ROCr has ended before it' "$folder/messages"
        [ "$status" = 134 ]
      fi
    done
    ;;
  constructors-*)
    cc "$sources/cxx_globals.cpp" -o "$folder/cxx_globals"
    status=0
    simulated "$folder/cxx_globals" 2>"$folder/messages" || status=$?
    cat "$folder/messages"
    if [ "$version" -ge 15 ]; then
      [ "$status" = 0 ]
    else
      grep -q '^AMDGPU error: .*_ctor is a plain function, .* build with clang 15 or later$' "$folder/messages"
      [ "$status" -gt 0 ]
    fi
    ;;
  forks-*)
    cc "$root/test/versions/forks.c" -o "$folder/forks"
    simulated "$folder/forks" 2>"$folder/messages" || { cat "$folder/messages" >&2; exit 1; }
    # Only one child is refused.
    [ "$(grep -c '^AMDGPU error' "$folder/messages")" = 1 ]
    used="this process was forked from one that had used the GPU, and has none; let it execute a program (exec,"
    grep '^AMDGPU error: cannot [a-z ]*: ' "$folder/messages" | grep -qF ": $used posix_spawn), or fork before the"
    # The host runtime has kept what it knew of the devices before.
    OMP_TARGET_OFFLOAD=MANDATORY "$build/bin/gfxsim-run" "--devices=$gfx" --runtime=ours "$folder/forks" \
      2>"$folder/messages" || { cat "$folder/messages" >&2; exit 1; }
    # Where no library with regions is open before the fork, each process opens the GPU for itself.
    cc -fPIC -shared -DLIBRARY_FACTOR=3 "$root/test/versions/unload_library.c" -o "$folder/library.so"
    command "${CC:-cc}" "$root/test/versions/forks_plain.c" -ldl -o "$folder/forks_plain"
    simulated "$folder/forks_plain" "$folder/library.so"
    ;;
  no-gpu-*)
    cc "$sources/vecadd.c" -o "$folder/vecadd"
    LD_LIBRARY_PATH=$(dirname "$plugin") CHECK_PLUGIN=$plugin on_the_host "$folder/vecadd"
    ;;
  no-rocr-*)
    # A file that is no library hides the one of the system.
    cc "$sources/vecadd.c" -o "$folder/vecadd"
    mkdir -p "$folder/hidden"
    : >"$folder/hidden/libhsa-runtime64.so.1"
    LD_LIBRARY_PATH=$folder/hidden:$(dirname "$plugin")
    export LD_LIBRARY_PATH
    "$folder/vecadd" 2>"$folder/messages"
    cat "$folder/messages"
    grep -q '^AMDGPU error: cannot offload: ROCr.*/libhsa-runtime64.so.1: file too short$' "$folder/messages"
    grep -qx "AMDGPU error:   the program is built for $gfx" "$folder/messages"
    [ "$(wc -l <"$folder/messages")" = 4 ]
    ;;
esac
