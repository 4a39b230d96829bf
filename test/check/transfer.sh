#!/bin/sh
# Compiles a program whose copies are wrong or in vain (-DBUG=1) and one whose are not (-DBUG=0), and compares what
# gfxsim-run --check=transfer says above our host runtime with what the source expects. Called: transfer.sh GFXSIM_RUN SOURCE
# FOLDER LEVEL... ($OMP_CC compiles, with $FLAGS: -g -w; $ONLY: runtime, for a compiler whose libomptarget opens no plugins)
#
# Comments in the source: "expect: REGEX": lines, in this order; @LINE@ is the number of the line that has LINE in a comment.
# Where one of them begins with "Stale", "Never" or "Change", there is one finding. Of the twin there is none, and no such line.
set -eu
run=$1 source=$2 folder=$3
shift 3
name=$(basename "${source%.*}")
mkdir -p "$folder"
wrong=0
complain() { echo "$name: $*" >&2; wrong=1; }
line=$(grep -n '/\* LINE \*/$' "$source" | cut -d: -f1)
sed -n 's,^[ /*!]*expect: \(.*\),\1,p' "$source" | sed "s,@LINE@,$line,g" >"$folder/$name.expected"
[ "$(grep -o 'expect: ' "$source" | wc -l)" = "$(wc -l <"$folder/$name.expected")" ] || complain "lines of its comment are joined"
[ -s "$folder/$name.expected" ] || complain "expects nothing"
findings=$(grep -cE '^(Stale|Never|Change)' "$folder/$name.expected" || true)

compare() { # LOG: the expected lines in their order
  from=1
  while IFS= read -r regex; do
    at=$(tail -n "+$from" "$1" | grep -nE -- "$regex" | head -n 1 | cut -d: -f1)
    [ -n "$at" ] || { complain "$level: no line \"$regex\" from line $from on in"; cat "$1" >&2; return; }
    from=$((from + at))
  done <"$folder/$name.expected"
}

run() { # PROGRAM
  status=0
  timeout 100 "$run" --check=transfer --check-log="$log" --check-fail --runtime=ours "$1" >"$folder/$name.out" 2>&1 || status=$?
  [ "$status" = 0 ] || { complain "$1 ends with $status"; cat "$folder/$name.out" >&2; } # these are warnings
}

export OMP_TARGET_OFFLOAD=MANDATORY GFXSIM_WORKERS=1
for level; do
  for with in 0 1; do
    program=$folder/$name.$level.$with
    # shellcheck disable=SC2086
    [ "$program" -nt "$source" ] || $OMP_CC "-$level" ${FLAGS:--g -w} "-DBUG=$with" "$source" -o "$program" >"$folder/$name.out" 2>&1 ||
      { cat "$folder/$name.out" >&2; exit 1; }
  done
  log=$folder/$name.$level.log
  run "$folder/$name.$level.1"
  compare "$log"
  grep -qE "SUMMARY: 0 errors(, [0-9]+ warnings)? from $findings places" "$log" || { complain "$level: not $findings findings"; cat "$log" >&2; }
  run "$folder/$name.$level.0"
  grep -q 'SUMMARY: 0 errors from 0 places (transfer)' "$log" || { complain "$level: the twin has findings"; cat "$log" >&2; }
  while IFS= read -r regex; do
    case $regex in Copies*) continue ;; esac
    ! grep -qE -- "$regex" "$log" || { complain "$level: the twin has \"$regex\""; cat "$log" >&2; }
  done <"$folder/$name.expected"
done
[ "${ONLY:-}" != runtime ] || exit "$wrong"
# LLVM's runtime tells of no mappings: the report says so, and has no findings.
status=0
timeout 100 "$run" --check=transfer --check-log="$log" --plugin=ours "$program" >"$folder/$name.out" 2>&1 || status=$?
[ "$status" = 0 ] || { complain "LLVM's runtime: status $status"; cat "$folder/$name.out" >&2; }
grep -q 'transfer: the runtime does not say what is mapped' "$log" || { complain "nothing is said of LLVM's runtime"; cat "$log" >&2; }
grep -q 'SUMMARY: 0 errors from 0 places' "$log" || { complain "findings above LLVM's runtime"; cat "$log" >&2; }
[ "$wrong" = 0 ] || exit 1
echo "$name: found at $*"
