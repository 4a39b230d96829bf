#!/bin/sh
# cached_compile.sh CACHE COMPILER ARGUMENT...: runs the compiler, or repeats what the same command did before with the same
# files: each of LLVM's tests is compiled once and run with every plugin. Messages and exit status are repeated too.
set -eu
cache=$1
shift

output=
previous=
for argument in "$@"; do
  [ "$previous" != -o ] || output=$argument
  previous=$argument
done

# The key: the command line, and the content of every file that it names as an input.
key=$({
  printf '%s\n' "$PWD" "$@"
  for argument in "$@"; do
    if [ "$argument" != "$output" ] && [ -f "$argument" ]; then cat -- "$argument"; fi
  done
} | sha256sum | cut -c 1-40)
entry=$cache/$key

if [ ! -d "$entry" ]; then
  mkdir -p "$cache"
  new=$(mktemp -d "$cache/.new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  trap 'exit 1' HUP INT TERM
  [ -z "$output" ] || rm -f -- "$output"
  status=0
  "$@" >"$new/stdout" 2>"$new/stderr" || status=$?
  # Killed, not failed: nothing to remember.
  [ "$status" -lt 128 ] || exit "$status"
  echo "$status" >"$new/status"
  if [ -n "$output" ] && [ -f "$output" ]; then cp -- "$output" "$new/output"; fi
  # Another job may have been faster; its result is as good.
  mv -T "$new" "$entry" 2>/dev/null || true
fi

if [ -n "$output" ] && [ -f "$entry/output" ]; then cp -- "$entry/output" "$output"; fi
cat "$entry/stdout"
cat "$entry/stderr" >&2
exit "$(cat "$entry/status")"
