#!/bin/sh
# HIP programs below gfxsim: compiled by the hipcc of Debian 13, or 14 to be, in the tree of script/trixie, and run there. Not part
# of ctest: needs root (or sudo), debootstrap and a network the first time. Run it after the build.
set -eu
root=$(CDPATH="" cd -- "$(dirname -- "$0")/../.." && pwd)

usage() {
  cat <<'USAGE'
usage: test/hip/run.sh [--build=DIR] [--release=trixie|forky|rocr-7] [--root=DIR] [--door=thunk|kfd] [PROGRAM ...]

Compiles the programs of this folder (or those named, without .hip) for gfx90a with hipcc in the tree that script/trixie makes of
the release (or DIR of --root), and runs them with the gfxsim-run of the build in build/release (or DIR of --build), through
either door or the one named: HIP 5.7 on ROCr 6.1 of trixie, HIP 6.4 on ROCr 6.4 of forky, which knows the kernel's door only, or
the same on ROCr 7 (script/rocr-7). The results are compared with what the host computes. Prints one line per program and door,
also for those that need more than a door or a release has; the exit status is 1 when one fails.
USAGE
}

build=$root/build/release
release=trixie
tree=
doors=
inside=
programs=
while [ $# -gt 0 ]; do
  case $1 in
    --build=?*) build=$(CDPATH="" cd -- "${1#*=}" && pwd) ;;
    --root=?*) tree=${1#*=} ;;
    --door=?*) doors=${1#*=} ;;
    --release=?*) release=${1#*=} ;;
    --inside) inside=yes ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) programs="$programs $1" ;;
  esac
  shift
done
[ -n "$programs" ] || programs=$(cd "$root/test/hip" && echo *.hip | sed 's/\.hip//g')

# What asks for more than the thunk's door, or an older HIP, has.
of_kfd=" managed addresses "
of_forky=" addresses "
of_rocr= # that of script/rocr-7 reads through a null pointer when HIP attaches what another process shares: test/kfd/trees.sh
case $release in
  trixie) doors=${doors:-thunk kfd} ;;
  forky) doors=${doors:-kfd}; of_forky= ;;
  rocr-7) doors=${doors:-kfd}; of_forky=; of_rocr=" sharing " ;;
  *) usage >&2; exit 2 ;;
esac

if [ -z "$inside" ]; then
  case $release in
    rocr-7) enter=rocr-7 folder=$root/build/forky ;;
    *) enter="trixie --release=$release" folder=$root/build/$release ;;
  esac
  # shellcheck disable=SC2086
  exec "$root"/script/$enter --root="${tree:-$folder}" --packages=hipcc --bind="$build" \
    "$root/test/hip/run.sh" --inside --build="$build" --release="$release" --door="$doors" $programs
fi

out=$build/test/hip
mkdir -p "$out"
failed=0
# What the machine is like: two devices, small, so that kernels of the runtime take no time; the host sees their memory, and the
# driver knows managed memory.
export GFXSIM_CUS=8 GFXSIM_DEVICES=gfx90a,gfx90a GFXSIM_HOST_VISIBLE=1 GFXSIM_SVM=1

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

# needs_more LIST PROGRAM WHAT
needs_more() {
  case $1 in *" $2 "*) echo "not for $3: $2" ;; *) return 1 ;; esac
}

for program in $programs; do
  source=$root/test/hip/$program.hip
  needs_more "$of_forky" "$program" "this HIP" && continue
  needs_more "$of_rocr" "$program" "this ROCr" && continue
  hipcc --offload-arch=gfx90a -O2 -Wall -Wextra -o "$out/$program" "$source" || { echo "FAILED  $program: hipcc"; failed=1; continue; }
  for door in $doors; do
    [ "$door" = kfd ] || ! needs_more "$of_kfd" "$program" "door $door" || continue
    try "$program, door $door" "$build/bin/gfxsim-run" --door="$door" "$out/$program"
  done
done
exit $failed
