#!/bin/bash
# Runs the freestanding program under amdhsa-loader on gfxsim: loader.sh GFX LLVM-VERSION CODE-OBJECT LOADER GFXSIM-RUN SCRATCH [SANITIZER]
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
gfx=$1 version=$2 object=$3 loader=$4 gfxsim_run=$5 scratch=$6 sanitizer=${7-}
mkdir -p "$scratch"
image=$scratch/program

fail() {
  echo "$*" >&2
  head -c 2000 "$scratch/out" "$scratch/err" >&2 || true
  exit 1
}

# Clang 16 compiles for all parts but gfx942. It does so here; what follows runs where ROCr knows the part, and may know no clang.
build() {
  local clang=16 source
  [ "$gfx" != gfx942 ] || clang=19
  for source in "$here/program.c" "$here/../../device/rpc_client.c"; do
    "clang-$clang" -x c -std=c11 -target amdgcn-amd-amdhsa "-mcpu=$gfx" "-mcode-object-version=$object" -nogpulib -ffreestanding \
      -fno-builtin -O2 -g -Wall -Wextra -Werror "-DVERSION=$version" "-I$here/../../impl" "-I$here/../../device" \
      -c "$source" -o "$scratch/$(basename "$source" .c).o" || fail "cannot compile $source"
  done
  "ld.lld-$clang" -shared --no-undefined "$scratch/program.o" "$scratch/rpc_client.o" -o "$image" || fail "cannot link the program"
  "ld.lld-$clang" -shared "$scratch/rpc_client.o" -o "$scratch/empty"
}
if [ -z "${LOADER_BUILT-}" ]; then
  [ -n "${PROGRAMS_BUILT-}" ] || build
  LOADER_BUILT=yes exec "$here/../../script/with-rocr" "$gfx" "$0" "$@"
fi

# start STATUS WORD...: runs the loader with these words, its output in the scratch folder.
start() {
  local expected=$1 status=0
  shift
  "$gfxsim_run" --devices="$gfx" --cus=8 "$loader" "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
  [ "$status" = "$expected" ] || fail "amdhsa-loader $*: exit status $status instead of $expected"
}
says() { grep -q -- "$1" "$scratch/err" || fail "nothing says \"$1\""; }

# Exit statuses: of main's result, of exit, and of ends that are none.
for status in 0 7 255; do
  start $status "$image" return $status
  start $status "$image" exit $status
done
start 1 "$image" return 257
start 1 --timeout 60 "$image" trap
says 'kernel:   _start$'
says 'source:   .*program.c:'
start 1 --timeout 60 "$image" fault
says 'memory fault at address 0x123450000'
says 'kernel:   _start$'
says 'source:   .*program.c:'
start 1 "$image" unknown
says 'operation 999'
# The time limit is one of the whole program: the shortest in which this machine comes to its kernel.
for limit in 1 4 16 64; do
  start 124 --timeout $limit "$image" hang
  ! grep -q '^running$' "$scratch/err" || break
done
says "ended after $limit seconds, in kernel _start"
[ "$(cat "$scratch/out")" = before ] || fail "what was printed before the time limit is lost"
if [ "$version" = 18 ]; then
  start 134 "$image" abort
  [ "$(cat "$scratch/out")" = before ] || fail "what was printed before abort is lost"
fi

# A pipe that is open at both ends, and at which nobody is.
fifo=$scratch/fifo.$$
mkfifo "$fifo"
exec 9<>"$fifo"

# begin WORD...: starts the loader beside this shell, and returns when the program says that its kernel runs.
begin() {
  : >"$scratch/err"
  "$gfxsim_run" --devices="$gfx" "$loader" "$image" "$@" <&9 >"$scratch/out" 2>"$scratch/err" &
  loading=$!
  until grep -q '^running$' "$scratch/err"; do
    kill -0 $loading || fail "the program has ended by itself"
    sleep 0.1
  done
}

# An interrupt ends the program too.
interrupt() {
  local status=0
  kill -s INT $loading
  wait $loading || status=$?
  [ "$status" = 130 ] || fail "status $status after an interrupt while it ${1}s" # of SIGINT
  says 'ended by a signal: Interrupt, in kernel _start'
  [ "$(cat "$scratch/out")" = before ] || fail "what was printed before the interrupt is lost"
}
begin hang
interrupt hang

# While nothing prints, the thread that serves hardly runs: its time in ns, and how often it went to sleep. How long a
# look takes depends on what else the machine does, how many there are does not.
service_use() {
  local task
  for task in /proc/$loading/task/*; do
    [ "$(cat "$task/comm")" != amdgpu-service ] ||
      echo "$(cut -d' ' -f1 "$task/schedstat") $(sed -n 's/^voluntary_ctxt_switches:\t//p' "$task/status") $(date +%s%N)"
  done
}
if [ "$version" = 18 ]; then
  begin hang
  sleep 2 # with ever longer pauses
  before=$(service_use)
  sleep 2
  after=$(service_use)
  interrupt hang
  # At most one look in 4 ms (there is one in 8), and 5 % of a core.
  echo "$before $after" | awk '{ ns = $6 - $3; if (NF != 6 || $4 - $1 > ns / 20 || $5 - $2 > ns / 4e6) exit 1 }' ||
    fail "the idle service thread is busy: ns, looks and clock \"$before\", then \"$after\""
fi

# An interrupt also ends a program that waits for input, and the time limit while nobody takes its output.
if [ "$version" = 18 ]; then
  echo x | "$gfxsim_run" --devices="$gfx" "$loader" "$image" read >"$scratch/out" 2>"$scratch/err" && fail "no status 41" || [ $? = 41 ] ||
    fail "wrong status after one byte of standard input"
  start 40 "$image" read
  begin read
  interrupt read
fi
# ThreadSanitizer itself waits for the stream when a process ends.
if [ "$sanitizer" != thread ]; then
  for limit in 2 8 32; do # until the output does not fit any more
    status=0
    timeout -k 1 $((limit + 60)) "$gfxsim_run" --devices="$gfx" --cus=8 "$loader" --timeout $limit --threads 64 --blocks 200 "$image" places \
      >"$fifo" 2>"$scratch/err" || status=$?
    [ "$status" = 124 ] || fail "status $status where nobody takes the output"
    [ -s "$scratch/err" ] || break
  done
  [ ! -s "$scratch/err" ] || fail "words where nobody takes the output"
fi
exec 9>&-
rm "$fifo"

# Arguments and environment; options behind the image are the program's.
MY_ONE=1 MY_TWO='2 2' start 0 "$image" arguments --threads 'with space' ''
grep -v '^MY_' "$scratch/out" >"$scratch/words"
printf '%s\n' "$image" arguments --threads 'with space' '' end | diff - "$scratch/words" >&2 || fail "wrong arguments"
# Variables come in the order of the shell that set them.
grep '^MY_' "$scratch/out" | sort >"$scratch/words"
printf '%s\n' MY_ONE=1 'MY_TWO=2 2' | diff - "$scratch/words" >&2 || fail "wrong environment"

# A megabyte of arguments; no environment but what makes the loader find the simulated GPU.
long=$(printf '%0100000d' 0)
start 0 "$image" length "$long" "$long" "$long" "$long" "$long" "$long" "$long" "$long" "$long" "$long" $(seq 1000 2999)
grep -qx '2012 arguments of 1008006 bytes, [0-9]* variables' "$scratch/out" || fail "long arguments are wrong"
mapfile -t environment < <("$gfxsim_run" --devices="$gfx" --cus=8 --print-environment)
[ "$sanitizer" != thread ] || environment+=("TSAN_OPTIONS=$TSAN_OPTIONS")
env -i "${environment[@]}" "$loader" "$image" length >"$scratch/out" 2>"$scratch/err" || fail "does not run without environment"
grep -qx "2 arguments of 6 bytes, ${#environment[@]} variables" "$scratch/out" || fail "a small environment is wrong"

# The clock's frequency is told, and right: two seconds by it are about two seconds.
SECONDS=0
start 0 "$image" clock
[ "$(cat "$scratch/out")" = "100000000 Hz
end" ] || fail "the clock's frequency is wrong"
[ $SECONDS -ge 2 ] || fail "two seconds by the device's clock took $SECONDS"

# Standard output that nobody reads, that is closed, and that is full.
status=0
"$gfxsim_run" --devices="$gfx" "$loader" --threads 64 --blocks 200 "$image" places 2>"$scratch/err" | head -n 1 >"$scratch/out" ||
  status=${PIPESTATUS[0]}
[ -s "$scratch/out" ] || fail "nothing written before the pipe was closed"
for output in '&-' /dev/full; do
  status=0
  sh -c "exec \"\$@\" >$output" sh "$gfxsim_run" --devices="$gfx" "$loader" "$image" arguments 2>"$scratch/err" || status=$?
  [ $status = 1 ] || fail "status $status with standard output to $output"
  says 'cannot write standard output'
done

# Services, in one lane and in many.
start 0 "$image" stderr
[ "$(cat "$scratch/err")" = error ] || fail "nothing on stderr"
start 0 "$image" files "$scratch/file"
[ "$(wc -c <"$scratch/file")" = 2999 ] || fail "the file is wrong"
for threads in 1 3 64 65 256; do
  start 0 --threads $threads --blocks=40 "$image" echo
done

# places BLOCKS THREADS: each thread of the grid says where it is, once.
places() {
  local bx by bz tx ty tz
  read -r bx by bz tx ty tz <<<"$*"
  start 0 --blocks-x $bx --blocks-y $by --blocks-z $bz --threads-x $tx --threads-y $ty --threads-z $tz "$image" places
  awk -v bx="$bx" -v by="$by" -v bz="$bz" -v tx="$tx" -v ty="$ty" -v tz="$tz" 'BEGIN {
    for (x = 0; x < bx; x++) for (y = 0; y < by; y++) for (z = 0; z < bz; z++)
      for (i = 0; i < tx; i++) for (j = 0; j < ty; j++) for (k = 0; k < tz; k++)
        print "block", x, y, z, "thread", i, j, k, "of", tx
  }' | sort | diff -q - <(sort "$scratch/out") >&2 || fail "not every thread said its place once: $*"
}
places 1 1 1 1 1 1
places 8 1 1 256 1 1
places 2 3 2 4 3 2

# The command line.
start 2
[ "$(cat "$scratch/err")" = "amdhsa-loader: no image file provided (try --help)" ] || fail "not told what is missing"
[ ! -s "$scratch/out" ] || fail "words on standard output"
start 0 --help
grep -q '^usage: amdhsa-loader' "$scratch/out" || fail "no usage"
start 0 --version
start 2 --threads
says 'needs a value'
start 2 --threads=0 "$image"
says 'no number from 1 to 1024'
start 2 --threads 1025 "$image"
start 2 --threads 99999999999999999999 "$image"
start 2 --blocks -1 "$image"
start 1 --blocks 4294967295 --threads 2 "$image"
says 'more than 32 bits can count'
start 2 --timeout nan "$image"
start 2 --threads 1x "$image"
start 2 --frobnicate "$image"
says 'unknown option --frobnicate'
start 1 /nonexistent
says "failed to open image file '/nonexistent'"
start 1 "$here"
says 'Is a directory'
for other in "$here/loader.sh" "$loader" /dev/null; do # a host's program, too
  start 1 "$other"
  says 'no ELF file'
done
start 1 "$scratch/empty" # as an image of OpenMP
says 'has no kernel _begin; was it linked with LLVM libc'
start 1 --device 9 "$image"
says 'there is no device 9'
start 1 --threads 1024 --threads-y 2 "$image" places
says 'threads per block'
start 0 --print-resource-usage "$image" return 0
says '^_start: VGPRs [0-9]'
"$gfxsim_run" --devices="$gfx" "$loader" - return 7 <"$image" >"$scratch/out" 2>"$scratch/err" && fail "no status 7" || [ $? = 7 ] ||
  fail "the image is not read from standard input"
other=gfx906
[ "$gfx" != gfx906 ] || other=gfx90a
"$gfxsim_run" --devices="$other" "$loader" "$image" return 0 >"$scratch/out" 2>"$scratch/err" && fail "runs on $other"
says "it is for $gfx.*, the device is $other"
# Two devices, of which one is right.
two() { "$gfxsim_run" --devices="$other,$gfx" "$loader" "$@" >"$scratch/out" 2>"$scratch/err"; }
two "$image" return 7 && fail "no status 7" || [ $? = 7 ] || fail "the device that the image is for is not found"
two --device 1 "$image" return 7 && fail "no status 7" || [ $? = 7 ] || fail "does not run on the second device"
two --device 0 "$image" return 7 && fail "runs on $other" || [ $? = 1 ] || fail "the wrong device has the wrong status"
says "it is for $gfx.*, the device is $other"
