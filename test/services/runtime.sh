# Sourced by the scripts of this folder: $runtime is the libomptarget that programs of clang $version run with.
runtime=${SERVICES_RUNTIME-stock}
[ "$version" -lt 19 ] || runtime=ours # LLVM 19 has no plugins that can be opened
