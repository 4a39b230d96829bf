#!/bin/sh
# check_style.sh FOLDER: script/check-style accepts a small repository that is in order, and names each thing that is not.
set -eu
root=$(CDPATH="" cd -- "$(dirname -- "$0")/../.." && pwd)
folder=$1
rm -rf "$folder"
mkdir -p "$folder/tree/script" "$folder/tree/doc"
tree=$(CDPATH="" cd -- "$folder/tree" && pwd -P)
log=$tree/../log
cp "$root/script/check-style" "$tree/script/"
cp "$root/.clang-format" "$tree/"
printf 'int one(void) {\n  return 1;\n}\n' >"$tree/good.c"
printf '# A page\n\n[Another](doc/page.md), [a site](https://example.org/x.md), `[no](link)`.\n' >"$tree/README.md"
printf '[Back](../README.md#a-page)\n' >"$tree/doc/page.md"

# The user's own configuration, and variables that name another repository, change nothing.
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE || true
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM
in_tree() { git -C "$tree" -c user.name=Test -c user.email=test@example.org "$@"; }
commit() { in_tree add -A && in_tree commit -q --allow-empty -m "$1"; }

fail() { echo "check_style.sh: $*; it said:" >&2; cat "$log" >&2; exit 1; }
accepts() { # PATTERN [OPTION]
  "$tree/script/check-style" ${2:+"$2"} >"$log" 2>&1 || fail "it refuses what is in order"
  grep -q -e "$1" "$log" || fail "it does not say $1"
}
refuses() { # PATTERN [OPTION]
  status=0
  "$tree/script/check-style" ${2:+"$2"} >"$log" 2>&1 || status=$?
  [ "$status" -eq 1 ] || fail "status $status where 1 is right"
  grep -q -e "$1" "$log" || fail "it does not say $1"
}

# As from a tarball; also within the repository of somebody else.
accepts "layout of 1 C files looked at"
accepts "subjects of commits not looked at"
printf 'int two(void) {return 2;}\n' >"$tree/bad.c"
refuses "bad.c: not laid out as by clang-format 14"
rm "$tree/bad.c"

in_tree init -q
commit "Before there was a rule, subjects were of any length and had no area at all."
since=--since=$(in_tree rev-parse HEAD)
accepts "no commits since" "$since"
commit "doc, impl/stream: say and do what is right"
accepts "subjects of 1 commits looked at" "$since"
accepts "subjects of commits not looked at" --since=0123456789012345678901234567890123456789
in_tree clone -q --depth=1 "file://$tree" "$folder/shallow"
mv "$tree" "$tree.whole"
mv "$folder/shallow" "$tree"
accepts "subjects of commits not looked at" "$since"
rm -rf "$tree"
mv "$tree.whole" "$tree"

printf 'int two(void) {return 2;}\n' >"$tree/new.c" # not added yet
refuses "new.c: not laid out as by clang-format 14" "$since"
rm "$tree/new.c"
printf '[Nowhere](doc/gone.md#part)\n' >"$tree/new.md"
refuses "new.md: links to doc/gone.md, which is not there" "$since"
rm "$tree/new.md"

good=$(in_tree rev-parse HEAD)
wrong() { # PATTERN SUBJECT
  commit "$2"
  refuses "$1" "$since"
  in_tree reset -q --hard "$good"
}
wrong "no area in front" "Say what is done"
wrong "no area in front" "fixup! doc: say what is done"
wrong "more than 65" "doc: $(printf '%061d' 0)"
wrong "a full stop" "doc: say what is done."
commit "doc: $(printf '%060d' 0)" # 65
accepts "subjects of 2 commits looked at" "$since"
