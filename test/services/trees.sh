#!/bin/sh
# The device support library for clang 17 and 18, which are in a tree of Debian 13: builds it there and runs the tests of this
# folder with it, and the documented commands with what CMake makes of it there and installs. Not part of ctest: needs root (or
# sudo) and a network the first time. Run it after the build.
set -eu
here=$(CDPATH="" cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH="" cd -- "$here/../.." && pwd)

usage() {
  cat <<'USAGE'
usage: test/services/trees.sh [--build=DIR] [--parts="gfx90a ..."] [--only=NAME] [17] [18]

With the build in build/release (or DIR of --build), which is in this repository: below our plugin and the libomptarget of the
compiler, and below our libomptarget, services on each part (default: gfx90a, gfx1030, gfx1100 and gfx942), and on gfx90a all
constructs, on the others some; last, by the documented commands, with what CMake installs (NAME: documented). Prints one line
per test; the exit status is 1 when one fails.
USAGE
}

build=$root/build/release
parts="gfx90a gfx1030 gfx1100 gfx942"
only=
versions=
inside=
while [ $# -gt 0 ]; do
  case $1 in
    --build=?*) build=$(CDPATH="" cd -- "${1#*=}" && pwd) ;;
    --parts=?*) parts=${1#*=} ;;
    --only=?*) only=${1#*=} ;;
    --inside) inside=yes ;;
    17 | 18) versions="$versions $1" ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

wants() { [ -z "$only" ] || [ "$only" = "$1" ]; }

if [ -z "$inside" ]; then
  status=0
  if wants documented; then
    "$root/script/trixie" --packages="cmake ninja-build gcc libc6-dev pkg-config libhsa-runtime-dev libhsakmt-dev libelf-dev libdw-dev
      libzydis-dev llvm-17 llvm-18 rocm-device-libs-17"
  fi
  for version in ${versions:-17 18}; do
    script=$root/script/toolchain
    "$script" "$version" >/dev/null
    "$script" "$version" "$here/trees.sh" --inside --build="$build" --parts="$parts" ${only:+--only="$only"} "$version" || status=1
  done
  exit $status
fi

version=${versions# }
library=$build/test/services/trees
runtime=$root/build/llvm/$version/usr/lib/llvm-$version/lib
known=
for part in $parts; do
  if [ -e "$runtime/libomptarget-amdgpu-$part.bc" ]; then
    known="$known $part"
  else
    echo "not with clang $version: $part, for which it has no device runtime"
  fi
done
# shellcheck disable=SC2086
DEVICE_CFLAGS=-Werror "$root/device/build" "$version" "$runtime" "$library/$version" $known
cp "$root/device/omptarget_amdgpu_services.h" "$library/"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0

# Clang 17's linker for the GPU crashes over these, with the library or without.
crashes=
[ "$version" != 17 ] || crashes="called_in_nested many_variables nested_generic nested_loop nested_spmd"

# try WHAT SCRIPT PART: below both libraries.
try() {
  wants "$1" || return 0
  case " $crashes " in *" $1 "*) echo "not with clang 17: $1, which it cannot link"; return 0 ;; esac
  level=O2
  [ "$1" != locals_of_teams ] || level=O0 # with optimisation they are LDS of their own
  for SERVICES_RUNTIME in stock ours; do
    export SERVICES_RUNTIME
    if "$here/$2" "$1" "$version" "$level" "$3" "$library" "$build/bin/gfxsim-run" "$library/$1-$version-$3" >"$log" 2>&1; then
      echo "ok      $1, clang $version, $3, $SERVICES_RUNTIME"
    else
      echo "FAILED  $1, clang $version, $3, $SERVICES_RUNTIME"
      tail -n 20 "$log"
      failed=1
    fi
  done
}

for part in $known; do
  services="functions threads"
  constructs="dynamic locks nested_spmd parallel_if tasks"
  if [ "$part" = gfx90a ]; then
    services="formats functions ends memory units threads words stress"
    constructs="without $(cd "$here/constructs" && echo *.c | sed 's/\.c//g')"
  fi
  for what in $services; do try "$what" service.sh "$part"; done
  for what in $constructs; do try "$what" construct.sh "$part"; done
done

# The words of the document, with what CMake makes of the library where it finds these compilers, and installs.
documented() {
  cmake -G Ninja -S "$root" -B "$library/cmake" -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF &&
    ninja -C "$library/cmake" device-library &&
    cmake -DCMAKE_INSTALL_PREFIX="$library/a prefix" -DCMAKE_INSTALL_COMPONENT=plugin -P "$library/cmake/device/cmake_install.cmake" &&
    # shellcheck disable=SC2086
    "$here/documented_commands.sh" "$version" "$library/a prefix/lib/omptarget-amdgpu/device" "$root/build/llvm" "$build/bin/gfxsim-run" \
      "$library/documented-$version" "" O0 O2 O3 -- $known
}
if wants documented; then
  if documented >"$log" 2>&1; then
    echo "ok      documented, clang $version,$known"
  else
    echo "FAILED  documented, clang $version,$known"
    tail -n 20 "$log"
    failed=1
  fi
fi
exit $failed
