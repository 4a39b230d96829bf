# Reads callgrind profiles (one per thread, --compress-strings=no --compress-pos=no) and prints what a program's calls of
# libomptarget cost: instructions in it and the libraries that it calls / in the plugin and those that it calls / in ROCr
# without the thunk below it, its own threads included. What libomp does is not counted, nor what other libraries do for
# it: libomptarget asks it for the default device, and it finds its thread by a call of the dynamic linker.
#   awk -v library=PATH -v plugin=PATH -v prefix=TEXT -v count=OPERATIONS -f costs.awk profile...
# From LLVM 19 on the plugin is inside libomptarget, as it is in this project's: then the second number is 0.

function kind_of(path, name) {
  if (path == library) return "library"
  if (path == plugin) return "plugin"
  name = path
  sub(/.*\//, "", name)
  if (name ~ /^libhsa-runtime64/) return "rocr"
  if (name ~ /^libhsakmt/) return "thunk"
  return name ~ /^libomp\./ ? "libomp" : path == program ? "above" : "other"
}

# A thread of the program's: what its calls into ROCr, and the plugin's and the thunk's into other libraries, took inside;
# all else that is neither above libomptarget nor the thunk is libomptarget's or its libraries'. (The thunk is not only
# called: packets are processed in the handler of the doorbell's fault.) Other threads are ROCr's, or the simulator's.
function end_thread() {
  if (self["library"] > 0) {
    beyond = into["plugin", "other"] + self["plugin"]
    own += self["library"] + self["other"] - within_rocr()
    own -= into["plugin", "other"] + into["thunk", "other"] + into["libomp", "other"]
    plugged += beyond
    rocr += into_rocr - into["rocr", "thunk"]
  } else if (self["rocr"] > 0) rocr += self["rocr"] + into["rocr", "other"]
  delete self
  delete into
  into_rocr = 0
}

# What other libraries did for ROCr.
function within_rocr() { return into_rocr - into["rocr", "thunk"] - self["rocr"] }

FNR == 1 { end_thread(); object = callee = ""; call = 0 }
/^ob=/ { object = kind_of(substr($0, 4)); next }
/^cob=/ { callee = kind_of(substr($0, 5)); next }
/^calls=/ { call = 1; next }
/^[0-9+*-]/ {
  if (!call) {
    self[object] += $2
    next
  }
  to = callee == "" ? object : callee
  if (to != object) {
    into[object, to] += $2
    if (to == "rocr" && object != "thunk") into_rocr += $2
  }
  call = 0
  callee = ""
}
END { end_thread(); printf "%s %.0f/%.0f/%.0f\n", prefix, own / count, plugged / count, rocr / count }
