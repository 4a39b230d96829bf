# shellcheck shell=sh disable=SC2154
# The tables of "time" and "start": sourced by run, which sets up programs, folders and plugins.

# ---- time ----

# statistics FILE [DIGITS] [PART]: of the rounds of each column and row, the median (least-most); with PART 4, the lower
# quartile instead.
statistics() {
  awk '!(($1, $2) in n) { n[$1, $2] = ++keys } { print n[$1, $2], $0 }' "$1" | sort -k1,1n -k4,4n | cut -d ' ' -f 2- | awk '
    function flush() {
      if (n) printf "%s %.*f (%.*f-%.*f)\n", key, digits, v[int((n + part - 1) / part)], digits, v[1], digits, v[n]
    }
    { k = $1 " " $2; if (k != key) { flush(); n = 0; key = k } v[++n] = $3 }
    END { flush() }' digits="${2-1}" part="${3-2}"
}

# A run that fails is said once; what it printed before that counts. Some plugins crash when the process ends.
failed() {
  grep -qx "$1" "$scratch/failed" || echo "bench: $1: a run failed" >&2
  echo "$1" >>"$scratch/failed"
}
: >"$scratch/failed"

# measured COLUMN COMMAND...: its lines "row value" as "column row value".
measured() {
  column=$1
  shift
  "$@" >"$scratch/measured" || failed "$column"
  sed "s/^/$column /" "$scratch/measured"
}

# shellcheck disable=SC2086 # a command and its arguments
on_device() { if [ -n "$card" ]; then LD_LIBRARY_PATH=$folder $first "$@"; else simulated "$@"; fi; }

# On a GPU that takes no time at all, in processor time of the launching thread.
instant() { simulated --deterministic env LD_PRELOAD="$scratch/instant.so" "$@"; }

# What a launch costs the host, with and without the plugin. Runs of one program differ (those of libomptarget 13 alone by
# more than a bare loop takes): so there are many short rounds, and their lower quartile counts, which what other programs
# do meanwhile hardly changes.
launches() {
  : >"$scratch/host"
  for round in $(seq $((5 * rounds))); do
    on ours 0
    measured bare instant "$scratch/bare" work 100000 "$scratch/empty.co" empty
    for version in $present; do
      # shellcheck disable=SC2086 # a command and its arguments
      measured "libomptarget-$version" env LD_LIBRARY_PATH="$scratch/null" $first "$scratch/ops-$version" work 50000 empty
      on ours "$version"
      measured "ours-$version" instant "$scratch/ops-$version" work 50000 empty
    done
  done >>"$scratch/host"
  statistics "$scratch/host" 3 4 >"$scratch/quartiles"
  awk '{ m[$1] = $3 }
    END {
      for (column in m) if (column ~ /^ours-/) {
        alone = m["libomptarget-" substr(column, 6)]
        printf "%s beyond_libomptarget,_of_the_bare_loop %.2f\n", column, (m[column] - alone) / m["bare"]
      }
    }' "$scratch/quartiles" | sort >"$scratch/ratios"
  cat "$scratch/ratios" >>"$scratch/quartiles"
  echo "Microseconds of the host per launch and wait, GPU that takes no time: lower quartile (least-most) of $((5 * rounds)) rounds;"
  echo "libomptarget alone has a plugin that does nothing"
  "$here/table" "$scratch/quartiles"
}

operations() {
  : >"$scratch/times"
  for round in $(seq "$rounds"); do
    on ours 0
    measured bare on_device "$scratch/bare" time 500 "$scratch/empty.co"
    for version in $present; do
      for variant in $(variants "$version"); do
        on "$variant" "$version"
        measured "$variant-$version" on_device "$scratch/ops-$version" time 500
      done
    done
  done >>"$scratch/times"
  statistics "$scratch/times" >"$scratch/medians"
  echo "Microseconds per operation by the clock: median (least-most) of $rounds rounds"
  "$here/table" "$scratch/medians"
}

# The kernel of "empty" in a program of this version.
kernel_of() { strings -a "$scratch/ops-$1" | grep -m 1 -E '^__omp_offloading_.*_empty_l[0-9]+$'; }

# of_classic FILE: rows "complete" as shares of the classic plugin's.
of_classic() {
  awk '$2 == "complete" { m[$1] = $3 }
    END {
      for (column in m) {
        version = column
        sub(/.*-/, "", version)
        if (("classic-" version) in m) printf "%s complete,_of_classic %.2f\n", column, m[column] / m["classic-" version]
      }
    }' "$1" | sort
}

# by_variant NAME DIGITS COMMAND: a round each of all versions and variants takes turns; COMMAND VERSION prints the lines of
# one, with what is to be measured set up. The medians are in $scratch/medians.
by_variant() {
  : >"$scratch/$1"
  for round in $(seq "$rounds"); do
    for version in $present; do
      for variant in $(variants "$version"); do
        on "$variant" "$version"
        measured "$variant-$version" "$3" "$version"
      done
    done
  done >>"$scratch/$1"
  statistics "$scratch/$1" "$2" >"$scratch/medians"
}

# with_ratios: the same, and what of_classic says of them.
with_ratios() {
  of_classic "$scratch/medians" >"$scratch/ratios"
  cat "$scratch/ratios" >>"$scratch/medians"
}

# 100 launches in one queue, then a wait; kernels take 20 us.
stream_of() {
  (export GFXSIM_KERNEL_US=20
    on_device "$scratch/direct" stream 100 20 "$file" "$scratch/ops-$1" "$(kernel_of "$1")")
}

streams() {
  by_variant streams 1 stream_of
  with_ratios
  echo "Microseconds for 100 launches of a kernel of 20 us in one queue: until all are launched, and complete"
  "$here/table" "$scratch/medians"
}

# What the host does while nothing is complete yet: 10 times a copy to the device, a kernel and a copy back, all of 100 us.
pending_of() {
  (export GFXSIM_KERNEL_US=100 GFXSIM_COPY_US=100
    on_device "$scratch/direct" pending 10 20 "$file" "$scratch/ops-$1" "$(kernel_of "$1")")
}

pending() {
  by_variant pending 2 pending_of
  echo "Microseconds: processor time per operation that has begun, with the wait as well, and until all are complete"
  "$here/table" "$scratch/medians"
}

# Regions that may run at once, in a program: its tasks are threads of libomp's.
tasks_of() {
  (export GFXSIM_KERNEL_US=20 LIBOMP_USE_HIDDEN_HELPER_TASK=TRUE
    on_device "$scratch/tasks-$1" 100 20)
}

tasks() {
  by_variant tasks 0 tasks_of
  with_ratios
  echo "Microseconds for 100 regions with nowait, then a taskwait, kernels of 20 us: median (least-most) of $rounds rounds"
  "$here/table" "$scratch/medians"
}

copies() {
  : >"$scratch/copies"
  for round in $(seq "$few_rounds"); do
    on ours 0
    [ -n "$card" ] || measured "bare,_in_call" simulated --deterministic "$scratch/bare" copies 0 "$scratch/empty.co"
    for version in $present; do
      on ours "$version"
      [ -n "$card" ] || measured "ours-$version,_in_call" simulated --deterministic "$scratch/copies-$version" work
    done
    on ours 0
    measured bare on_device "$scratch/bare" copies 0 "$scratch/empty.co"
    for version in $present; do
      for variant in $(variants "$version"); do
        on "$variant" "$version"
        measured "$variant-$version" on_device "$scratch/copies-$version" time
      done
    done
  done | awk '{ print $1, $2, $4 }' >>"$scratch/copies"
  statistics "$scratch/copies" 2 >"$scratch/medians"
  echo "Large copies: rate as a share of memcpy's, which takes turns with them: median (least-most) of $few_rounds rounds;"
  echo "\"in call\": processor time, where the program's own thread does what the DMA engine does"
  "$here/table" "$scratch/medians"
}

threads() {
  : >"$scratch/threads"
  version=${present##* }
  on ours "$version"
  for round in $(seq "$rounds"); do
    for count in 1 2 8; do
      export LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUES=8
      measured "threads-$count" instant "$scratch/direct" threads "$count" 200000 "$file" "$scratch/ops-$version" \
        "$(kernel_of "$version")"
      unset LIBOMPTARGET_AMDGPU_NUM_HSA_QUEUES
    done
  done >>"$scratch/threads"
  statistics "$scratch/threads" >"$scratch/medians"
  awk -v cores="$(nproc)" '{ m[$1 " " $2] = $3 }
    END {
      one = m["threads-1 clock"]
      for (count = 2; count <= 8; count *= 4) {
        used = count < cores ? count : cores
        printf "threads-%d throughput_per_core,_of_one_thread %.2f\n", count, one / m["threads-" count " clock"] / used
        printf "threads-%d processor,_one_thread/this %.2f\n", count, m["threads-1 processor"] / m["threads-" count " processor"]
      }
    }' "$scratch/medians" >"$scratch/ratios"
  cat "$scratch/ratios" >>"$scratch/medians"
  echo "Nanoseconds per launch and wait, threads of one process on one device that takes no time, $(nproc) processors"
  "$here/table" "$scratch/medians"
}

# ---- start to end ----
# started COLUMN COMMAND...: milliseconds and peak resident memory of a program.
started() {
  column=$1
  shift
  begin=$(date +%s%N)
  "$@" >"$scratch/peak" || failed "$column"
  echo "$column milliseconds $((($(date +%s%N) - begin) / 10000))"
  echo "$column peak_memory,_MiB $(awk '{ printf "%.0f", 100 * $NF / 1024 }' "$scratch/peak")"
}

# Prints its own peak, in KiB, when the program is over.
peak_of() { on_device env time -f %M -o "$scratch/peak.out" "$@"; tail -n 1 "$scratch/peak.out"; }

programs() {
  : >"$scratch/starts"
  for round in $(seq "$rounds"); do
    for version in $present; do
      for variant in only $(variants "$version"); do
        on "$variant" "$version"
        started "$variant-$version" peak_of "$scratch/first-$version"
      done
    done
  done | awk '{ print $1, $2, $3 / 100 }' >>"$scratch/starts"
  statistics "$scratch/starts" >"$scratch/medians"
  for version in $present; do
    for variant in $(variants "$version"); do
      on "$variant" "$version"
      strip -o "$scratch/stripped" "$file"
      echo "$variant-$version file,_kB $(awk -v n="$(stat -c %s "$scratch/stripped")" 'BEGIN { printf "%.0f", n / 1000 }')"
    done
  done >>"$scratch/medians"
  echo "A program with one empty region, from start to end; \"only\": ours, with no others (amdgpu-only)"
  "$here/table" "$scratch/medians"
}

starts() {
  : >"$scratch/starts"
  for version in $present; do
    for variant in only $(variants "$version"); do
      on "$variant" "$version"
      instructions=$(counted --callgrind-out-file="$scratch/start" "$scratch/first-$version" >&2 2>&1
        sed -n 's/^summary: //p' "$scratch/start")
      echo "$variant-$version instructions $(awk -v n="$instructions" 'BEGIN { printf "%.1f million", n / 1e6 }')"
      callgrind_annotate --show=Ir --threshold=100 "$scratch/start" >"$scratch/annotated" 2>/dev/null
      for part in ld-linux libhsa-runtime64 libhsakmt libomptarget.rtl.amdgpu libomptarget.so; do
        echo "$variant-$version of_these_in_$part $(part_of "$part" <"$scratch/annotated") million"
      done
    done >>"$scratch/starts"
  done
  echo "Instructions of a program with one empty region, from start to end; \"only\": ours, with no others (amdgpu-only)"
  "$here/table" "$scratch/starts"
}

# The instructions that the functions of one library took, in millions.
part_of() {
  awk -v part="/$1" '/\[[^]]*\]$/ && index($NF, part) { gsub(/,/, "", $1); sum += $1 } END { printf "%.2f", sum / 1e6 }'
}
