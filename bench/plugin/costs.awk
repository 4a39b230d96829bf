# Reads callgrind profiles (one per thread, --compress-strings=no --compress-pos=no) and prints what the plugin's
# calls cost: instructions in the plugin and the libraries that it calls, and in ROCr without the thunk below it.
#   awk -v plugin=PATH -v prefix=TEXT -v count=OPERATIONS -f costs.awk profile...
# A thread that never enters the plugin counts nothing: ROCr's and the simulator's own threads.

function base(path) { sub(/.*\//, "", path); return path }

function kind_of(path, name) {
  if (path == plugin) return "plugin"
  name = base(path)
  if (name ~ /^libhsa-runtime64/) return "rocr"
  if (name ~ /^libhsakmt/) return "thunk"
  return "other"
}

function end_thread() {
  if (self > 0) {
    own += self + library
    rocr += into_rocr - into_thunk
  }
  self = library = into_rocr = into_thunk = 0
}

FNR == 1 { end_thread(); object = callee = ""; call = 0 }
/^ob=/ { object = kind_of(substr($0, 4)); next }
/^cob=/ { callee = kind_of(substr($0, 5)); next }
/^cfn=/ { into_start = /__libc_start_main/; next } # of a program that is counted itself
/^calls=/ { call = 1; next }
/^[0-9+*-]/ {
  if (!call) {
    if (object == "plugin") self += $2
    next
  }
  to = callee == "" ? object : callee
  if (object == "plugin" && to == "rocr") into_rocr += $2
  else if (object == "plugin" && to == "other" && !into_start) library += $2
  else if (object == "rocr" && to == "thunk") into_thunk += $2
  call = 0
  callee = ""
}
END { end_thread(); printf "%s %.0f/%.0f\n", prefix, own / count, rocr / count }
