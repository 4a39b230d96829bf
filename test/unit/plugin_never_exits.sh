#!/bin/sh
# plugin_never_exits.sh NM ARCHIVE...: fails if an object of the plugin calls anything that ends the process. One may:
# device code that calls exit or abort through libc's RPC means it.
set -eu
nm=$1
shift
calls=$("$nm" -A --undefined-only "$@" 2>/dev/null | sed 's/^\([^ ]*\):.* /\1 /; s/:[0-9a-f ]*$//')
case $calls in *" memcpy"*) ;; *) echo "not the plugin: no object of $* calls memcpy" >&2; exit 1 ;; esac
found=$(printf '%s\n' "$calls" | grep -v '[:(]rpc_image\.c\.o' |
  grep -E ' (exit|_exit|_Exit|quick_exit|abort|raise|kill|v?errx?|error|__assert.*)$' || true)
if [ -n "$found" ]; then
  printf 'the plugin ends the process:\n%s\n' "$found" >&2
  exit 1
fi
echo "none of $(printf '%s\n' "$calls" | wc -l) calls ends the process"
