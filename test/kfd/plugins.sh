#!/bin/sh
# LLVM's own offload plugins, those inside libomptarget 19, 21, 22 and 23, on ROCr 5.2.3, 6.1.2 and 6.4.3: OpenMP programs below
# gfxsim, here and in the trees of script/trixie. Not here: our plugin and our libomptarget (trees.sh, script/matrix). Not part of
# ctest: needs root (or sudo) and, the first time, a network. Run it after the build.
set -eu
root=$(CDPATH="" cd -- "$(dirname -- "$0")/../.." && pwd)

usage() {
  cat <<'USAGE'
usage: test/kfd/plugins.sh [--build=DIR] [--llvm=N] ... [--rocr=VERSION] ...

Compiles some programs of test/offload with clang N, all of 19, 21, 22 and 23 if none is named, and runs them with LLVM's own
libomptarget on gfxsim of the build in build/release (or DIR), on each ROCr, all of 5.2.3, 6.1.2 and 6.4.3 if none is named:

  5.2.3   Debian 12's, this machine's: 19 and 22 here, 21 and 23 in a tree of sid, with a copy of that library
  6.1.2   Debian 13's, in the tree of sid that script/toolchain makes
  6.4.3   sid's own, in a tree (script/trixie --release=unstable), through the door of the kernel driver

Prints one line per program; the exit status is 1 when one fails. 23 on 5.2.3 passes when its plugin refuses as it should: at the
first of the functions that it wants and this ROCr does not have, which have to be those listed here.
USAGE
}

build=$root/build/release
versions=
rocrs=
while [ $# -gt 0 ]; do
  case $1 in
    --build=?*) build=$(CDPATH="" cd -- "${1#*=}" && pwd) ;;
    --llvm=19 | --llvm=2[123]) versions="$versions ${1#*=}" ;;
    --rocr=5.2.3 | --rocr=6.1.2 | --rocr=6.4.3) rocrs="$rocrs ${1#*=}" ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

programs="mapping omp_mix tasks"
# What LLVM 23's plugin looks up, in its order, and ROCr 5.2.3 does not have.
missing="hsa_amd_vmem_address_reserve hsa_amd_vmem_address_free hsa_amd_vmem_handle_create hsa_amd_vmem_handle_release
  hsa_amd_vmem_map hsa_amd_vmem_unmap hsa_amd_vmem_set_access"
libraries=usr/lib/x86_64-linux-gnu
out=$root/build/plugins
mkdir -p "$out/rocr-5.2.3"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
trap 'exit 1' HUP INT TERM
failed=0

# report NAME STATUS
report() {
  if [ "$2" -eq 0 ]; then
    echo "ok      $1"
  else
    echo "FAILED  $1"
    tail -n 20 "$log"
    failed=1
  fi
}

# tree_of ROCR VERSION: the release of the tree in which they meet, or nothing.
tree_of() {
  case $1-$2 in
    5.2.3-19 | 5.2.3-22) ;;
    6.4.3-*) echo unstable ;;
    *) echo sid ;;
  esac
}

# prepare ROCR VERSION: what both need, in the tree, and whether that ROCr is the one it should be.
prepare() {
  release=$(tree_of "$1" "$2")
  if [ -n "$release" ]; then
    packages=
    [ -e "$root/build/$release/$libraries/libLLVM.so.$2.1" ] || packages="libllvm$2"
    # The plugin opens ROCr by the name that only the development package has.
    [ -e "$root/build/$release/$libraries/libhsa-runtime64.so" ] || packages="$packages libhsa-runtime-dev"
    "$root/script/trixie" --release="$release" ${packages:+--packages="$packages"}
  fi
  # shellcheck disable=SC2016
  set -- "$1" dpkg-query -W -f '${Version}' libhsa-runtime64-1
  case $1 in
    5.2.3)
      "$root/script/bootstrap" 16 >&2
      found=$(shift && "$@")
      cp -L "/$libraries/libhsa-runtime64.so.1" "$out/rocr-5.2.3/libhsa-runtime64.so.1"
      ln -sf libhsa-runtime64.so.1 "$out/rocr-5.2.3/libhsa-runtime64.so"
      ;;
    *) found=$(shift && "$root/script/trixie" --release="$release" "$@") ;;
  esac
  case $found in
    "$1"*) ;;
    *) echo "this is ROCr $found, not $1"; return 1 ;;
  esac
}

# run ROCR VERSION [NAME=VALUE ...] PROGRAM: where they meet. The program finds LLVM's libomptarget by itself.
run() {
  release=$(tree_of "$1" "$2")
  door=thunk
  search=
  case $1-$release in
    5.2.3-sid) search=LD_LIBRARY_PATH=$out/rocr-5.2.3 ;;
    6.4.3-*) door=kfd ;;
  esac
  shift 2
  program=$1
  set -- env ${search:+"$search"} ${trace:+"$trace"} GFXSIM_CUS=8 OMP_TARGET_OFFLOAD=MANDATORY \
    "$build/bin/gfxsim-run" --door="$door" --runtime=stock "$program"
  [ -z "$release" ] || set -- "$root/script/trixie" --release="$release" --bind="$build" "$@"
  "$@" >"$log" 2>&1
}

# refuses ROCR VERSION PROGRAM: the plugin has to end its search at the first of the functions that are missing, so that the
# program has no device.
refuses() {
  trace=LD_DEBUG=symbols
  ! run "$@" || return 1
  trace=
  first=$(sed -n 's,.*/libhsa-runtime64\.so: error: symbol lookup error: undefined symbol: \([a-z0-9_]*\) (fatal)$,\1,p' "$log")
  grep -vE '^ *[0-9]+:' "$log" >"$log.short" || true # what is left is the program's
  mv "$log.short" "$log"
  # shellcheck disable=SC2086
  [ "$first" = "$(printf '%s\n' $missing | head -n 1)" ] &&
    grep -qx 'omptarget fatal error 1: failure of target construct while offloading is mandatory' "$log"
}

# lacks VERSION: the functions that libomptarget names and ROCr 5.2.3 does not have are the ones above, no more and no fewer.
lacks() {
  list=$out/rocr-5.2.3/functions
  nm -D --defined-only "$out/rocr-5.2.3/libhsa-runtime64.so.1" | sed 's/.* //; s/@.*//' | sort -u >"$list"
  lib=${OMPTARGET_AMDGPU_LLVM_DIR:-$root/build/llvm}/$1/usr/lib/llvm-$1/lib
  strings -a "$lib/libomptarget.so" "$lib"/libLLVMOffload.so 2>/dev/null | grep -xE 'hsa_[a-z0-9_]+' | sort -u |
    comm -23 - "$list" >"$log"
  # shellcheck disable=SC2086
  [ "$(cat "$log")" = "$(printf '%s\n' $missing | sort)" ]
}

trace=
for version in ${versions:-19 21 22 23}; do
  "$root/script/toolchain" "$version" >/dev/null
  for program in $programs; do
    "$root/script/toolchain" "$version" "$root/script/omp-cc" -v "$version" -w "$root/test/offload/$program.c" \
      -o "$out/$program-$version"
  done
  for rocr in ${rocrs:-5.2.3 6.1.2 6.4.3}; do
    status=0
    prepare "$rocr" "$version" >"$log" 2>&1 || status=1
    [ "$status" -eq 0 ] || { report "LLVM $version on ROCr $rocr" 1; continue; }
    case $version-$rocr in
      23-5.2.3)
        lacks "$version" || status=1
        report "LLVM 23 on ROCr 5.2.3: the functions that are not there" "$status"
        ;;
    esac
    for program in $programs; do
      what="LLVM $version on ROCr $rocr: $program"
      status=0
      case $version-$rocr in
        23-5.2.3) what="$what, refused"; refuses "$rocr" "$version" "$out/$program-$version" || status=1 ;;
        *) run "$rocr" "$version" "$out/$program-$version" || status=1 ;;
      esac
      report "$what" "$status"
    done
  done
done
exit $failed
