#!/bin/sh
# Which door gfxsim-run takes, and what it says of the ROCr that it finds: choice.sh GFXSIM-RUN
set -eu
run=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# explains TEXT COMMAND...: what is said, with the ROCr that LD_LIBRARY_PATH names.
explains() {
  text=$1
  shift
  "$run" --explain "$@" 2>"$scratch/err" || { echo "$* failed" >&2; failed=1; }
  grep -qF "gfxsim-run: door $text" "$scratch/err" || { echo "$*: not 'door $text' but:" >&2; cat "$scratch/err" >&2; failed=1; }
}

# make NAME FLAG...: a folder with a library that is called as ROCr is.
mkdir "$scratch/none" "$scratch/old" "$scratch/new"
echo 'int thunk;' | cc -shared -fPIC -Wl,-soname,libhsakmt.so.1 -x c - -o "$scratch/old/libhsakmt.so.1"
echo 'int rocr;' | cc -shared -fPIC -x c - -o "$scratch/new/libhsa-runtime64.so.1"
echo 'extern int thunk; int rocr(void) { return thunk; }' |
  cc -shared -fPIC -x c - -x none "$scratch/old/libhsakmt.so.1" -o "$scratch/old/libhsa-runtime64.so.1"
new=$scratch/new/libhsa-runtime64.so.1
old=$scratch/old/libhsa-runtime64.so.1

LD_LIBRARY_PATH=$scratch/old explains "thunk: $old loads the thunk from a library" true
LD_LIBRARY_PATH=$scratch/none:$scratch/new:$scratch/old explains "kfd: $new has its thunk inside" true
LD_LIBRARY_PATH=$scratch/new explains "thunk: --door=thunk says so" --door=thunk true
LD_LIBRARY_PATH=$scratch/old explains "kfd: --door=kfd says so" --door=kfd true
# A program's own folder comes before that, also where the program is an argument.
echo 'int main(void) { return 0; }' | cc -x c - -Wl,-rpath,"\$ORIGIN/new" -o "$scratch/program"
LD_LIBRARY_PATH=$scratch/old explains "kfd: $scratch/new/libhsa-runtime64.so.1 has" env "$scratch/program"
# A file that is no library is passed over.
echo text >"$scratch/none/libhsa-runtime64.so.1"
LD_LIBRARY_PATH=$scratch/none:$scratch/old explains "thunk: $old loads" true

# ROCr that does not know a part is named; one that says nothing of parts is not suspected.
mkdir "$scratch/isas"
echo 'const char *isas[] = {"amdgcn-amd-amdhsa--gfx900", "amdgcn-amd-amdhsa--gfx942"};' |
  cc -shared -fPIC -x c - -o "$scratch/isas/libhsa-runtime64.so.1"
LD_LIBRARY_PATH=$scratch/isas "$run" --devices=gfx1100,gfx900,gfx1100,mi300a true 2>"$scratch/err"
LD_LIBRARY_PATH=$scratch/old "$run" --devices=gfx1100 true 2>>"$scratch/err"
echo "gfxsim-run: $scratch/isas/libhsa-runtime64.so.1 does not know gfx1100: programs will not find the AMD Radeon RX 7900 XTX;\
 it takes a newer ROCr" | diff - "$scratch/err" >&2 || failed=1

"$run" --door=kfd --print-environment >"$scratch/out"
grep -q '^LD_PRELOAD=.*/kfd/libgfxsim-kfd\.so' "$scratch/out" || { echo "kfd is not preloaded" >&2; failed=1; }
if grep '^LD_LIBRARY_PATH=' "$scratch/out" | grep -qE '/gfxsim(:|$)'; then
  echo "the thunk would be found, too" >&2
  failed=1
fi
status=0
"$run" --door=window true 2>/dev/null || status=$?
[ "$status" = 2 ] || { echo "--door=window ends with $status" >&2; failed=1; }
exit $failed
