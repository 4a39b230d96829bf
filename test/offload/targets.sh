#!/bin/sh
# Compiles offload programs of every family with each clang, at each level of optimisation, for each part, and runs them on
# gfxsim as that part, under the libomptarget of that version, with this project's plugin and the stock one.
# Not here: all programs under each libomptarget, at one level (script/matrix).
set -eu
root=$(CDPATH="" cd -- "$(dirname -- "$0")/../.." && pwd)

usage() {
  cat <<'USAGE'
usage: test/offload/targets.sh [--versions="N ..."] [--parts="GFX ..."] [--levels="O2 ..."] [--programs="NAME ..."]
                               [--build=DIR] [--results=FILE] [--jobs=N] [--document] [--report]

  --versions   of clang, libomptarget and the stock plugins (default: 13 14 15 16)
  --parts      default: all that gfxsim has (gfxsim-run --list-devices) and this system's ROCr knows, oldest first
  --levels     default: O0 O1 O2 O3 Ofast
  --programs   by the names in test/offload/CMakeLists.txt
               (default: vecadd stencil dgemm int_arith_32 stack real_mix omp_mix)
  --build      the build to test, configured with tests (default: build/release)
  --results    keeps the results in FILE, one a line, and runs only what is not there yet
  --jobs       how many at a time (default 1)
  --report     runs nothing, and judges the results in FILE
  --document   also writes the results of FILE as the table in doc/targets.md; with all defaults this takes hours

A program passes when it does with this project's plugin and with the stock one. What is known not to work, and why, is in
test/offload/targets.known; anything else that does not pass is a failure, and so is what is in that file and passes.
USAGE
}

versions="13 14 15 16"
parts=
levels="O0 O1 O2 O3 Ofast"
programs="vecadd stencil dgemm int_arith_32 stack real_mix omp_mix"
build=$root/build/release
results=
jobs=1
document=
report=
one=
while [ $# -gt 0 ]; do
  case $1 in
    --versions=?*) versions=${1#*=} ;;
    --parts=?*) parts=${1#*=} ;;
    --levels=?*) levels=${1#*=} ;;
    --programs=?*) programs=${1#*=} ;;
    --build=?*) build=${1#*=} ;;
    --results=?*) results=${1#*=} ;;
    --jobs=?*) jobs=${1#*=} ;;
    --document) document=yes ;;
    --report) report=yes ;;
    --one=?*) one=${1#*=} ;; # called by itself: "VERSION PART LEVEL NAME"
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done
[ -z "$document$report" ] || [ -n "$results" ] || { echo "targets.sh: that wants --results" >&2; exit 2; }

list=$build/offload-programs.list
known=$root/test/offload/targets.known
# rocr_knows PART: older versions of ROCr do not know all parts, and end where one is in the machine.
rocr=$(ldconfig -p | awk '/libhsa-runtime64\.so\.1 / { print $NF; exit }')
rocr_knows() { grep -qaF "amdgcn-amd-amdhsa--$1" "$rocr"; }
for part in $([ -n "$parts" ] || "$build/bin/gfxsim-run" --list-devices | sed 's/ .*//' | tac); do
  ! rocr_knows "$part" || known_parts="${known_parts:+$known_parts }$part"
done
parts=${parts:-${known_parts-}}
[ -e "$list" ] || { echo "targets.sh: no $list; configure that build with tests" >&2; exit 2; }
llvm=${OMPTARGET_AMDGPU_LLVM_DIR:-$root/build/llvm}

# ---- one program: called with --one, prints "VERSION PART LEVEL NAME: result" ----

# compile VERSION PART LEVEL NAME: into $scratch/NAME
compile() {
  line=$(grep "^$4|" "$list") || { echo "targets.sh: no program $4 in $list" >&2; exit 2; }
  options=$(echo "$line" | cut -d '|' -f 2)
  sources=$(echo "$line" | cut -d '|' -f 3)
  # shellcheck disable=SC2086
  (cd "$root/test/offload" && timeout 600 "$root/script/omp-cc" -v "$1" -g "$2" "-$3" $options $sources -o "$scratch/$4") \
    >"$scratch/log" 2>&1
}

# run VERSION PART NAME PLUGIN. The stock plugin of LLVM 15 calls HSA after it has shut HSA down, when the program is
# over, and crashes in ROCr (__tgt_rtl_is_valid_binary_info below __tgt_unregister_lib); that of LLVM 13 never destroys its
# queues (it knows no hsa_queue_destroy), so that ROCr may find their scratch memory in use when it shuts down, or be about
# to give it back when the thunk is closed already, and aborts: there the program's verdict counts.
run() {
  lib=$llvm/$1/usr/lib/llvm-$1/lib
  case $1-$4 in
    *-ours) file=$build/src/libomptarget.rtl.amdgpu.so ;;
    16-stock) file=$lib/libomptarget.rtl.amdgpu.nextgen.so ;;
    *) file=$lib/libomptarget.rtl.amdgpu.so ;;
  esac
  thunk=$(readlink -f "$build/lib/gfxsim/libhsakmt.so.1")
  OMP_TARGET_OFFLOAD=MANDATORY KMP_WARNINGS=0 CHECK_PLUGIN=$file CHECK_THUNK=$thunk timeout 300 stdbuf -oL \
    "$build/bin/gfxsim-run" "--devices=$2" "--plugin=$4" "$scratch/$3" >"$scratch/log" 2>&1 </dev/null && return
  case $1-$4 in
    15-stock) ;;
    13-stock) grep -q 'ScratchCache not empty at shutdown\|Unmap scratch subrange failed' "$scratch/log" || return ;;
    *) return 1 ;;
  esac
  grep -q '^[a-z0-9_ ]*: ok' "$scratch/log"
}

# try VERSION PART LEVEL NAME: what happened. Output of what fails goes to stderr, with the log's end.
try() {
  compile "$@" || { sed "s/^/  /" "$scratch/log" | tail -n 20 >&2; echo "clang"; return; }
  wrong=
  for plugin in ours stock; do
    run "$1" "$2" "$4" "$plugin" && continue
    wrong="$wrong${wrong:+, }$plugin"
    { echo "  $* with $plugin:"; sed "s/^/  /" "$scratch/log" | head -n 20; } >&2
  done
  echo "${wrong:-pass}"
}

if [ -n "$one" ]; then
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/targets.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 1' HUP INT TERM
  # shellcheck disable=SC2086
  result=$(try $one)
  echo "$one: $result"
  exit 0
fi

# ---- all of them ----

# has_runtime VERSION PART: LLVM 13 has no device runtime for gfx90a and gfx1030, and none before 17 has one for gfx942.
has_runtime() {
  case $1-$2 in
    13-gfx90a | 13-gfx1030 | 1[3-6]-gfx942 | 1[3-6]-mi300a) return 1 ;;
  esac
}

combinations() {
  for version in $versions; do
    for part in $parts; do
      has_runtime "$version" "$part" || continue
      for level in $levels; do
        for name in $programs; do
          grep -q "^$version $part $level $name: " "$results" || echo "$version $part $level $name"
        done
      done
    done
  done
}

# reason VERSION PART LEVEL NAME: of the first line of the list of what is known that fits; fails when there is none.
reason() {
  while read -r version part level name text; do
    # The first four are patterns.
    # shellcheck disable=SC2254
    case $version in "#"* | "") continue ;; esac
    # shellcheck disable=SC2254
    case "$1 $2 $3 $4" in $version\ $part\ $level\ $name) echo "$text"; return 0 ;; esac
  done <"$known"
  return 1
}

# Says what is not as expected, and counts.
judge() {
  while IFS=: read -r where result; do
    # shellcheck disable=SC2086
    if text=$(reason $where); then
      [ "$result" != " pass" ] || { echo "targets.sh: $where passes, but targets.known says: $text" >&2; echo x; }
    elif [ "$result" != " pass" ]; then
      echo "targets.sh: $where fails:$result" >&2
      echo x
    fi
  done <"$results" | wc -l
}

# One row for each clang and part; a cell counts the programs that pass, and names those that do not.
table() {
  printf '| clang | part |'
  for level in $levels; do printf ' -%s |' "$level"; done
  printf '\n|---|---|'
  for level in $levels; do printf -- '---|'; done
  echo
  for version in $versions; do
    for part in $parts; do
      printf '| %s | %s |' "$version" "$part"
      for level in $levels; do
        passed=$(grep -c "^$version $part $level .*: pass$" "$results") || true
        all=$(grep -c "^$version $part $level " "$results") || true
        failed=$(sed -n "/: pass$/d; s/^$version $part $level \(.*\): .*/\1/p" "$results" | paste -sd ' ')
        if ! has_runtime "$version" "$part"; then
          printf ' no device runtime |'
        elif [ "$all" -eq 0 ]; then
          printf ' not run |'
        else
          printf ' %s of %s%s |' "$passed" "$all" "${failed:+, not $failed}"
        fi
      done
      echo
    done
  done
}

write_table() {
  page=$root/doc/targets.md
  {
    sed -e '/^<!-- test\/offload\/targets\.sh begins -->$/q' "$page"
    table
    sed -n -e '/^<!-- test\/offload\/targets\.sh ends -->$/,$p' "$page"
  } >"$results.page"
  mv "$results.page" "$page"
  echo "targets.sh: the table is in doc/targets.md"
}

[ -n "$report" ] || for version in $versions; do
  "$root/script/llvm" "$version"
done
if [ -z "$results" ]; then
  results=$(mktemp "${TMPDIR:-/tmp}/targets.XXXXXX")
  trap 'rm -f "$results"' EXIT
  trap 'exit 1' HUP INT TERM
fi
touch "$results"
[ -n "$report" ] || combinations | xargs -r -P "$jobs" -I '{}' "$0" "--build=$build" '--one={}' | tee -a "$results"
sort -o "$results" "$results"
[ -z "$document" ] || write_table
failed=$(judge)
[ "$failed" -eq 0 ] || { echo "targets.sh: $failed are not as expected" >&2; exit 1; }
