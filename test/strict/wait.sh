#!/bin/sh
# Programs that use registers before what is loaded into them is waited for: with --strict=wait they go wrong, and their
# twins that wait do not. wait.sh GFXSIM_RUN SOURCE FOLDER   ($OMP_CC compiles for $PART, $BELOW: what gfxsim-run puts below the
# program); SOURCE is one of test/check/wait.
set -eu
here=$(CDPATH="" cd -- "$(dirname -- "$0")" && pwd)
run=$1 source=$2 folder=$3
name=$(basename "${source%.*}")
mkdir -p "$folder"
wrong=0
passed=0
complain() { echo "$name: $*" >&2; wrong=1; }

case $name in
  states_*) kinds=wait:states ;;
  *) kinds='wait:old wait:poison' ;;
esac
export OMP_TARGET_OFFLOAD=MANDATORY
ulimit -c 0
for bug in 0 1; do
  program=$folder/$name.$bug
  [ "$program" -nt "$source" ] || $OMP_CC -g "$PART" -O2 -w "-DBUG=$bug" "$source" -o "$program"
  for strict in '' $kinds; do
    status=0
    timeout 100 "$here/../../script/with-rocr" "$PART" "$run" "--devices=$PART" "$BELOW" ${strict:+"--strict=$strict"} "$program" >"$folder/$name.out" 2>&1 || status=$?
    case $bug-$strict-$status in
      0-*-0 | 1--0) ;; # without strictness nobody notices
      1-wait*-0) passed=$((passed + 1)) ;; # what is there instead may do by chance
      1-wait*-124) complain "does not end with --strict=$strict" ;;
      1-wait*) ;;
      *) complain "-DBUG=$bug ${strict:+--strict=$strict }ends with $status"; cat "$folder/$name.out" >&2 ;;
    esac
  done
done
[ "$passed" -lt "$(echo "$kinds" | wc -w)" ] || complain "passes without the wait, with each kind of --strict=wait"
exit $wrong
