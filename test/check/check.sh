#!/bin/sh
# Compiles a program with its error (-DBUG=1) and without (-DBUG=0), and compares what gfxsim-run --check says with what the
# source expects. Called: check.sh GFXSIM_RUN SOURCE FOLDER STOCK_PLUGINS LEVEL...   ($OMP_CC compiles, $TOOL checks: bounds;
# $PART: another one than gfx90a; $OPTIONS: more of the compiler's; $ONLY: runtime, for a clang whose libomptarget opens no
# plugins)
#
# Comments in the source:
#   expect: REGEX   lines of the findings, in this order; @BUG@ is the number of the line that has BUG in a comment. There
#                   are as many findings as expected lines that begin as findings of the tool do
#   named: REGEX    a line with names, which our host runtime tells; only below it
#   more: yes       ... at least as many
#   ends: STATUS    the faulty program's, else 99 (--check-fail)
#   tries: N        the faulty program may be run so often until something is found in it
#   repeats: N      the twin is run so often, with four workers: what takes turns otherwise may meet
#   levels: LEVEL   only that one
#   runtime: ours   found only below our host runtime, which says what it maps
#   library: yes    compiled a second time with -DLIBRARY, as PROGRAM.so
set -eu
run=$1 source=$2 folder=$3 stock=$4
shift 4
name=$(basename "${source%.*}")
mkdir -p "$folder"
tool=${TOOL:-bounds}
OPTIONS=${OPTIONS:-}
wrong=0
complain() { echo "$name: $*" >&2; wrong=1; }

note() { sed -n "s,^[ /*]*$1: \(.*\),\1,p" "$source" | sed 's, \*/$,,'; }
bug=$(grep -n 'BUG \*/$\|// BUG$' "$source" | cut -d: -f1)
note expect | sed "s,@BUG@,$bug,g; s,gfx90a,${PART:-gfx90a}," >"$folder/$name.expected"
# A formatter may have joined lines of the comment, of which the second would be lost.
[ "$(grep -oE '(expect|named|more|ends|tries|repeats|levels|library|runtime): ' "$source" | wc -l)" = "$(grep -cE '^[ /*]*(expect|named|more|ends|tries|repeats|levels|library|runtime): ' "$source")" ] ||
  complain "lines of its comment are joined"
case $tool in
  init | init,*) begin='(Branch depends|Uninitialised value|Jump to)' ;;
  wait) begin='Missing wait' ;;
  cache) begin='Possibly stale' ;;
  *) begin='(Invalid|Data race)' ;;
esac
# Barriers of clang's device runtime, which the tool sees in OpenMP programs.
known=
case $tool in *,wait) known=$(dirname "$0")/offload.supp ;; esac
findings=$(grep -cE "^$begin" "$folder/$name.expected")
ends=$(note ends)
[ -z "$(note levels)" ] || set -- $(note levels)

compare() { # LOG WHERE: the expected lines in their order, and no further finding
  from=1
  while IFS= read -r regex; do
    at=$(tail -n "+$from" "$1" | grep -nE -- "$regex" | head -n 1 | cut -d: -f1)
    [ -n "$at" ] || { complain "$2: no line \"$regex\" from line $from on in"; cat "$1" >&2; return; }
    from=$((from + at))
  done <"$folder/$name.expected"
  found=$(grep -cE "^==[0-9]+== $begin" "$1" || true)
  if [ "$found" != "$findings" ] && { [ -z "$(note more)" ] || [ "$found" -lt "$findings" ]; }; then
    complain "$2: $found findings, expected $findings"
    cat "$1" >&2
  fi
  ! uniq -d "$1" | grep -q 'The value was' || complain "$2: a line is there twice"
  ! grep -qE '^==[0-9]+== +0 x ' "$1" || complain "$2: the summary lists what did not happen"
}

try() { # LEVEL RUNTIME OPTION...
  where="$1, $2"
  level=$1
  shift 2
  log=$folder/$name.$level.log
  status=0 tries=$(note tries)
  check "$@" "$folder/$name.$level.1" || status=$?
  while [ "$status" = 0 ] && [ "${tries:-1}" -gt 1 ]; do
    status=0 tries=$((tries - 1))
    check "$@" "$folder/$name.$level.1" || status=$?
  done
  [ "$status" = "${ends:-99}" ] || { complain "$where: status $status"; cat "$folder/$name.out" >&2; }
  compare "$log" "$where"
  case $where in *runtime)
    note named | while IFS= read -r regex; do grep -qE -- "$regex" "$log" || exit 1; done || complain "$where: no name"
  esac
  status=0 tries=$(note repeats)
  [ -z "$tries" ] || export GFXSIM_WORKERS=4
  check "$@" "$folder/$name.$level.0" || status=$?
  while [ "$status" = 0 ] && [ "${tries:-1}" -gt 1 ]; do
    tries=$((tries - 1))
    check "$@" "$folder/$name.$level.0" || status=$?
  done
  export GFXSIM_WORKERS=1
  [ "$status" = 0 ] || { complain "$where: the twin without the error ends with $status"; cat "$folder/$name.out" "$log" >&2; }
  grep -q 'ERROR SUMMARY: 0 errors from 0 places' "$log" || complain "$where: the twin has no summary without errors"
}

compile() {
  # shellcheck disable=SC2086
  $OMP_CC ${PART:+-g "$PART"} "-$level" -g -w $OPTIONS "$source" "$@"
}

# What waits for itself waits for ever.
check() {
  timeout 100 "$(dirname "$0")/../../script/with-rocr" "${PART:-gfx90a}" "$run" ${PART:+"--devices=$PART"} "--check=$tool" --check-log="$log" --check-fail \
    ${known:+"--check-suppressions=$known"} "$@" >"$folder/$name.out" 2>&1
}

export OMP_TARGET_OFFLOAD=MANDATORY GFXSIM_WORKERS=1
ulimit -c 0
for level; do
  for with in 0 1; do
    program=$folder/$name.$level.$with
    # A library in the options may be newer.
    { [ -z "$OPTIONS" ] && [ "$program" -nt "$source" ]; } || compile "-DBUG=$with" -o "$program"
    [ -z "$(note library)" ] || [ "$program.so" -nt "$source" ] ||
      compile "-DBUG=$with" -DLIBRARY -fPIC -shared -o "$program.so"
  done
  try "$level" runtime --runtime=ours
  [ -z "${ONLY:-}$(note runtime)" ] || continue
  try "$level" plugin --plugin=ours
  try "$level" stock "--plugin=$stock"
done
[ "$wrong" = 0 ] || exit 1
echo "$name: found $findings, at $*"
