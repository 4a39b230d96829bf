#!/bin/sh
# The HSA tests below other ROCrs through the kernel driver's interface: 6.1.2 of Debian 13 with Debian's own thunk, 6.4 of
# forky, which has its thunk inside, and 7, which script/rocr-7 compiles; there also rocminfo and OpenMP programs. Not part of
# ctest: needs root (or sudo) and a network the first time. Run it after the build.
set -eu
root=$(CDPATH="" cd -- "$(dirname -- "$0")/../.." && pwd)

usage() {
  cat <<'USAGE'
usage: test/kfd/trees.sh [--build=DIR] [--tree=NAME=DIR] [--programs=DIR] [--libraries=DIR]
                         [trixie] [forky] [rocr-7]

Runs the HSA tests of the build in build/release (or DIR of --build) in the trees that script/trixie makes in build/trixie and
build/forky (or DIR of --tree), in both or in those named; rocr-7 is forky's with the ROCr of script/rocr-7. --programs=DIR:
every program in that folder, too, which were compiled for gfx90a (script/omp-cc), with our libomptarget, and with their own: with
our plugin up to LLVM 18, from 19 on with what libomptarget of theirs offloads by itself; with the libraries in --libraries=DIR,
such as a libLLVM that the release does not have. Prints one line per test; the exit status is 1 when one fails.
USAGE
}

build=$root/build/release
programs=
libraries=
trees=
inside=
trixie=$root/build/trixie
forky=$root/build/forky
while [ $# -gt 0 ]; do
  case $1 in
    --build=?*) build=$(CDPATH="" cd -- "${1#*=}" && pwd) ;;
    --programs=?*) programs=$(CDPATH="" cd -- "${1#*=}" && pwd) ;;
    --libraries=?*) libraries=$(CDPATH="" cd -- "${1#*=}" && pwd) ;;
    --tree=trixie=?*) trixie=${1#*=*=} ;;
    --tree=forky=?*) forky=${1#*=*=} ;;
    --inside) inside=yes ;;
    trixie | forky | rocr-7) trees="$trees $1" ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

# Generic processors, which code object version 6 brought and ROCr since 6.3 takes, and parts that each stands for.
generic="gfx9-generic:gfx900 gfx9-generic:gfx906 gfx9-4-generic:gfx942 gfx10-3-generic:gfx1030 gfx11-generic:gfx1100"

# make_generic: programs for them, where clang 22 is ready.
make_generic() {
  command -v clang-22 >/dev/null || { echo "no programs for generic processors: script/toolchain 22 makes them possible" >&2; return; }
  mkdir -p "$build/test/kfd/generic"
  for processor in $(printf '%s\n' $generic | cut -d: -f1 | sort -u); do
    for program in mapping omp_mix; do
      "$root/script/omp-cc" -v 22 -g "$processor" -w "$root/test/offload/$program.c" -o "$build/test/kfd/generic/$program-$processor"
    done
  done
}

if [ -z "$inside" ]; then
  status=0
  case "${trees:-forky}" in *forky* | *rocr-7*) make_generic ;; esac
  libraries_of_forky=--packages="libhsa-runtime-dev libllvm21 libllvm22"
  for tree in ${trees:-trixie forky}; do
    case $tree in
      trixie) enter="trixie --release=trixie" folder=$trixie more= ;;
      forky) enter="trixie --release=forky" folder=$forky more=$libraries_of_forky ;;
      rocr-7) enter=rocr-7 folder=$forky more=$libraries_of_forky ;;
    esac
    # shellcheck disable=SC2086
    "$root"/script/$enter --root="$folder" ${more:+"$more"} --bind="$build" ${programs:+--bind="$programs"} ${libraries:+--bind="$libraries"} \
      "$root/test/kfd/trees.sh" --inside --build="$build" ${programs:+--programs="$programs"} \
      ${libraries:+--libraries="$libraries"} || status=1
  done
  exit $status
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=0

# try NAME COMMAND...
try() {
  what=$1
  shift
  if "$@" >"$log" 2>&1; then
    echo "ok      $what"
  else
    echo "FAILED  $what"
    tail -n 40 "$log"
    failed=1
  fi
}

case "${LD_LIBRARY_PATH-}" in
  /opt/rocr-7/lib*)
    echo "ROCr 7"
    # The library reads through a null pointer when a process attaches a signal of another's (Runtime::IPCAttach looks at the first
    # of no agents).
    echo "not for this ROCr: signals of other processes"
    export SHARING_WITHOUT=test_signal
    ;;
  *) echo "ROCr $(dpkg-query -W -f '${Version}' libhsa-runtime64-1)" ;;
esac
run=$build/bin/gfxsim-run
export MACHINE_KERNELS="$build/test/machine/kernels.co" FAULT_KERNELS="$build/test/fault/kernels.co"
# What only the thunk's door promises, and what needs that library. 6.4 has no functions of a thunk to call.
export SCENARIOS_WITHOUT="store_to_freed store_to_unlocked execute_data store_to_read_only"
for mode in 1,1 0,1 1,0; do
  export HSA_ENABLE_INTERRUPT="${mode%,*}" HSA_ENABLE_SDMA="${mode#*,}"
  text="HSA_ENABLE_INTERRUPT=$HSA_ENABLE_INTERRUPT HSA_ENABLE_SDMA=$HSA_ENABLE_SDMA"
  try "calls of HSA, $text" env GFXSIM_CUS=4 "$run" --door=kfd "$build/test/unit/gfxsim_hsa"
  try "the machine, $text" "$run" --door=kfd "$build/test/machine/machine"
  try "copies, $text" env GFXSIM_CUS=4 GFXSIM_DEVICES=gfx90a,gfx90a "$run" --door=kfd "$build/test/machine/copies"
  try "kernels that fail, $text" env GFXSIM_CUS=4 "$run" --door=kfd "$build/test/fault/fault"
done
unset HSA_ENABLE_INTERRUPT HSA_ENABLE_SDMA
# By words that AMD's drivers know, and by descriptors; with memory that the host sees, and that it does not.
for mode in 1,1 1,0 0,1 0,0; do
  try "sharing, HSA_ENABLE_IPC_MODE_LEGACY=${mode%,*} GFXSIM_HOST_VISIBLE=${mode#*,}" env GFXSIM_CUS=4 \
    HSA_ENABLE_IPC_MODE_LEGACY="${mode%,*}" GFXSIM_HOST_VISIBLE="${mode#*,}" "$run" --door=kfd "$build/test/kfd/sharing"
done
try "attributes of memory" env GFXSIM_CUS=4 GFXSIM_DEVICES=gfx90a,gfx90a GFXSIM_SVM=1 "$run" --door=kfd "$build/test/kfd/svm"
try "memory by addresses" env GFXSIM_CUS=4 GFXSIM_DEVICES=gfx90a,gfx90a GFXSIM_HOST_VISIBLE=1 "$run" --door=kfd "$build/test/kfd/vmem"
try "rocminfo" "$root/test/kfd/rocminfo.sh" "$build/bin/gfxsim-run"
[ -z "$libraries" ] || export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
[ ! -e /usr/lib/x86_64-linux-gnu/libLLVM.so.22.1 ] || for pair in $generic; do
  for program in "$build"/test/kfd/generic/*-"${pair%:*}"; do
    for runtime in ours stock; do
      try "$(basename -- "$program") on ${pair#*:}, $runtime" env GFXSIM_DEVICES="${pair#*:}" OMP_TARGET_OFFLOAD=MANDATORY \
        "$run" --door=kfd "--runtime=$runtime" "$program"
    done
  done
done
for program in ${programs:+"$programs"/*}; do
  name=$(basename -- "$program")
  export GFXSIM_CUS=8 OMP_TARGET_OFFLOAD=MANDATORY
  try "$name, our libomptarget" "$run" --door=kfd --runtime=ours "$program"
  # Those whose libLLVM this release does not have cannot start.
  ldd "$program" | grep -q 'not found' || try "$name, its own libomptarget" "$run" --door=kfd "$program"
done
exit $failed
