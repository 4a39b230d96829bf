#!/bin/sh
# The tests of gfxsim below ROCr once more, with the ROCr 6.1.2 of Debian 13 and in every mode of it. Not part of ctest:
# needs root (or sudo) and a network the first time. Run it after the build.
set -eu
root=$(CDPATH="" cd -- "$(dirname -- "$0")/../.." && pwd)

usage() {
  cat <<'USAGE'
usage: test/machine/rocr6.sh [--root=DIR] [--build=DIR] [--quick]

Runs the HSA tests of the build in build/release (or DIR of --build) in the Debian 13 tree that script/trixie makes in
build/trixie (or DIR of --root): with interrupts on and off, with DMA engines on and off. --quick: only both on.
Prints one line per test; the exit status is 1 when one fails.
USAGE
}

tree=
build=$root/build/release
modes="1,1 1,0 0,1 0,0"
inside=
while [ $# -gt 0 ]; do
  case $1 in
    --root=?*) tree=$1 ;;
    --build=?*) build=$(CDPATH="" cd -- "${1#*=}" && pwd) ;;
    --quick) modes="1,1" ;;
    --inside) inside=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

if [ -z "$inside" ]; then
  for file in lib/gfxsim/libhsakmt.so.1 test/unit/gfxsim_hsa test/machine/machine test/machine/copies \
    test/fault/fault; do
    [ -e "$build/$file" ] || { echo "rocr6.sh: no $file in $build: build first" >&2; exit 1; }
  done
  quick=
  [ "$modes" != "1,1" ] || quick=--quick
  # shellcheck disable=SC2086
  exec "$root/script/trixie" $tree --bind="$build" "$root/test/machine/rocr6.sh" --inside --build="$build" $quick
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0

# try NAME COMMAND...
try() {
  name=$1
  shift
  if "$@" >"$log" 2>&1; then
    echo "ok      $name"
  else
    echo "FAILED  $name"
    tail -n 40 "$log"
    failed=1
  fi
}

echo "ROCr $(dpkg-query -W -f '${Version}' libhsa-runtime64-1)"
export LD_LIBRARY_PATH="$build/lib/gfxsim" MACHINE_KERNELS="$build/test/machine/kernels.co"
export FAULT_KERNELS="$build/test/fault/kernels.co"
for mode in $modes; do
  export HSA_ENABLE_INTERRUPT="${mode%,*}" HSA_ENABLE_SDMA="${mode#*,}"
  text="HSA_ENABLE_INTERRUPT=$HSA_ENABLE_INTERRUPT HSA_ENABLE_SDMA=$HSA_ENABLE_SDMA"
  try "calls of HSA, $text" env GFXSIM_CUS=4 "$build/test/unit/gfxsim_hsa"
  try "the machine, $text" "$build/test/machine/machine"
  try "copies, $text" env GFXSIM_CUS=4 GFXSIM_DEVICES=gfx90a,gfx90a "$build/test/machine/copies"
  try "kernels that fail, $text" env GFXSIM_CUS=4 "$build/test/fault/fault"
done
unset HSA_ENABLE_INTERRUPT HSA_ENABLE_SDMA
try "text of faults" env GFXSIM_CUS=4 "$root/test/fault/fault_messages.sh" "$build/test/fault/fault"
unset LD_LIBRARY_PATH
try "gfxsim-run rocminfo" "$root/test/machine/rocminfo.sh" "$build/bin/gfxsim-run" rocr6
try "what gfxsim prints at the end" "$root/test/machine/exit_output.sh" "$build/bin/gfxsim-run" "$build/test/machine/machine"
exit $failed
