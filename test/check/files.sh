#!/bin/sh
# What gfxsim-run --check writes and reads besides its text: SARIF, suppressions, limits. Called: files.sh GFXSIM_RUN SOURCES
# FOLDER ($OMP_CC compiles; python3 reads the JSON, sarif.py what the standard wants)
set -eu
run=$1 sources=$2 folder=$3
mkdir -p "$folder"
wrong=0
complain() { echo "files: $*" >&2; wrong=1; }
export OMP_TARGET_OFFLOAD=MANDATORY GFXSIM_WORKERS=1
ulimit -c 0

program=$folder/two.places
[ "$program" -nt "$sources/two_places.c" ] || $OMP_CC -O2 -g -w -DBUG=1 "$sources/two_places.c" -o "$program"
bare=$folder/two.bare
[ "$bare" -nt "$sources/two_places.c" ] || $OMP_CC -O2 -w -DBUG=1 "$sources/two_places.c" -o "$bare"
clean=$folder/two.clean
[ "$clean" -nt "$sources/two_places.c" ] || $OMP_CC -O2 -g -w -DBUG=0 "$sources/two_places.c" -o "$clean"

try() { # STATUS OPTION... : runs the program, and looks at the status
  wanted=$1
  shift
  status=0
  timeout 100 "$run" --runtime=ours --check=bounds --check-log="$folder/log" "$@" >"$folder/out" 2>&1 || status=$?
  [ "$status" = "$wanted" ] || { complain "status $status of $*"; cat "$folder/out" "$folder/log" >&2; }
}
says() { grep -qE -- "$1" "$folder/log" || { complain "no line \"$1\""; cat "$folder/log" >&2; }; }

# Each finding is a result, with its file and line; the file stands there without findings, too, as a whole.
sarif() { # FINDINGS SUPPRESSED
  python3 - "$folder/sarif" "$1" "$2" <<'END' || complain "the SARIF file is not as it should be"
import json, os, sys
whole = json.load(open(sys.argv[1]))
assert whole["version"] == "2.1.0" and whole["$schema"].endswith("sarif-2.1.0.json"), "head"
assert set(whole) <= {"$schema", "version", "runs"} and len(whole["runs"]) == 1, "one run"
run = whole["runs"][0]
assert set(run) <= {"tool", "columnKind", "results"} and run["columnKind"] == "utf16CodeUnits", "run"
driver = run["tool"]["driver"]
assert driver["name"] == "gfxsim" and all(r["id"] and r["shortDescription"]["text"] for r in driver["rules"]), "rules"
results = run["results"]
assert len(results) == int(sys.argv[2]), "results"
assert sum("suppressions" in r for r in results) == int(sys.argv[3]), "suppressed results"
allowed = {"ruleId", "ruleIndex", "level", "occurrenceCount", "message", "locations", "relatedLocations",
           "partialFingerprints", "suppressions"}
for r in results:
    assert set(r) <= allowed, "unknown property"
    assert driver["rules"][r["ruleIndex"]]["id"] == r["ruleId"], "rule"
    assert r["level"] in ("error", "warning") and r["occurrenceCount"] >= 1, "level"
    assert "Invalid" in r["message"]["text"] and "==" not in r["message"]["text"], "message"
    place = r["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("two_places.c") and place["region"]["startLine"] > 1, "place"
    assert "target region" in r["locations"][0]["logicalLocations"][0]["fullyQualifiedName"], "kernel"
    for s in r.get("suppressions", []):
        assert s["kind"] == "external" and s["justification"], "suppression"
END
}

standard() { "$sources/sarif.py" "$folder/sarif" || complain "the SARIF file is not as the standard wants it"; }

try 99 --check-fail --check-sarif="$folder/sarif" "$program"
standard
findings=$(grep -c '^==[0-9]*== Invalid' "$folder/log")
[ "$findings" -ge 2 ] || complain "two_places.c has $findings places"
sarif "$findings" 0
try 0 --check-fail --check-sarif="$folder/sarif" "$clean"
sarif 0 0
standard

# Suppressions that were made suppress; those of one place only that one.
try 99 --check-fail --check-gen-suppressions "$program"
grep -v '^==' "$folder/log" >"$folder/supp"
[ "$(grep -c '^{$' "$folder/supp")" = "$findings" ] || complain "not a suppression for each finding"
try 0 --check-fail --check-suppressions="$folder/supp" --check-sarif="$folder/sarif" "$program"
says "ERROR SUMMARY: 0 errors from 0 places \(bounds\); suppressed: [0-9]+ from $findings places"
says 'x suppressed by "give it a name: '
! grep -q '== Invalid' "$folder/log" || complain "what was suppressed is told of"
sarif "$findings" "$findings"
standard
sed -n '1,/^}$/p' "$folder/supp" >"$folder/one"
try 99 --check-fail --check-suppressions="$folder/one" "$program"
says "from $((findings - 1)) places \(bounds\); suppressed: [0-9]+ from 1 places"

# What is no suppression is told of, with its line; the others count.
{ printf '# a comment\nnonsense\n{\n  no rule\n}\n{\n  bad\n  bounds:outside\n  thread:x\n}\n'; cat "$folder/supp"; } >"$folder/bad"
try 0 --check-fail --check-suppressions="$folder/bad" "$program"
for line in 2 3 9; do grep -q "$folder/bad:$line: " "$folder/out" || { complain "line $line is not complained of"; cat "$folder/out" >&2; }; done
printf '{\n  all in this file\n  bounds:*\n  source:*two_places.c:*\n}\n' >"$folder/all"
try 0 --check-fail --check-suppressions="$folder/all" "$program"
printf '{\n  by what is said\n  bounds:*\n  text:Invalid *\n}\n' >"$folder/text"
try 0 --check-fail --check-suppressions="$folder/text" "$program"
printf '{\n  by the part\n  bounds:*\n  part:gfx90a\n}\n' >"$folder/part"
try 0 --check-fail --check-suppressions="$folder/part" "$program"
printf '{\n  by another part\n  bounds:*\n  part:gfx906\n}\n' >"$folder/part"
try 99 --check-fail --check-suppressions="$folder/part" "$program"
printf '{\n  by what is not said\n  bounds:*\n  text:Valid *\n}\n' >"$folder/text"
try 99 --check-fail --check-suppressions="$folder/text" "$program"
# By where the instruction is, and by the tools that look.
at=$("$run" --runtime=ours --check=bounds --check-log="$folder/log" "$bare" >"$folder/out" 2>&1 || true
  sed -n 's/^==[0-9]*==    at .*\(+0x[0-9a-f]*\): .*/\1/p' "$folder/log" | head -n 1)
[ -n "$at" ] || { complain "no offset is told without lines"; cat "$folder/log" >&2; }
for pattern in "$at" '+0x?*'; do
  printf '{\n  by the place\n  bounds:*\n  at:%s\n}\n' "$pattern" >"$folder/at"
  "$run" --runtime=ours --check=bounds --check-log="$folder/log" --check-suppressions="$folder/at" "$bare" >"$folder/out" 2>&1
  says 'suppressed: [0-9]+ from [1-9]'
done
says 'ERROR SUMMARY: 0 errors'
for tools in bounds 'bou*'; do
  printf '{\n  by the tools\n  bounds:*\n  tools:%s\n}\n' "$tools" >"$folder/tools"
  try 0 --check-fail --check-suppressions="$folder/tools" "$program"
done
for tools in all bounds,race race; do
  printf '{\n  by other tools\n  bounds:*\n  tools:%s\n}\n' "$tools" >"$folder/tools"
  try 99 --check-fail --check-suppressions="$folder/tools" "$program"
done
printf '{\n  by all tools\n  bounds:*\n  tools:all\n}\n' >"$folder/tools"
try 0 --check-fail --check=all --check-suppressions="$folder/tools" "$program"
try 99 --check-fail --check-suppressions="$folder/none" "$program"
grep -q "can't read the suppressions in $folder/none" "$folder/out" || complain "a file that is not there"

# What is known of device runtimes is not told of, but where somebody asks: barriers that do not wait, in any reduction, and a team's state
# without a barrier in front of one of an array by several waves.
[ "$folder/sums" -nt "$sources/sums.c" ] || $OMP_CC -O2 "$sources/sums.c" -o "$folder/sums"
for known in 'suppressed: [0-9]+ from' 'x suppressed by "barriers of the device runtime"' 'x suppressed by "state of a team'; do
  try 0 --check-fail --check=all "$folder/sums"
  says "$known"
  says 'ERROR SUMMARY: 0 errors from 0 places'
done
[ "$(grep -c 'suppressed by "barriers' "$folder/log")" = 1 ] || complain "a suppression is listed for each place"
try 99 --check-fail --check=all --check-runtimes "$folder/sums"
says 'ERROR SUMMARY: [1-9][0-9]* errors, [1-9][0-9]* warnings'
! grep -q suppressed "$folder/log" || complain "something is suppressed with --check-runtimes"
try 0 --check-fail --check=wait "$folder/sums"
says 'ERROR SUMMARY: 0 errors, [1-9][0-9]* warnings'

# The limit is for what is told, not for what is counted.
try 99 --check-fail --check-most=1 "$program"
[ "$(grep -c '^==[0-9]*== Invalid' "$folder/log")" = 1 ] || complain "more is told than was asked for"
says "from $findings places"
# A runtime that would say what is mapped, and a program that maps nothing.
printf '%s\n' 'int a[4]; _Pragma("omp declare target to(a)")' 'int main(void) { _Pragma("omp target") a[1] = 2;' 'return 0; }' >"$folder/nothing.c"
$OMP_CC -O2 "$folder/nothing.c" -o "$folder/nothing"
timeout 100 "$run" --runtime=ours --check=transfer --check-log="$folder/log" "$folder/nothing" >"$folder/out" 2>&1 || complain "a program that maps nothing fails"
! grep -q 'does not say what is mapped' "$folder/log" || complain "our runtime is said to tell nothing"

# No kernel runs, as there is none for the GPU.
timeout 100 env OMP_TARGET_OFFLOAD=DEFAULT "$run" --runtime=ours --devices=gfx906 --check --check-log="$folder/log" "$clean" >"$folder/out" 2>&1 || complain "a program without kernels fails"
grep -q 'no kernel of the program was executed' "$folder/out" || complain "nothing is said of kernels that did not run"
timeout 100 "$run" --runtime=ours --check --check-log="$folder/log" "$clean" >"$folder/out" 2>&1 || complain "the clean program fails"
! grep -q 'no kernel of the program was executed' "$folder/out" || complain "kernels that ran are said not to have"

[ "$wrong" = 0 ] || exit 1
echo "files: SARIF, suppressions and limits of $findings findings"
