#!/bin/sh
# runtime.sh BUILD VERSION LEVEL SCRATCH [PROGRAM...]: programs of this folder (all, if none is named), compiled by clang
# VERSION at LEVEL and run with our libomptarget. What cannot pass stands below, with the reason.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH= cd -- "$here/../.." && pwd)
build=$1
version=$2
level=$3
scratch=$4
shift 4
wanted=$*
mkdir -p "$scratch"

# Wrong under LLVM's own libomptarget of 19 to 23, too, or not accepted by the compiler: doc/compatibility.md has each of them.
case $version in
  19) known="teams simd stack" ;;
  22) known="teams simd link globals" ;;
  *) echo "runtime.sh: no list of what clang $version cannot do" >&2; exit 2 ;;
esac

OMP_TARGET_OFFLOAD=MANDATORY
KMP_WARNINGS=0
CHECK_HOST=$build/host/libomptarget.so
CHECK_THUNK=$(readlink -f "$build/lib/gfxsim/libhsakmt.so.1")
export OMP_TARGET_OFFLOAD KMP_WARNINGS CHECK_HOST CHECK_THUNK
failed=0
count=0
cd "$here"
while IFS='|' read -r name options sources library; do
  case " ${wanted:-$name} " in *" $name "*) ;; *) continue ;; esac
  case " $known " in *" $name "*) continue ;; esac
  count=$((count + 1))
  more=
  if [ -n "$library" ]; then
    more=$scratch/lib$name.so
    # shellcheck disable=SC2086
    "$root/script/omp-cc" -v "$version" "-$level" $options -fPIC -shared $library -o "$more"
  fi
  # shellcheck disable=SC2086
  if ! "$root/script/omp-cc" -v "$version" "-$level" -w $options $sources $more -o "$scratch/$name"; then
    echo "$name: does not compile"
    failed=1
  elif ! timeout 300 "$build/bin/gfxsim-run" --runtime=ours "$scratch/$name" >"$scratch/$name.out" 2>&1 </dev/null; then
    echo "$name: fails:"
    cat "$scratch/$name.out"
    failed=1
  else
    rm -f "$scratch/$name" "$more"
  fi
done <"$build/offload-programs.list"
[ "$count" -gt 0 ] || { echo "no such programs: $wanted"; failed=1; }
echo "$count programs"
exit $failed
