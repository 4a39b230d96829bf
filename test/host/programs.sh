#!/bin/sh
# programs.sh OMP-CC GFXSIM-RUN VERSION SCRATCH: what our libomptarget says and does where a program, or its user, wants
# something else than in test/offload: failures, the policy, libraries that come and go.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
cc=$1
run=$2
version=$3
scratch=$4
unset OMP_TARGET_OFFLOAD LIBOMPTARGET_INFO
export KMP_WARNINGS=0
rm -rf "$scratch"
mkdir -p "$scratch"
failed=0

compile() { "$cc" -v "$version" -O1 "$@" || exit 1; }

# ends STATUS COMMAND...: our library runs it so; what it prints is in $scratch/out.
ends() {
  wanted=$1
  shift
  status=0
  "$@" >"$scratch/out" 2>&1 || status=$?
  [ "$status" = "$wanted" ] || { echo "$*: status $status, not $wanted"; cat "$scratch/out"; failed=1; }
}
on_device() { wanted=$1; shift; ends "$wanted" "$run" --runtime=ours "$@"; }
says() { # a line that matches
  grep -qE -- "$1" "$scratch/out" || { echo "no \"$1\" in:"; cat "$scratch/out"; failed=1; }
}
says_not() { ! grep -qE -- "$1" "$scratch/out" || { echo "\"$1\" in:"; cat "$scratch/out"; failed=1; }; }

compile -gline-tables-only -fopenmp-version=51 "$here/failing.c" -o "$scratch/failing"
failing=$scratch/failing
# The name that messages begin with: who built the program decides.
prefix=Libomptarget
[ "$version" -lt 18 ] || prefix=omptarget
fatal='^'"$prefix"' fatal error 1: failure of target construct while offloading is mandatory$'

# Failures name what they are about, and end the program: where there is a device, offloading is mandatory.
on_device 134 "$failing" extend
says '^'"$prefix"' message: explicit extension not allowed: host address specified is 0x[0-9a-f]+ \(128 bytes\), but device allocation maps to host at 0x[0-9a-f]+ \(128 bytes\)'
says 'array\[16:32\]'
says 'failing\.c'
says 'failing\.c:11:'
says "^$prefix error: Call to getTargetPointer returned null pointer \(device failure or illegal mapping\)\.$"
says_not 'targetDataBegin'
[ "$(grep -cE "mandatory" "$scratch/out")" = 1 ] || { echo "not said once"; failed=1; }
says_not '^end$'
on_device 134 "$failing" miss
says "^$prefix message: device mapping required by 'present' map type modifier does not exist for host address 0x[0-9a-f]+ \(256 bytes\)"
says "^$prefix error: Call to getTargetPointer returned null pointer \('present' map type modifier\)\.$"
says "^$prefix error: Call to targetDataBegin failed, abort target\.$"
says "^$prefix error: Failed to process data before launching the kernel\.$"
says 'fatal error 1: failure of target construct while offloading is mandatory$'
on_device 134 "$failing" far
says "Device number '17' out of range, only 1 devices available"
says 'fatal error 1'

# A fault is told of with the names of what is mapped.
on_device 134 "$failing" stray
says ': memory fault at address 0x'
says ' bytes behind the end of variable (array|other), .*failing\.c line [0-9]+ \(256 bytes\)$'
says 'argument: argument [0-9] of the kernel points (at most )?[0-9]+ bytes below'

on_device 134 "$failing" stray-in-front
says '(at most )?(8|[0-9]{4}) bytes in front of variable values\[100:300 << 10\], .*failing\.c line [0-9]+ \(2457600 bytes\)$'

# gfxsim says what it is when the host touches a device's memory.
on_device 139 "$failing" touch
says 'gfxsim: the host accesses memory of the GPU of node 1 at 0x[0-9a-f]+, which it cannot'
says_not '^5$'
on_device 0 --host-visible "$failing" touch
says '^5$'

# A stack whose size the compiler could not know (code object 5) is told of.
if [ "$version" -ge 18 ]; then
  on_device 134 "$failing" recurse
  says ': memory fault at address 0x'
  says 'stack:    16384 bytes for each thread; .*LIBOMPTARGET_STACK_SIZE'
  on_device 134 env LIBOMPTARGET_STACK_SIZE=40000 "$failing" recurse
  says 'stack:    40000 bytes'
fi
# A task's failure is not lost, whoever hears of it first.
for run_number in 1 2 3 4 5 6; do
  on_device 134 "$failing" trap-without-waiting
  says 'fatal error 1'
  says_not '^past$'
done
# What has not begun when the program ends: libomp forgets it, or a thread of libomp's comes too late.
if [ "$version" -ge 16 ]; then
  status=0
  "$run" --runtime=ours "$failing" leave-behind >"$scratch/out" 2>&1 || status=$?
  says '^end$'
  [ "$status" = 0 ] || says "^$prefix error: The program is ending: a construct with nowait wants a taskwait before that"
  for run_number in 1 2 3 4 5 6; do # ends, and images are not to blame
    status=0
    timeout 60 "$run" --runtime=ours "$failing" leave-running >"$scratch/out" 2>&1 || status=$?
    says '^end$'
    says_not 'matching target pointer'
    case $status in
      0) ;;
      134) says "^$prefix error: The program is ending: a construct with nowait wants a taskwait before that" ;;
      *) echo "leave-running: status $status"; cat "$scratch/out"; failed=1 ;;
    esac
  done
fi

# Device memory may be mapped though the host cannot access it. (The linker of clang 19 crashes with it at -O1.)
compile -O2 "$here/device_maps.c" -o "$scratch/device_maps"
on_device 0 --devices=gfx90a,gfx90a "$scratch/device_maps"
says '^2 devices, right$'
ends 0 env LIBOMPTARGET_LINT=1 "$run" --runtime=ours "$scratch/device_maps"
says '^1 devices, right$'

# What a copy reads is freed: it is the copy that fails, unless it was done before, and no checker that reads it, too.
if [ "$version" -ge 16 ]; then
  compile "$here/freed.c" -o "$scratch/freed"
  status=0
  OMP_NUM_THREADS=4 "$run" --runtime=ours --check "$scratch/freed" >"$scratch/out" 2>&1 || status=$?
  case $status in
    0) says '^end$' ;;
    134) says 'memory fault: read at 0x[0-9a-f]+, which the program has unmapped' ;;
    *) echo "freed: status $status"; cat "$scratch/out"; failed=1 ;;
  esac
fi

# Faults of the program's own.
compile "$here/fault.c" -o "$scratch/fault" -pthread
ends 139 "$run" --runtime=ours "$scratch/fault"
says '^1$'
ends 139 "$run" --runtime=ours --check "$scratch/fault"

# Bare kernels alone.
if [ "$version" -ge 18 ]; then
  compile -fopenmp-version=51 "$here/bare.c" -o "$scratch/bare"
  on_device 0 "$scratch/bare"
  says '^threads: 60$'
fi

# What nobody waits for ends with the program, which ends.
if [ "$version" -ge 19 ]; then
  compile "$here/orphan.c" -o "$scratch/orphan"
  for run_number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    ends 0 timeout 60 "$run" --runtime=ours "$scratch/orphan"
  done
fi

# The policy.
on_device 0 "$failing" where
says '^1 devices, default 1, host 0$'
on_device 0 env OMP_TARGET_OFFLOAD=DISABLED "$failing" where
says '^0 devices, default 0, host 0$'
on_device 0 env OMP_TARGET_OFFLOAD=DISABLED "$failing" miss
says '^end$'
host=$(dirname "$(readlink -f "$run")")/../host
ends 0 env LD_LIBRARY_PATH="$host" HSA_ENABLE_SDMA=0 "$failing" where
says '^0 devices, default 0, host 0$'
ends 134 env LD_LIBRARY_PATH="$host" OMP_TARGET_OFFLOAD=MANDATORY "$failing" where
says "$fatal|fatal error 1"

# Wrong arguments of the API.
on_device 0 "$failing" misuse
says '^right$'
says '^end$'

# Pointers that nobody mapped: since 16 they arrive as they are.
[ "$version" -lt 16 ] || {
  on_device 0 "$failing" keep
  says '^right$'
}

# Requirements that differ. From 19 on a part of a program without any says nothing, and the linker keeps one entry of several.
[ "$version" -ge 19 ] || {
compile "$here/requires_a.c" "$here/requires_b.c" -o "$scratch/requires"
on_device 134 "$scratch/requires"
says "fatal error 1: '#pragma omp requires unified_shared_memory' not used consistently!"
}

number=1
[ "$version" -lt 18 ] || number=2
on_device 134 "$failing" require
says "fatal error $number: '#pragma omp requires reverse_offload' not used consistently!"

compile "$here/shared_queue.c" -o "$scratch/shared_queue"
on_device 0 env LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUES=1 "$scratch/shared_queue"
says '^0 wrong$'

# Libraries that come and go. The dynamic linker puts the second one where the first one was.
for library in first second; do
  compile -fPIC -shared "$here/loaded_library.c" -o "$scratch/$library.so"
done
compile "$here/loaded_main.c" -o "$scratch/loaded" -ldl
on_device 0 "$scratch/loaded" "$scratch/first.so" "$scratch/second.so"
says '^right$'

# A region behind all exit handlers, among which clang 19 and later have the one that unregisters the program.
compile "$here/../versions/ending.c" -o "$scratch/ending"
on_device 0 "$scratch/ending" used
says '^ending: 4$'
on_device 134 "$scratch/ending" # where ROCr has ended before it begins
says_not '^ending'
[ "$version" -ge 19 ] || says 'the program is ending, and ROCr has ended before it$'

# Regions in the constructor of a library that another thread opens: nobody asks the dynamic linker for something under a
# lock that the constructor needs, not for the places that lint tells of either, nor for names of C++ in the timeline.
compile -fPIC -shared "$here/constructor_library.c" -o "$scratch/constructor.so"
compile -rdynamic "$here/constructor_main.c" -o "$scratch/constructor" -ldl -lpthread
for observer in LIBOMPTARGET_LINT=1 LIBOMPTARGET_INFO=-1 LIBOMPTARGET_PROFILE="$scratch/constructor.json"; do
  on_device 0 env "$observer" timeout 60 "$scratch/constructor" "$scratch/constructor.so"
  says '^right$'
done
grep -q '"name":"in_c_plus_plus() at line' "$scratch/constructor.json" || { echo "no C++ names in the profile"; failed=1; }

# Arguments as other compilers pass them, and as none does; clang 16's are changed into them.
[ "$version" != 16 ] || {
compile -Wl,--wrap=__tgt_target_kernel "$here/versions.c" -o "$scratch/versions"
on_device 0 "$scratch/versions"
says '^right$'
on_device 134 "$scratch/versions" 99
says 'its arguments are of version 99, known are 1 to 5'
on_device 134 "$scratch/versions" 0
says 'its arguments are of version 0, known are 1 to 5'
}

# LIBOMPTARGET_INFO, in the words of LLVM's library.
on_device 134 env LIBOMPTARGET_INFO=63 "$failing" extend
says '^'"$prefix"' device 0 info: Entering OpenMP data region.* at failing\.c:10:[0-9]+ with 1 arguments:'
says '^'"$prefix"' device 0 info: to\(array\[0:32\]\)\[128\] $'
says '^'"$prefix"' device 0 info: Creating new map entry with HstPtrBase=0x[0-9a-f]{16}, HstPtrBegin=0x[0-9a-f]{16}, TgtAllocBegin=0x[0-9a-f]{16}, TgtPtrBegin=0x[0-9a-f]{16}, Size=128, DynRefCount=1, HoldRefCount=0, Name=array\[0:32\]$'
says '^'"$prefix"' device 0 info: Copying data from host to device, HstPtr=0x[0-9a-f]{16}, TgtPtr=0x[0-9a-f]{16}, Size=128, Name=array\[0:32\]$'
says '^'"$prefix"' device 0 info: OpenMP Host-Device pointer mappings after block at failing\.c:10:[0-9]+:$'
says '^'"$prefix"' device 0 info: Host Ptr           Target Ptr         Size \(B\) DynRefCount HoldRefCount Declaration$'
says '^'"$prefix"' device 0 info: 0x[0-9a-f]{16} 0x[0-9a-f]{16} 128      1           0            array\[0:32\] at failing\.c:[0-9]+:[0-9]+$'
on_device 0 env LIBOMPTARGET_INFO=32 "$failing" attach
says '^'"$prefix"' device 0 info: Copying data from host to device, HstPtr=0x[0-9a-f]{16}, TgtPtr=0x[0-9a-f]{16}, Size=8, Name=object$'
on_device 0 "$failing" where
says_not 'info:'
# All lines but those of launches (0x10) are LLVM's own, in their order; it has a table more, as its library ends.
compile -gline-tables-only "$here/info.c" -o "$scratch/info"
plain() { sed -E -e 's/0x[0-9a-f]+/ADDRESS/g' -e 's/TgtAllocBegin=ADDRESS, //' -e 's/ +$//' -e '/after block at libomptarget:0:0/,$d' "$1"; }
if [ "$version" -ge 15 ]; then # 14 has other words
  for info in 111 0; do # the program changes it later
    ends 0 env LIBOMPTARGET_INFO=$info "$run" --runtime=stock --plugin=ours "$scratch/info"
    # LLVM's library of 22 tells of its device runtime's environment, too: 48 bytes.
    plain "$scratch/out" | sed '/Copying data from host to device.*Size=48, Name=unknown$/d' >"$scratch/info-stock"
    on_device 0 env LIBOMPTARGET_INFO=$info "$scratch/info"
    plain "$scratch/out" >"$scratch/info-ours"
    [ -s "$scratch/info-stock" ] || { echo "LLVM's library says nothing"; failed=1; }
    diff "$scratch/info-stock" "$scratch/info-ours" || { echo "LIBOMPTARGET_INFO differs from LLVM's"; failed=1; }
  done
fi

# What the program has for a device.
on_device 0 env OMPTARGET_DUMP_OFFLOAD_ENTRIES=0 "$scratch/info"
says '^Device 0 offload entries:$'
says '^  global var\.: global$'
says '^       kernel: __omp_offloading_.*_main_l[0-9]+$'
on_device 0 env OMPTARGET_DUMP_OFFLOAD_ENTRIES=1 "$scratch/info"
says_not 'offload entries'

# Unified shared memory, which wants a device that retries what it cannot translate.
compile -fopenmp-version=51 -Xopenmp-target=amdgcn-amd-amdhsa -march=gfx90a "$here/unified.c" -o "$scratch/unified"
ends 0 env HSA_XNACK=1 "$run" --devices=gfx90a --runtime=ours "$scratch/unified"
says '^right$'
# The same, when it is the user who wants it.
compile -Xopenmp-target=amdgcn-amd-amdhsa -march=gfx90a "$here/zero_copy.c" -o "$scratch/zero_copy"
ends 0 env HSA_XNACK=1 OMPX_APU_MAPS=1 "$run" --devices=gfx90a --runtime=ours "$scratch/zero_copy"
says '^right$'

# A tool is told of devices, constructs, copies and launches, if libomp passes its wishes on, as it does since 16.
compile "$here/ompt.c" -o "$scratch/ompt"
told() { # TOOL LIST [VARIABLE=VALUE]
  tool=$1
  list=$2
  shift 2
  on_device 0 env TOOL="$tool" "$@" "$scratch/ompt"
  diff "$here/$list" "$scratch/out" || { echo "the tool \"$tool\" is told something else than $list"; failed=1; }
}
if [ "$version" -ge 16 ]; then
  told plain ompt-plain.txt
  told emi ompt-emi.txt
  told both ompt-emi.txt # the plain callbacks are not called then
else
  told emi ompt-nothing.txt
  # With a later libomp it is, also by old entry points, which call each other.
  "$cc" -v 16 -O1 "$here/ompt.c" -o "$scratch/ompt-16"
  folder=$(readelf -d "$scratch/ompt-16" | sed -n 's/.*R.*PATH.*\[\([^]:]*\).*/\1/p')
  told plain ompt-plain.txt LD_PRELOAD="$folder/libomp.so.5"
  told emi ompt-emi.txt LD_PRELOAD="$folder/libomp.so.5"
fi
# Without the callback that devices begin with, libomp is silent; that of 19 and later is not.
[ "$version" -ge 19 ] || told no-devices ompt-nothing.txt
on_device 0 env TOOL=none "$scratch/ompt"
[ "$(cat "$scratch/out")" = right ] || { echo "something is told to no tool"; failed=1; }

# Whatever is told of a device comes behind its beginning, also in a thread that is earlier than main.
[ "$version" -lt 16 ] || {
  compile "$here/ompt_early.c" -o "$scratch/ompt_early" -lpthread
  on_device 0 timeout 60 "$scratch/ompt_early"
  says '^right$'
}

# GPUs that no image fits are no devices, as LLVM 19 has it; before, they counted. The others are numbered without them,
# in messages and timelines, too, and found again after a fork.
if [ "$version" -ge 19 ]; then
  compile -fopenmp-version=51 "$here/chosen.c" -o "$scratch/chosen" -ldl
  on_device 0 env GFXSIM_DEVICES=gfx1030,gfx90a,gfx906,gfx90a LIBOMPTARGET_PROFILE="$scratch/chosen.json" "$scratch/chosen"
  says '^2 devices$'
  for number in 0 1; do
    says "^device $number: number $number, count $((number + 1)), by its name $number$"
    grep -q "\"device $number (gfx90a)\"" "$scratch/chosen.json" || { echo "no device $number in the timeline"; failed=1; }
  done
  ! grep -qE 'gfx1030|gfx906|device 2' "$scratch/chosen.json" || { echo "what is no device is in the timeline"; failed=1; }
  # What the program has fits none; the library that it opens does.
  compile -g gfx1030 -fopenmp-version=51 "$here/chosen.c" -o "$scratch/chosen_other" -ldl
  on_device 0 env GFXSIM_DEVICES=gfx906,gfx90a "$scratch/chosen_other" "$scratch/first.so"
  says '^0 devices$'
  [ "$(grep -c '^child: 1 devices, 9$' "$scratch/out")" = 2 ] || { echo "not both children:"; cat "$scratch/out"; failed=1; }
  says '^parent: 1 devices, 9$'
else
  on_device 0 env GFXSIM_DEVICES=gfx1030,gfx90a OMP_DEFAULT_DEVICE=1 "$failing" where
  says '^2 devices, default 1, host 0$'
  on_device 134 env GFXSIM_DEVICES=gfx1030,gfx90a "$failing" miss
  says 'device 0 \(gfx1030\): cannot load the device image'
fi

# LIBOMPTARGET_PROFILE is the timeline.
on_device 0 env LIBOMPTARGET_PROFILE="$scratch/profile" "$failing" where
grep -q '"name"' "$scratch/profile" || { echo "no timeline in the profile"; failed=1; }
says_not '^the environment was changed$'
on_device 0 env LIBOMPTARGET_PROFILE="$scratch/second" LIBOMPTARGET_AMDGPU_TIMELINE="$scratch/first" "$failing" where
[ -s "$scratch/first" ] && [ ! -e "$scratch/second" ] || { echo "the profile comes before the timeline"; failed=1; }
# LIBOMPTARGET_PROFILE is the timeline, with each construct, where it is, and its kernel within it.
compile -gline-tables-only "$here/lint.c" -o "$scratch/constructs"
on_device 0 env LIBOMPTARGET_PROFILE="$scratch/profile" "$scratch/constructs" none
python3 "$here/profile.py" "$scratch/profile" "$here/lint.c" || failed=1
on_device 0 env LIBOMPTARGET_PROFILE="$scratch/coarse" LIBOMPTARGET_PROFILE_GRANULARITY=1000000000 "$scratch/constructs" none
grep -q '"kernel"' "$scratch/coarse" || { echo "no kernels in the coarse profile"; failed=1; }
! grep -q '"construct"' "$scratch/coarse" || { echo "short constructs in the coarse profile"; failed=1; }

# Mapped host memory is pinned on demand, and only then.
on_device 0 "$failing" pin
says '^pinned: 0 before, 0 within, 0 after$'
on_device 0 env LIBOMPTARGET_LOCK_MAPPED_HOST_BUFFERS=on "$failing" pin
says '^pinned: 0 before, 1 within, 0 after$'
on_device 0 env LIBOMPTARGET_LOCK_MAPPED_HOST_BUFFERS=on "$failing" pin-other
says '^mapped$'
on_device 134 env LIBOMPTARGET_LOCK_MAPPED_HOST_BUFFERS=mandatory "$failing" pin-other
says_not '^mapped$'
says 'large'

# What only newer clangs make: tables of virtual functions, calls of the host, and kernels' environments.
[ "$version" -lt 22 ] || {
  compile -fopenmp-version=60 "$here/newer.c" -o "$scratch/newer"
  on_device 0 "$scratch/newer"
  says '^right$'
}
exit $failed
