#!/bin/sh
# Compiles offload programs of every family with each clang, at each level of optimisation, for each part, and runs them on
# gfxsim as that part, under the libomptarget of that version, with this project's plugin and the stock one.
# Not here: all programs under each libomptarget, at one level (script/matrix).
set -eu
root=$(CDPATH="" cd -- "$(dirname -- "$0")/../.." && pwd)

usage() {
  cat <<'USAGE'
usage: test/offload/targets.sh [--versions="N ..."] [--parts="GFX ..."] [--levels="O2 ..."] [--programs="NAME ..."]
                               [--build=DIR] [--results=FILE] [--jobs=N] [--newer] [--document] [--report]

  --versions   of clang, libomptarget and the stock plugins, 13 to 19 (default: 13 14 15 16). With 19, whose libomptarget opens
               no plugin, this project's libomptarget takes the place of the plugin
  --parts      default: all that gfxsim has (gfxsim-run --list-devices) and this system's ROCr knows, oldest first
  --levels     default: O0 O1 O2 O3 Ofast
  --programs   by the names in test/offload/CMakeLists.txt
               (default: vecadd stencil dgemm int_arith_32 stack real_mix omp_mix)
  --newer      other defaults: --versions="15 16 17 18 19" --parts="gfx1030 gfx1100 gfx942" --levels="O0 O2 O3", and its own
               table. What this system's ROCr does not know, and what clang 17 to 19 make, runs in the Debian 13 tree
               (script/trixie), whose clang compiles for 17 and 18
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
mark=test/offload/targets.sh
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
    --newer)
      versions="15 16 17 18 19"
      parts="gfx1030 gfx1100 gfx942"
      levels="O0 O2 O3"
      mark="$mark --newer"
      ;;
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

# ---- where: this system, or the Debian 13 tree ----

in_tree() { "$root/script/trixie" "--bind=$llvm" env "OMPTARGET_AMDGPU_LLVM_DIR=$llvm" "$@"; }

# where_clang VERSION COMMAND..., where_rocr VERSION PART COMMAND...: run it where that clang is, where ROCr knows the part.
where_clang() {
  version=$1
  shift
  case $version in 17 | 18) in_tree "$@" ;; *) "$@" ;; esac
}
# ROCr 5.2.3 does not tell LLVM's plugin which kernels of 19 call functions of unknown depth, whose stacks are too small then.
where_rocr() {
  version=$1
  part=$2
  shift 2
  case $version in 17 | 18 | 19) in_tree "$@" ;; *) "$root/script/with-rocr" "$part" "$@" ;; esac
}

# ---- one program: called with --one, prints "VERSION PART LEVEL NAME: result" ----

# compile VERSION PART LEVEL NAME: into $scratch/NAME
compile() {
  line=$(grep "^$4|" "$list") || { echo "targets.sh: no program $4 in $list" >&2; exit 2; }
  options=$(echo "$line" | cut -d '|' -f 2)
  sources=$(echo "$line" | cut -d '|' -f 3)
  # shellcheck disable=SC2086
  (cd "$root/test/offload" && where_clang "$1" timeout 600 "$root/script/omp-cc" -v "$1" -g "$2" "-$3" $options $sources -o "$scratch/$4") \
    >"$scratch/log" 2>&1
}

# run VERSION PART NAME PLUGIN. The stock plugin of LLVM 15 calls HSA after it has shut HSA down, when the program is
# over, and crashes in ROCr (__tgt_rtl_is_valid_binary_info below __tgt_unregister_lib); that of LLVM 13 never destroys its
# queues (it knows no hsa_queue_destroy), so that ROCr may find their scratch memory in use when it shuts down, or be about
# to give it back when the thunk is closed already, and aborts: there the program's verdict counts.
run() {
  lib=$llvm/$1/usr/lib/llvm-$1/lib
  how=--plugin=$4
  host=
  case $1-$4 in
    19-ours)
      how=--runtime=ours
      file=
      host=$build/host/libomptarget.so
      ;;
    19-stock)
      how=--runtime=stock
      file=
      ;;
    *-ours) file=$build/src/libomptarget.rtl.amdgpu.so ;;
    16-stock) file=$lib/libomptarget.rtl.amdgpu.nextgen.so ;;
    *) file=$lib/libomptarget.rtl.amdgpu.so ;;
  esac
  thunk=$(readlink -f "$build/lib/gfxsim/libhsakmt.so.1")
  OMP_TARGET_OFFLOAD=MANDATORY KMP_WARNINGS=0 CHECK_PLUGIN=$file CHECK_HOST=$host CHECK_THUNK=$thunk \
    where_rocr "$1" "$2" timeout 300 stdbuf -oL "$build/bin/gfxsim-run" "--devices=$2" "$how" "$scratch/$3" >"$scratch/log" 2>&1 </dev/null && return
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
  scratch=$(mktemp -d "$build/targets.XXXXXX") # where the tree sees it, too
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 1' HUP INT TERM
  # shellcheck disable=SC2086
  result=$(try $one)
  echo "$one: $result"
  exit 0
fi

# ---- all of them ----

# has_runtime VERSION PART: LLVM 13 has no device runtime for gfx90a and gfx1030, 13 and 14 none for gfx1100, and those before 17
# none for gfx942. script/omp-cc makes those that 15 (gfx1100) and 17 (gfx942) lack.
has_runtime() {
  case $1-$2 in
    13-gfx90a | 13-gfx1030 | 1[34]-gfx110? | 1[3-6]-gfx942 | 1[3-6]-mi300a) return 1 ;;
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
    sed -e "\\,^<!-- $mark begins -->\$,q" "$page"
    table
    sed -n -e "\\,^<!-- $mark ends -->\$,,\$p" "$page"
  } >"$results.page"
  mv "$results.page" "$page"
  echo "targets.sh: the table is in doc/targets.md"
}

[ -n "$report" ] || for version in $versions; do
  "$root/script/llvm" "$version"
done
[ -n "$report" ] || case $versions in
  *1[789]*) # the last is for LLVM's libomptarget of 19
    "$root/script/trixie" --packages="clang-17 lld-17 llvm-17 clang-tools-17 clang-18 lld-18 llvm-18 clang-tools-18 \
libhsa-runtime-dev rocm-device-libs-17 libllvm19"
    ;;
esac
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
