#!/bin/sh
# plugin_no_rocr.sh FOLDER PLUGIN PRELOAD PART: what programs hear, and whether they run, where ROCr is missing or broken.
# FOLDER is for files. PRELOAD and PART are plugin_other_rocr.c and plugin_part_of_rocr.c as libraries.
set -eu
folder=$1 plugin=$2 preload=$3 part=$4
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
mkdir -p "$folder"
unset LIBOMPTARGET_DEBUG OMP_TARGET_OFFLOAD

fail() {
  printf 'plugin_no_rocr.sh: %s; stderr was:\n' "$*" >&2
  cat "$folder/said" >&2
  exit 1
}

# run ROCR PROGRAM: its standard error is in $folder/said
run() {
  # By its name, since a path with blanks in it cannot be preloaded.
  LD_LIBRARY_PATH=${plugin%/*}:${preload%/*} LD_PRELOAD=${preload##*/} OTHER_ROCR=$1 "$2" >"$folder/output" 2>"$folder/said"
}

# says PROBLEM: one block that names it, what the program is built for, and the remedy
says() {
  [ "$(grep -c '^AMDGPU error: [^ ]' "$folder/said")" = 1 ] || fail "not one message"
  for part_of_text in "AMDGPU error: cannot offload: ROCr, which programs reach AMD GPUs through, cannot be used: $1" \
    "  the program is built for gfx90a" "  install ROCr: the package libhsa-runtime64-1 of Debian"; do
    grep -qF -- "$part_of_text" "$folder/said" || fail "no \"$part_of_text\""
  done
}

# The remedy of a linked library: none of these may stand in the plugin.
needed=$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
case $needed in *hsa*) fail "the plugin needs $needed" ;; *libelf.so.1*) ;; *) fail "cannot read what it needs" ;; esac
: >"$folder/empty"

program=$folder/vecadd
"$root/script/omp-cc" "$root/test/offload/vecadd.c" -o "$program"
run /nowhere/libhsa-runtime64.so.1 "$program" || fail "$program does not run on the host"
says "/nowhere/libhsa-runtime64.so.1: cannot open shared object file: No such file or directory"
run "$folder/empty" "$program" || fail "$program does not run on the host"
says "$folder/empty: file too short"
run "$part" "$program" || fail "$program does not run on the host"
says "$part has no function hsa_"
if OMP_TARGET_OFFLOAD=MANDATORY run /nowhere/libhsa-runtime64.so.1 "$program"; then
  fail "$program found a device"
fi
says /nowhere
# The messages come from what is not there, and not from the preloaded library.
run libhsa-runtime64.so.1 "$program" || fail "$program does not run on the host"
[ ! -s "$folder/said" ] || fail "$program says something although ROCr is there"

# A program without an image for AMD GPUs has nothing to hear.
cat >"$folder/other.c" <<'PROGRAM'
int main(void) {
  int there = 0;
#pragma omp target map(tofrom : there)
  there = 1;
  return !there;
}
PROGRAM
lib=$OMPTARGET_AMDGPU_LLVM_DIR/16/usr/lib/llvm-16/lib
clang-16 -O2 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$lib" "-Wl,-rpath,$lib" "$folder/other.c" -o "$folder/other"
run /nowhere/libhsa-runtime64.so.1 "$folder/other" || fail "the other program does not run"
[ ! -s "$folder/said" ] || fail "a program without images for AMD GPUs hears of ROCr"
LIBOMPTARGET_DEBUG=1 run /nowhere/libhsa-runtime64.so.1 "$folder/other" || fail "the other program does not run"
grep -q '^AMDGPU warning: no GPU is used, .*ROCr cannot be opened: /nowhere' "$folder/said" || fail "not said on demand"
echo "programs heard that ROCr is missing, broken or incomplete, and ran on the host"
