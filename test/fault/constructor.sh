#!/bin/sh
# What is told of a fault in a constructor of a library, by gfxsim, the plugin, the host runtime, and below LLVM's plugin.
# Called: constructor.sh GFXSIM_RUN SOURCE FOLDER STOCK_PLUGINS   ($OMP_CC compiles)
set -eu
run=$1 source=$2 folder=$3 stock=$4
mkdir -p "$folder"
program=$folder/constructor
ulimit -c 0
[ "$program" -nt "$source" ] || $OMP_CC -O2 -g "$source" -o "$program"
[ "$program.so" -nt "$source" ] || $OMP_CC -O2 -g -DLIBRARY -fPIC -shared "$source" -o "$program.so"

try() { # OPTION REGEX...
  option=$1
  shift
  status=0
  OMP_TARGET_OFFLOAD=MANDATORY timeout 30 "$run" "$option" "$program" >"$folder/out" 2>&1 || status=$?
  case $status in 0 | 124) echo "constructor: $option: status $status" >&2; cat "$folder/out" >&2; exit 1 ;; esac
  for regex; do
    grep -qE -- "$regex" "$folder/out" || { echo "constructor: $option: no line \"$regex\"" >&2; cat "$folder/out" >&2; exit 1; }
  done
}

simulator='memory fault: write at 0x[0-9a-f]+ where nothing is mapped: .*constructor.c:[0-9]+, pc'
for option in --plugin=ours --runtime=ours; do
  try "$option" "$simulator" 'kernel:   target region in begin at line' 'source:   not known, as a library is being loaded' \
    'address of the host.s memory \(variable numbers\)'
done
try "--plugin=$stock" "$simulator" HSA_AMD_GPU_MEMORY_FAULT_EVENT
echo "constructor: told"
