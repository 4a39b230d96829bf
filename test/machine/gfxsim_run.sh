#!/bin/sh
# How gfxsim-run starts programs: gfxsim_run.sh GFXSIM-RUN [sanitizer]
set -eu
run=$1
sanitizer=${2-}
unset GFXSIM_PCIE_ATOMICS GFXSIM_NUMA GFXSIM_DEVICES GFXSIM_CUS GFXSIM_WORKERS GFXSIM_DETERMINISTIC GFXSIM_HOST_VISIBLE GFXSIM_EXECUTE GFXSIM_STATS \
  GFXSIM_KERNEL_US GFXSIM_COPY_US \
  GFXSIM_TRACE GFXSIM_TRANSLATE LIBOMPTARGET_NEXTGEN_PLUGINS HSA_DISABLE_FRAGMENT_ALLOCATOR HSA_XNACK
scratch=$(readlink -f "$(mktemp -d)")
trap 'rm -rf "$scratch"' EXIT
failed=0

# ends STATUS COMMAND...: with that status, and without a word when it is the program's own.
ends() {
  wanted=$1
  shift
  status=0
  "$@" >"$scratch/out" 2>"$scratch/err" || status=$?
  [ "$status" = "$wanted" ] || {
    echo "$*: status $status, not $wanted" >&2
    cat "$scratch/err" >&2
    failed=1
  }
}
# says TEXT: the last command wrote this to stderr.
says() {
  grep -qF -- "$1" "$scratch/err" || { echo "no \"$1\" in:" >&2; cat "$scratch/err" >&2; failed=1; }
}
# sets LINE...: --print-environment shows these lines.
sets() {
  for line in "$@"; do
    grep -qxE -- "$line" "$scratch/out" || { echo "no line $line in:" >&2; cat "$scratch/out" >&2; failed=1; }
  done
}

ends 0 "$run" true
[ ! -s "$scratch/err" ] || { echo "a program that needs no GPU makes gfxsim talk" >&2; failed=1; }
ends 7 "$run" sh -c 'exit 7'
ends 143 "$run" sh -c 'kill -TERM $$'
ends 127 "$run" no-such-program-anywhere
says 'no such program: no-such-program-anywhere'
: >"$scratch/file"
ends 126 "$run" "$scratch/file"
says "cannot execute $scratch/file: it is not executable"
ends 126 "$run" "$scratch/"
says "cannot execute $scratch/: it is a folder"
printf '#!/no/such/interpreter\n' >"$scratch/file"
chmod +x "$scratch/file"
ends 126 "$run" "$scratch/file"
says "cannot execute $scratch/file: No such file or directory (its interpreter"
ends 0 "$run" --help
ends 0 "$run" --version
grep -qx 'gfxsim-run [0-9]*\.[0-9]*\.[0-9]*' "$scratch/out" || { echo "not a version" >&2; failed=1; }

# Options that are wrong end it with status 2 and one line, which says what is possible; the program does not run.
refuses() { # MESSAGE OPTION...
  message=$1
  shift
  ends 2 "$run" "$@" echo run
  says "gfxsim-run: $message"
  [ "$(wc -l <"$scratch/err")" = 1 ] || { echo "not one line for $*" >&2; cat "$scratch/err" >&2; failed=1; }
  [ ! -s "$scratch/out" ] || { echo "$* does not prevent a run" >&2; failed=1; }
}
refuses 'unknown option: --no-such-option (try --help)' --no-such-option
refuses '--devices wants a value: --devices=LIST' --devices=
refuses '--cus wants a value: --cus=N' --cus 4
refuses '--stats takes no value' --stats=1
refuses '--cus=abc: not a number from 0 to 1024' --cus=abc
refuses '--cus=-1: not a number from 0 to 1024' --cus=-1
refuses '--workers=4x: not a number from 0 to 1024' --workers=4x
refuses '--kernel-us=1000001: not a number from 0 to 1000000' --no-execute --kernel-us=1000001
refuses '--kernel-us=20 has no effect without --no-execute' --kernel-us=20
refuses '--devices=gfx1234: "gfx1234" is not a device; known are: gfx950 gfx942' --devices=gfx1234
refuses '--devices=gfx90a,gfx906:8X: "gfx906:8X" is not a device' --devices=gfx90a,gfx906:8X
refuses '--devices=,: names no device' --devices=,
refuses '--devices=gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a: more than 16' \
  --devices=gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a,gfx90a
refuses '--xnack has no effect with a gfx906, which cannot retry faults; those that can: gfx950, gfx942, mi300a, gfx90a' --xnack --devices=gfx90a,gfx906
refuses '--usm has no effect with a gfx906, which cannot retry faults' --devices=gfx906 --usm
refuses '--trace=/no/such/trace: cannot be written: No such file or directory' --trace=/no/such/trace
refuses "--trace=$scratch/: cannot be written: Is a directory" "--trace=$scratch/"
refuses "--trace=$scratch: cannot be written: Is a directory" "--trace=$scratch"
refuses '--plugin=/no/such/folder: there is no such folder; it is ours, stock, stock-classic or a folder' --plugin=/no/such/folder
refuses "--plugin=$scratch: this folder has no libomptarget.rtl.amdgpu.so" "--plugin=$scratch"
refuses '--plugin=stock: echo and its arguments are not linked to libomptarget.so' --plugin=stock
refuses '--plugin=stock-classic: echo and its arguments are not linked to libomptarget.so' --plugin=stock-classic
refuses '--runtime=theirs: it is ours or stock' --runtime=theirs
ends 2 "$run" --plugin=stock sh -c "$scratch/offloads"
says 'gfxsim-run: --plugin=stock: sh and its arguments are not linked to libomptarget.so, next to which the plugins would be'
ends 2 "$run" --plugin=stock --print-environment
says 'gfxsim-run: --plugin=stock: no program is named that is linked to libomptarget.so'
ends 2 "$run"
says 'gfxsim-run: no program is named'
mkdir "$scratch/a:b"
: >"$scratch/a:b/libomptarget.rtl.amdgpu.so"
refuses "the dynamic linker cannot search $scratch/a:b, for the colon" "--plugin=$scratch/a:b"

# What is only printed has to arrive.
for option in --help --list-devices --print-environment; do
  status=0
  "$run" "$option" >/dev/full 2>"$scratch/err" || status=$?
  [ "$status" = 1 ] || { echo "$option ends with $status where nothing can be written" >&2; failed=1; }
  says 'gfxsim-run: cannot write to standard output: No space left on device'
done
"$run" --list-devices >"$scratch/out"
grep -qx 'gfx90a  AMD Instinct MI210, 104 compute units, 64 GiB' "$scratch/out" || { cat "$scratch/out" >&2; failed=1; }
"$run" --devices="$(sed 's/ .*//' "$scratch/out" | paste -sd ,)" --print-environment >"$scratch/out" || failed=1

# Arguments and the environment arrive as they were.
# shellcheck disable=SC2016
ends 0 "$run" --cus=3 sh -c 'printf "%s|" "$@"; echo "$GFXSIM_CUS $KEPT"' sh 'a  b' '' '*' '--help'
# shellcheck disable=SC2016
KEPT='x y' "$run" --cus=3 sh -c 'printf "%s|" "$@"; echo "$GFXSIM_CUS $KEPT"' sh 'a  b' '' '*' '--help' >"$scratch/out"
sets 'a  b\|\|\*\|--help\|3 x y'
[ "$("$run" -- echo --stats)" = --stats ] || { echo "-- does not end the options" >&2; failed=1; }

# Our libomptarget comes before all others, and behind what is below it.
ends 0 "$run" --runtime=ours --print-environment
sets 'LD_LIBRARY_PATH=[^:]*/gfxsim:[^:]*/host:.*'
ends 0 "$run" --runtime=stock --print-environment
sets 'LD_LIBRARY_PATH=[^:]*/gfxsim:[^:]*(/src|/omptarget-amdgpu)(:.*)?'

# Every option sets its variable, whatever was there before.
GFXSIM_CUS=99 "$run" --devices=gfx90a,gfx90a:8G --cus=5 --workers=2 --deterministic --host-visible --no-pcie-atomics --numa --no-execute \
  --kernel-us=20 --copy-us=30 --stats --trace="$scratch/trace" --guard-allocations --xnack --print-environment >"$scratch/out"
sets GFXSIM_DEVICES=gfx90a,gfx90a:8G GFXSIM_CUS=5 GFXSIM_WORKERS=2 GFXSIM_DETERMINISTIC=1 GFXSIM_HOST_VISIBLE=1 \
  GFXSIM_PCIE_ATOMICS=0 GFXSIM_NUMA=1 GFXSIM_EXECUTE=0 GFXSIM_KERNEL_US=20 GFXSIM_COPY_US=30 GFXSIM_STATS=1 GFXSIM_TRACE="$scratch/trace" HSA_DISABLE_FRAGMENT_ALLOCATOR=1 HSA_XNACK=1 \
  'LD_LIBRARY_PATH=/.*' 'LD_PRELOAD=.*libgfxsim-driver\.so'
LD_LIBRARY_PATH=/some/where "$run" --print-environment >"$scratch/out"
sets 'LD_LIBRARY_PATH=/.*:/some/where'
if grep -q 'GFXSIM_\|HSA_' "$scratch/out"; then echo "variables are set that nobody asked for" >&2; failed=1; fi

"$run" --usm --print-environment >"$scratch/out"
sets GFXSIM_HOST_VISIBLE=1 HSA_XNACK=1

# What the checker needs comes with it, in front of the user's own tools; the variable is as good as the option.
HSA_TOOLS_LIB=mine.so "$run" --check --check-log="$scratch/findings" --check-fail --print-environment >"$scratch/out"
sets GFXSIM_CHECK=all GFXSIM_CHECK_LOG="$scratch/findings" GFXSIM_CHECK_FAIL=1 'HSA_TOOLS_LIB=/.*/libgfxsim-check\.so mine\.so' \
  HSA_DISABLE_FRAGMENT_ALLOCATOR=1 LIBOMPTARGET_MEMORY_MANAGER_THRESHOLD=0
GFXSIM_CHECK=bounds "$run" --print-environment >"$scratch/out"
sets 'HSA_TOOLS_LIB=/.*/libgfxsim-check\.so'
ends 2 "$run" --check=speed true

# The stock plugins are those next to the libomptarget of the program, which may be an argument of another one.
mkdir "$scratch/lib"
: >"$scratch/lib/libomptarget.rtl.amdgpu.so"
echo 'int runtime;' | cc -shared -fPIC -Wl,-soname,libomptarget.so -x c - -o "$scratch/lib/libomptarget.so"
echo 'extern int runtime; int main(void) { return runtime; }' |
  cc -x c - -x none "$scratch/lib/libomptarget.so" -Wl,-rpath,"$scratch/lib" -o "$scratch/offloads"
for words in "$scratch/offloads" "env KEPT=x $scratch/offloads" "timeout 9 $scratch/offloads --option"; do
  # shellcheck disable=SC2086
  "$run" --plugin=stock --print-environment $words >"$scratch/out"
  sets "LD_LIBRARY_PATH=/.*:$scratch/lib"
done
"$run" --plugin=stock-classic --print-environment "$scratch/offloads" >"$scratch/out"
sets "LD_LIBRARY_PATH=/.*:$scratch/lib" LIBOMPTARGET_NEXTGEN_PLUGINS=false
# libomptarget may be a link to where they are.
mv "$scratch/lib" "$scratch/moved"
mkdir "$scratch/lib"
ln -s "$scratch/moved/libomptarget.so" "$scratch/lib"
"$run" --plugin=stock --print-environment "$scratch/offloads" >"$scratch/out"
sets "LD_LIBRARY_PATH=/.*:$scratch/moved"
rm "$scratch/moved/libomptarget.rtl.amdgpu.so"
ends 2 "$run" --plugin=stock "$scratch/offloads"
says "--plugin=stock: no libomptarget.rtl.amdgpu.so is next to $scratch/lib/libomptarget.so, which $scratch/offloads uses"

# From anywhere, and through a link.
mkdir "$scratch/folder with blanks"
ln -s "$run" "$scratch/folder with blanks/simulated"
cd "$scratch/folder with blanks"
ends 0 ./simulated true

# Both doors tell of the driver: behind what else the kernel has loaded, and to who reads.
for door in thunk kfd; do
  { cat /proc/modules 2>/dev/null || true; echo 'amdgpu 16384 1 - Live 0x0000000000000000'; } >"$scratch/modules"
  ends 0 "$run" --door=$door cat /proc/modules
  cmp "$scratch/modules" "$scratch/out" || failed=1
  ends 0 "$run" --door=$door cat /sys/module/amdgpu/initstate
  sets live
  ends 2 "$run" --door=$door sh -c ': >/sys/module/amdgpu/refcnt'
  says 'Permission denied'
done

# Variables with values that are none are named, too: by gfxsim-run where there would be no GPU, else by the library.
ends 2 env GFXSIM_DEVICES=gfx1234 "$run" rocminfo
says 'gfxsim-run: GFXSIM_DEVICES=gfx1234: "gfx1234" is not a device; known are: '
libraries=$("$run" --print-environment | sed -n 's/^LD_LIBRARY_PATH=//p')
preloaded=$("$run" --print-environment | sed -n 's/^LD_PRELOAD=//p')
if GFXSIM_DEVICES=gfx1234 LD_LIBRARY_PATH=$libraries LD_PRELOAD=$preloaded rocminfo >"$scratch/out" 2>"$scratch/err"; then failed=1; fi
says 'gfxsim: GFXSIM_DEVICES: "gfx1234" is not a device; known are: '
GFXSIM_WORKERS=many GFXSIM_NO_SUCH=1 "$run" rocminfo >"$scratch/out" 2>"$scratch/err" || failed=1
says 'GFXSIM_WORKERS=many: not a number'
says 'GFXSIM_NO_SUCH: no such option'

# So are variables of ROCr's and of the driver's thunk that cannot have an effect.
ends 0 env HSA_XNACK=1 "$run" --devices=gfx90a,gfx906 rocminfo
says 'HSA_XNACK=1 has no effect: GPU 1 (gfx906)'
ends 0 env HSA_OVERRIDE_GFX_VERSION=9.0.6 "$run" rocminfo
says 'HSA_OVERRIDE_GFX_VERSION has no effect'

# Little room in the host: a reason instead of ROCr's failed assertion alone. (Sanitizers want terabytes of it to begin
# with.) And no need of folders that can be written to.
if [ -z "$sanitizer" ]; then
  (ulimit -v 3000000 && "$run" rocminfo) >"$scratch/out" 2>"$scratch/err" || true
  says 'the host refuses '
  says 'raise `ulimit -v`'
fi
ends 0 env TMPDIR=/nonexistent "$run" rocminfo
ends 0 env -i "$run" rocminfo
exit $failed
