#!/bin/sh
# Runs tests of this build again in an unlucky machine, once for each seed, and says which failed with which:
# seeds.sh BUILD FIRST LAST LIST PATTERN [ctest option...]: seeds FIRST to LAST, LIST of --strict, tests that match PATTERN.
set -eu
build=$1
first=$2
last=$3
list=$4
pattern=$5
shift 5
# A ctest of its own: the one that this may run under has its logs in the build folder.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
echo "subdirs(\"$build/test\")" >"$folder/CTestTestfile.cmake"
# What counts host instructions or measures time; and stream/failures, which forges a failed copy by the way in which a DMA
# engine with PCIe atomics counts.
without='stream/failures|launch_cost|instruction_counts|services/idle|_256/|^strict/'
failed=0
seed=$first
while [ "$seed" -le "$last" ]; do
  if GFXSIM_STRICT=$list GFXSIM_STRICT_SEED=$seed \
    ctest --test-dir "$folder" -j "$(nproc)" -LE long -R "$pattern" -E "$without" -FA '.*' --no-tests=error --output-on-failure "$@" >"$folder/log" 2>&1; then
    sed -n "s/^\(.* tests passed\).*/--strict=$list --strict-seed=$seed: \1/p" "$folder/log"
  else
    echo "--strict=$list --strict-seed=$seed:"
    tail -n 400 "$folder/log"
    failed=1
  fi
  seed=$((seed + 1))
  export PROGRAMS_BUILT=yes # the next seed takes what the tests have compiled for this one: half of its time
done
exit $failed
