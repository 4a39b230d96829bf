#!/bin/sh
# fortran.sh FLANG RUNNER VERSION SOURCE FOLDER: a Fortran program on our host runtime, on a device and without any.
set -eu
flang=$1 runner=$2 version=$3 source=$4 folder=$5
mkdir -p "$folder"
program=$folder/$(basename -- "$source" .f90)
fail() { echo "FAIL: $1"; exit 1; }

"$flang" -v "$version" "$source" -o "$program"

# The library that it finds is ours, and the device is there: the program says on which side it should be.
export OMP_TARGET_OFFLOAD
for OMP_TARGET_OFFLOAD in MANDATORY DISABLED; do
  said=$("$runner" --devices=gfx90a --runtime=ours "$program") || fail "$OMP_TARGET_OFFLOAD: status $?, $said"
  [ "$said" = "all is right" ] || fail "$OMP_TARGET_OFFLOAD: $said"
done
unset OMP_TARGET_OFFLOAD
said=$(LIBOMPTARGET_INFO=16 "$runner" --devices=gfx90a --runtime=ours "$program" 2>&1) || fail "status $?, $said"
case $said in *"Launching kernel __omp_offloading_"*) ;; *) fail "no kernel was launched: $said" ;; esac
