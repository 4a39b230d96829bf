#!/bin/sh
# What rocminfo prints on the simulated machine, against what it prints on such cards: rocminfo.sh GFXSIM-RUN
set -eu
gfxsim_run=$1
unset GFXSIM_CUS GFXSIM_DEVICES GFXSIM_HOST_VISIBLE ROCR_VISIBLE_DEVICES HSA_XNACK
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# wants DEVICE LINE...: the section of the agent number DEVICE has the lines, blanks at their ends aside.
wants() {
  agent=$1
  shift
  awk -v agent="$agent" '$1 == "Agent" { in_it = $2 == agent } in_it { sub(/ +$/, ""); print }' "$scratch/out" \
    >"$scratch/agent"
  for line in "$@"; do
    sed 's/^ *//; s/: */: /' "$scratch/agent" | grep -qxF "$line" || {
      echo "agent $agent: no line \"$line\"" >&2
      failed=1
    }
  done
}

# As a user without any rights, where we can.
as_user=
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
if [ "$(id -u)" -eq 0 ] && $nobody test -x "$gfxsim_run" 2>/dev/null; then as_user=$nobody; fi

devices=gfx90a,gfx908,gfx906:8G,gfx900,gfx1030 # each has its facts below
# ROCr before 6.1 does not know these, and ends where one is in the machine.
later=,gfx1100,gfx1101,gfx1036,gfx1151
count=5
! grep -qaF amdgcn-amd-amdhsa--gfx1100 "$(ldconfig -p | awk '/libhsa-runtime64\.so\.1 / { print $NF; exit }')" || {
  devices=$devices$later
  later=
  count=9
}
[ "gfx950,gfx942,mi300a,$(echo "$devices$later" | sed 's/:8G//')" = "$("$gfxsim_run" --list-devices | sed 's/ .*//' | paste -sd ,)" ] ||
  { echo "$devices are not all the devices that there are" >&2; failed=1; }
$as_user "$gfxsim_run" --devices="$devices" rocminfo >"$scratch/out" 2>"$scratch/err" || {
  cat "$scratch/out" "$scratch/err" >&2
  echo "rocminfo failed" >&2
  exit 1
}
[ ! -s "$scratch/err" ] || { cat "$scratch/err" >&2; echo "rocminfo wrote to stderr" >&2; failed=1; }
grep -q 'ROCk module is loaded' "$scratch/out" || { echo "the module is not loaded" >&2; failed=1; }
[ "$(grep -c 'Device Type: *GPU' "$scratch/out")" = $count ] || { echo "not $count GPUs" >&2; failed=1; }

wants 1 "Vendor Name: CPU" "Device Type: CPU" "Compute Unit: $(getconf _NPROCESSORS_ONLN)" \
  "Segment: GLOBAL; FLAGS: FINE GRAINED" "Segment: GLOBAL; FLAGS: COARSE GRAINED"
# Cards print these lines (but for uuid, bus address and node).
common="Vendor Name: AMD|Feature: KERNEL_DISPATCH|Profile: BASE_PROFILE|Max Queue Number: 128(0x80)
Queue Min Size: 64(0x40)|Queue Max Size: 131072(0x20000)|Queue Type: MULTI|L1: 16(0x10) KB|Cacheline Size: 64(0x40)
SIMDs per CU: 4|Shader Arrs. per Eng.: 1|WatchPts on Addr. Ranges: 4|Fast F16 Operation: TRUE|Wavefront Size: 64(0x40)
Workgroup Max Size: 1024(0x400)|Grid Max Size: 4294967295(0xffffffff)|Segment: GROUP|Size: 64(0x40) KB
Segment: GLOBAL; FLAGS: COARSE GRAINED|Max fbarriers/Workgrp: 32"
IFS='|
'
# shellcheck disable=SC2086
wants 2 $common "Name: gfx90a" "Marketing Name: AMD Instinct MI210" "L2: 8192(0x2000) KB" "Chip ID: 29711(0x740f)" \
  "Max Clock Freq. (MHz): 1700" "Compute Unit: 104" "Shader Engines: 8" "Max Waves Per CU: 32(0x20)" \
  "Max Work-item Per CU: 2048(0x800)" "Size: 67092480(0x3ffc000) KB" "Name: amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
# shellcheck disable=SC2086
wants 3 $common "Name: gfx908" "L2: 8192(0x2000) KB" "Chip ID: 29580(0x738c)" "Max Clock Freq. (MHz): 1502" \
  "Compute Unit: 120" "Shader Engines: 8" "Max Waves Per CU: 40(0x28)" "Size: 33538048(0x1ffc000) KB" \
  "Name: amdgcn-amd-amdhsa--gfx908:sramecc+:xnack-"
# shellcheck disable=SC2086
wants 4 $common "Name: gfx906" "L2: 8192(0x2000) KB" "Chip ID: 26273(0x66a1)" "Max Clock Freq. (MHz): 1725" \
  "Compute Unit: 60" "Shader Engines: 4" "Max Waves Per CU: 40(0x28)" "Size: 8388608(0x800000) KB" \
  "Name: amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"
# shellcheck disable=SC2086
wants 5 $common "Name: gfx900" "Compute Unit: 64" "Name: amdgcn-amd-amdhsa--gfx900:xnack-"
wants 6 "Name: gfx1030" "Marketing Name: AMD Radeon RX 6900 XT" "Wavefront Size: 32(0x20)" "L2: 4096(0x1000) KB" \
  "Chip ID: 29631(0x73bf)" "Max Clock Freq. (MHz): 2660" "Compute Unit: 80" "SIMDs per CU: 2" "Shader Engines: 4" \
  "Shader Arrs. per Eng.: 2" "Max Waves Per CU: 32(0x20)" "Name: amdgcn-amd-amdhsa--gfx1030"
[ -n "$later" ] ||
  wants 7 "Name: gfx1100" "Marketing Name: AMD Radeon RX 7900 XTX" "Wavefront Size: 32(0x20)" "L1: 32(0x20) KB" \
    "L2: 6144(0x1800) KB" "Chip ID: 29772(0x744c)" "Max Clock Freq. (MHz): 2482" "Compute Unit: 96" "SIMDs per CU: 2" \
    "Shader Engines: 6" "Shader Arrs. per Eng.: 2" "Max Waves Per CU: 32(0x20)" "Size: 25149440(0x17fc000) KB" \
    "Name: amdgcn-amd-amdhsa--gfx1100"
[ -n "$later" ] ||
  wants 8 "Name: gfx1101" "Marketing Name: AMD Radeon RX 7800 XT" "Wavefront Size: 32(0x20)" "L2: 4096(0x1000) KB" \
    "Chip ID: 29822(0x747e)" "Compute Unit: 60" "Shader Engines: 3" "Shader Arrs. per Eng.: 2" \
    "Size: 16760832(0xffc000) KB" "Name: amdgcn-amd-amdhsa--gfx1101"
[ -n "$later" ] || # as owners of Ryzen 7000 and 9000 print it
  wants 9 "Name: gfx1036" "Marketing Name: AMD Radeon Graphics" "L1: 16(0x10) KB" "L2: 256(0x100) KB" "Chip ID: 5710(0x164e)" \
    "ASIC Revision: 1(0x1)" "Cacheline Size: 64(0x40)" "Max Clock Freq. (MHz): 2200" "Compute Unit: 2" "SIMDs per CU: 2" \
    "Shader Engines: 1" "Shader Arrs. per Eng.: 1" "Wavefront Size: 32(0x20)" "Max Waves Per CU: 32(0x20)" \
    "Name: amdgcn-amd-amdhsa--gfx1036"
[ -n "$later" ] ||
  wants 10 "Name: gfx1151" "Marketing Name: AMD Radeon 8060S Graphics" "Wavefront Size: 32(0x20)" "L2: 2048(0x800) KB" \
    "Chip ID: 5510(0x1586)" "Max Clock Freq. (MHz): 2900" "Compute Unit: 40" "SIMDs per CU: 2" "Shader Engines: 2" \
    "Shader Arrs. per Eng.: 2" "Max Waves Per CU: 32(0x20)" "Name: amdgcn-amd-amdhsa--gfx1151"

# ROCr 5 does not know gfx942, and leaves such GPUs out without a word; 6 does.
if [ "${2-}" = rocr6 ]; then
  "$gfxsim_run" --devices=gfx942,mi300a rocminfo >"$scratch/out" 2>&1
  wants 2 "Name: gfx942" "Marketing Name: AMD Instinct MI300X" "Chip ID: 29857(0x74a1)" "Compute Unit: 304" \
    "SIMDs per CU: 4" "Shader Engines: 32" "Max Waves Per CU: 32(0x20)" "Max Clock Freq. (MHz): 2100" \
    "Wavefront Size: 64(0x40)" "Name: amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-"
  wants 3 "Name: gfx942" "Marketing Name: AMD Instinct MI300A" "Chip ID: 29856(0x74a0)" "Compute Unit: 228" \
    "Shader Engines: 24"
else
  "$gfxsim_run" --devices=gfx942,mi300a,gfx90a rocminfo >"$scratch/out" 2>&1
  [ "$(grep -c 'Device Type: *GPU' "$scratch/out")" = 1 ] || { echo "ROCr 5 knows a gfx942" >&2; failed=1; }
fi

# Without gfxsim-run there is no driver: what it pretends reaches nobody else.
if [ ! -e /dev/kfd ] && rocminfo >"$scratch/out" 2>&1; then
  echo "rocminfo finds a driver without gfxsim-run" >&2
  failed=1
fi
ROCR_VISIBLE_DEVICES=1 "$gfxsim_run" --devices=gfx90a,gfx906 rocminfo >"$scratch/out" 2>&1
[ "$(grep -c 'Device Type: *GPU' "$scratch/out")" = 1 ] || {
  echo "ROCR_VISIBLE_DEVICES does not select" >&2
  failed=1
}
wants 2 "Name: gfx906"
# By its unique identifier, too.
uuid=$("$gfxsim_run" --devices=gfx90a,gfx908,gfx906 rocminfo 2>/dev/null |
  awk '$1 == "Agent" { agent = $2 } agent == 3 && $1 == "Uuid:" { print $2 }')
ROCR_VISIBLE_DEVICES=$uuid "$gfxsim_run" --devices=gfx90a,gfx908,gfx906 rocminfo >"$scratch/out" 2>&1
[ "$(grep -c 'Device Type: *GPU' "$scratch/out")" = 1 ] || {
  echo "ROCR_VISIBLE_DEVICES=$uuid does not select" >&2
  failed=1
}
wants 2 "Name: gfx908"
exit $failed
