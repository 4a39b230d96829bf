#!/bin/sh
# HIP programs below gfxsim: compiled by the hipcc of Debian 13 in the tree of script/trixie, and run there. Not part of ctest:
# needs root (or sudo), debootstrap and a network the first time. Run it after the build.
set -eu
root=$(CDPATH="" cd -- "$(dirname -- "$0")/../.." && pwd)

usage() {
  cat <<'USAGE'
usage: test/hip/run.sh [--build=DIR] [--root=DIR] [--door=thunk|kfd] [PROGRAM ...]

Compiles the programs of this folder (or those named, without .hip) for gfx90a with hipcc in the tree that script/trixie makes in
build/trixie (or DIR of --root), and runs them with the gfxsim-run of the build in build/release (or DIR of --build), through
either door or the one named. The results are compared with what the host computes. Prints one line per program and door; the
exit status is 1 when one fails.
USAGE
}

build=$root/build/release
tree=$root/build/trixie
doors="thunk kfd"
inside=
programs=
while [ $# -gt 0 ]; do
  case $1 in
    --build=?*) build=$(CDPATH="" cd -- "${1#*=}" && pwd) ;;
    --root=?*) tree=${1#*=} ;;
    --door=?*) doors=${1#*=} ;;
    --inside) inside=yes ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) programs="$programs $1" ;;
  esac
  shift
done
[ -n "$programs" ] || programs=$(cd "$root/test/hip" && echo *.hip | sed 's/\.hip//g')

if [ -z "$inside" ]; then
  # shellcheck disable=SC2086
  exec "$root/script/trixie" --root="$tree" --packages=hipcc --bind="$build" "$root/test/hip/run.sh" --inside --build="$build" \
    --door="$doors" $programs
fi

out=$build/test/hip
mkdir -p "$out"
failed=0
# What the machine is like: two devices, small, so that kernels of the runtime take no time; the host sees their memory, and the
# driver knows managed memory.
export GFXSIM_CUS=8 GFXSIM_DEVICES=gfx90a,gfx90a GFXSIM_HOST_VISIBLE=1 GFXSIM_SVM=1
# What asks for more than the thunk's door has.
of_kfd=" managed "

# try NAME COMMAND...
try() {
  what=$1
  shift
  if timeout 300 "$@" >"$out/log" 2>&1; then
    echo "ok      $what"
  else
    echo "FAILED  $what (exit status $?)"
    tail -n 20 "$out/log"
    failed=1
  fi
}

for program in $programs; do
  source=$root/test/hip/$program.hip
  hipcc --offload-arch=gfx90a -O2 -Wall -Wextra -o "$out/$program" "$source" || { echo "FAILED  $program: hipcc"; failed=1; continue; }
  for door in $doors; do
    [ "$door" = kfd ] || case $of_kfd in *" $program "*) continue ;; esac
    try "$program, door $door" "$build/bin/gfxsim-run" --door="$door" "$out/$program"
  done
done
exit $failed
