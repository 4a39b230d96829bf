#!/bin/sh
# What gfxsim-run --check=cache says of one program of cache.c with its error, and that it says nothing without.
# Called: cache.sh GFXSIM_RUN PROGRAM FOLDER NAME [PART]   ($CACHE_KERNELS: the code objects, without .PART.co)
set -eu
run=$1 program=$2 folder=$3 name=$4
mkdir -p "$folder"
log=$folder/$name.log
complain() { echo "$name: $*" >&2; cat "$log" "$folder/$name.out" >&2; exit 1; }

devices=${5:-gfx90a}
writer='May miss an earlier write'
case $name in
  vector | neighbour | lanes) hint='an acquire fence behind the read' ;;
  array) hint='buffer_gl1_inv beside' ;;
  counter) hint='or read it by an atomic load' ;;
  polls | scope) hint='an acquire fence' writer='The read is repeated until the value changes' ;;
  scalar_store | scalar_read) hint='s_dcache_inv in front of the read' ;;
  kernels) hint='an acquire fence of agent scope' writer='May miss an earlier write in another kernel' ;;
  arguments | host_between) hint='of system scope' writer='May miss a write by the host' ;;
  copy_acquire) devices=gfx906 hint='of system scope' writer='May miss an earlier copy of 4096 bytes' ;;
  xcc | same_xcc | through) hint='a release fence of agent scope between' ;;
  copy_release | barrier_release | write_back | write_back_scope | fine) hint='a release fence of system scope' ;;
  host) hint='fine-grained memory, and atomic loads' writer='May miss a write by the host' ;;
  other_gpu) devices=$devices,$devices hint='a release fence' writer='May miss an earlier write in another kernel' ;;
esac
# Where ROCr knows the part.
set -- "$(dirname "$0")/../../../script/with-rocr" "${devices%%,*}" "$run" "--devices=$devices"
export CACHE_KERNELS="$CACHE_KERNELS.${devices%%,*}.co" GFXSIM_WORKERS=1

check() { # bug|good COMMAND...
  twin=$1
  shift
  status=0
  timeout 100 "$@" --check=cache --check-log="$log" --check-sarif="$folder/$name.sarif" --check-fail "$program" "$name" "$twin" >"$folder/$name.out" 2>&1 ||
    status=$?
}

check good "$@"
[ "$status" = 0 ] || complain "without its error: status $status"
check bug "$@"
[ "$status" = 99 ] || complain "status $status"
for regex in 'Possibly stale read (of (4|8|16) bytes in kernel |by a copy of 4096 bytes)' "$writer" "Hint: .*$hint" 'from 1 places \(cache\)'; do
  grep -qE -- "$regex" "$log" || complain "no line \"$regex\""
done
"$(dirname "$0")/../sarif.py" "$folder/$name.sarif" || complain "its SARIF file is not as the standard wants it"
echo "$name: found"
