#!/bin/sh
# time_limit.sh LATE SECONDS COMMAND...: runs the command with a time limit, and ends as it ended: with its exit status or by its
# signal, which LLVM's `not --crash` tells apart. A command that takes too long is noted in the file LATE, because a
# test that only expects a failure would take the time limit for one.
late=$1
seconds=$2
shift 2
ulimit -c 0
timeout --kill-after=5 "$seconds" "$@"
status=$?
case $status in 124 | 137) printf '%s\n' "$*" >>"$late" ;; esac
if [ "$status" -gt 128 ]; then kill -s "$((status - 128))" $$; fi
exit "$status"
