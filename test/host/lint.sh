#!/bin/sh
# lint.sh OMP-CC GFXSIM-RUN VERSION SCRATCH: what LIBOMPTARGET_LINT finds in programs with one mistake each, that it finds
# nothing in their twins, and that doc/lint.md shows what it prints.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
cc=$1
run=$2
version=$3
scratch=$4
unset OMP_TARGET_OFFLOAD LIBOMPTARGET_INFO LIBOMPTARGET_LINT
export KMP_WARNINGS=0
rm -rf "$scratch"
mkdir -p "$scratch"
failed=0

wrong() { echo "$*:"; cat "$scratch/out"; failed=1; }
compile() { "$cc" -v "$version" -O1 -fopenmp-version=51 "$@" || exit 1; }
lint() { # PROGRAM [ARGUMENT]: what it says is in out
  "$run" --runtime=ours env LIBOMPTARGET_LINT=1 "$@" >"$scratch/out" 2>&1 || wrong "$* failed"
}
line_of() { grep -n -- "$1" "$here/lint.c" | head -1 | cut -d: -f1; }

# finds NAME TAG SUMMARY WARNING: one finding, which the summary counts.
finds() {
  lint "$scratch/lint" "$1"
  [ "$(grep -c "warning: .*\[$2\]\$" "$scratch/out")" = 1 ] || wrong "$1: not one warning"
  grep -qE -- "^$4 \[$2\]\$" "$scratch/out" || wrong "$1: no \"$4\""
  grep -q '^  hint: ' "$scratch/out" || wrong "$1: no hint"
  grep -q '^lint: 1 finding; ' "$scratch/out" || wrong "$1: not one finding"
  grep -qE -- "^ .*$3 \[$2\]\$" "$scratch/out" || wrong "$1: no \"$3\" in the summary"
}
finds_nothing() { # NAME
  lint "$scratch/lint" "$1"
  ! grep -q 'warning:' "$scratch/out" || wrong "$1: a warning"
  grep -q '^lint: 0 findings; 0 of ' "$scratch/out" || wrong "$1: no summary"
}

compile -gline-tables-only "$here/lint.c" -o "$scratch/lint"
at() { echo "lint\.c:$(line_of "$1"):[0-9]+: warning:"; }
finds same-on-device same-on-device '5 copies, 5120 bytes, [0-9.]+ ms' \
  "$(at 'target update to(array)') array \(1024 bytes\) is copied to the device, which has these bytes already"
finds same-on-host same-on-host '1 copy, 1024 bytes, [0-9.]+ ms' \
  "$(at 'map(tofrom : array, sum)') array \(1024 bytes\) is copied back to the host, which has these bytes already"
# The first time brings it there, the second could be a chance.
finds mapped-again mapped-again '4 copies, 4096 bytes, [0-9.]+ ms' \
  "$(at 'map(tofrom : sum) map(to : array)') array \(1024 bytes\) is mapped and copied again, though .*"
finds update-unmapped update-unmapped 'array \(1024 bytes\): 1 time' \
  "lint\.c:[0-9]+:[0-9]+: warning: array \(1024 bytes\) is updated, but not mapped: nothing is copied"
finds exit-unmapped exit-unmapped 'array \(1024 bytes\): 1 time' \
  "$(at 'map(from : array)') the mapping of array \(1024 bytes\) ends, but it is not mapped: nothing happens"
grep -q "^lint.c:$(line_of 'map(release : array)'):[0-9]*: note: its mapping ended here already$" "$scratch/out" ||
  wrong "not said where the mapping ended"
finds pointer-unmapped pointer-unmapped 'pointer p \(0x[0-9a-f]+\): 1 time' \
  "$(at 'map(tofrom : found)') pointer p \(0x[0-9a-f]+\) goes to the device, but nothing is mapped where it points"
finds never-freed never-freed 'that is allocated here: 5 times' \
  'lint\+0x[0-9a-f]+: warning: device memory of 1000 bytes that is allocated here is never freed'
finds freed-mapped freed-mapped 'p\[:COUNT\] \(1024 bytes\): 1 time' \
  'lint\+0x[0-9a-f]+: warning: the host memory of p\[:COUNT\] \(1024 bytes\) is freed while it is mapped'
finds moved-mapped freed-mapped 'p\[:COUNT\] \(1024 bytes\): 1 time' \
  'lint\+0x[0-9a-f]+: warning: the host memory of p\[:COUNT\] \(1024 bytes\) is freed while it is mapped'
for name in same-on-device same-on-host mapped-again update-unmapped exit-unmapped pointer-unmapped never-freed \
  freed-mapped moved-mapped; do
  finds_nothing "not-$name"
done
finds_nothing mapped-seldom
finds_nothing none

# Without debug information there are addresses in place of names and lines.
compile "$here/lint.c" -o "$scratch/stripped"
lint "$scratch/stripped" update-unmapped
grep -qE '^stripped\+0x[0-9a-f]+: warning: data of 1024 bytes at 0x[0-9a-f]+ is updated, but not mapped' "$scratch/out" ||
  wrong "no address without debug information"

# Off, there is not a word; nor for what is no number, but a warning.
for value in '' 0 off; do
  "$run" --runtime=ours env LIBOMPTARGET_LINT=$value "$scratch/lint" mapped-again >"$scratch/out" 2>&1
  [ "$(cat "$scratch/out")" = end ] || wrong "LIBOMPTARGET_LINT=$value"
done
"$run" --runtime=ours env LIBOMPTARGET_LINT=much "$scratch/lint" none >"$scratch/out" 2>&1
grep -q 'LIBOMPTARGET_LINT is ignored: it is no number' "$scratch/out" || wrong "no warning"

# The page shows what the example prints; times are of the machine.
compile -gline-tables-only "$here/lint_example.c" -o "$scratch/example"
lint "$scratch/example"
plain() { sed -E 's/[0-9.]+( of [0-9.]+)? ms/T ms/; s/ +[0-9.]+ % of time/ T % of time/' "$1"; }
sed -n '/^    lint_example.c:/,/^$/p; /^    lint: /,/^$/p' "$here/../../doc/lint.md" |
  sed -e 's/^    //' -e '/^$/d' >"$scratch/page"
grep -vE '^[0-9.]+$' "$scratch/out" >"$scratch/printed"
plain "$scratch/page" >"$scratch/page.plain"
plain "$scratch/printed" >"$scratch/printed.plain"
diff "$scratch/page.plain" "$scratch/printed.plain" || { echo "doc/lint.md shows something else"; failed=1; }
exit $failed
