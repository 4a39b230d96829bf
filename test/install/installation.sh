#!/bin/sh
# installation.sh PART BUILD FOLDER: installs the build into FOLDER and looks at the result as a user would. Parts: tree (where
# things are), file (the plugin's size, exports and dependencies), link (programs that link to the plugin), warnings (what another
# compiler warns of is no error for who builds to install).
set -eu
here=$(CDPATH="" cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH="" cd -- "$here/../.." && pwd)
part=$1
build=$2
folder=$3
cmake=${CMAKE:-cmake}
libdir=${LIBDIR:-lib}
rm -rf "$folder"
mkdir -p "$folder"

fail() {
  echo "installation.sh: $*" >&2
  exit 1
}
same() { # WHAT GOT WANTED
  [ "$2" = "$3" ] || fail "$1: got
$2
expected
$3"
}

case $part in
  tree)
    DESTDIR=$folder/stage "$cmake" --install "$build" --prefix /opt/x --strip >/dev/null
    same "what is in the stage beside the prefix" "$(cd "$folder/stage" && echo * opt/*)" "opt opt/x"
    cd "$folder/stage/opt/x"
    same "the plugin's folder" "$(cd "$libdir/omptarget-amdgpu" && echo *)" \
      "amdgpu-only device host libomptarget-amdgpu.so libomptarget.rtl.amdgpu.nextgen.so libomptarget.rtl.amdgpu.so"
    same "gfxsim's folder" "$(cd "$libdir/gfxsim" && echo *.so.1 libgfxsim* kfd/*)" "libhsakmt.so.1 libgfxsim-check.so libgfxsim-driver.so kfd/libgfxsim-kfd.so"
    same "libraries that a system's linker finds" "$(echo "$libdir"/*.so*)" "$libdir/*.so*"
    ! grep -rl -e "$folder" -e "$root" . || fail "these files name folders of the build"
    [ -s share/gfxsim/openmp.supp ] || fail "the suppressions of what device runtimes do are not there"
    # All that have a version have the same.
    version=$(sed -n 's/^project(.* VERSION \([0-9.]*\) .*/\1/p' "$root/CMakeLists.txt")
    same "version of gfxsim-run" "$(bin/gfxsim-run --version)" "gfxsim-run $version"
    same "version of amdhsa-loader" "$(bin/amdhsa-loader --version | sed 's/,.*//')" "amdhsa-loader $version"
    same "version for pkg-config" "$(sed -n 's/^Version: //p' "$libdir/pkgconfig/omptarget-amdgpu.pc")" "$version"
    same "version for CMake" "$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' "$libdir"/cmake/*/*-version.cmake)" "$version"
    same "version of omp-cc" "$("$root/script/omp-cc" --version | head -n 1)" "omp-cc $version"
    same "version of the packages" "$(sed -n 's/^set(CPACK_PACKAGE_VERSION "\(.*\)")/\1/p' "$build/CPackConfig.cmake")" "$version"
    same "versions of manual pages" "$(sed -n 's/^\.TH .*" ".* \([0-9.]*\)" "User Commands"$/\1/p' share/man/man1/*.1 | tr '\n' ' ')" "$version $version "
    grep -q "^## $version" "$root/CHANGELOG.md" || fail "CHANGELOG.md has no entry for $version"
    grep -qa "omptarget-amdgpu $version" "$libdir/omptarget-amdgpu/libomptarget.rtl.amdgpu.so" || fail "the plugin has another version"
    # A moved tree works, whatever its name; the checker's library is found by ROCr, which has marks for names of its own.
    folder=$(readlink -f "$folder")
    mv "$folder/stage/opt/x" "$folder/moved"
    same "where gfxsim-run looks" "$("$folder/moved/bin/gfxsim-run" --print-environment | sed -n 's/^LD_LIBRARY_PATH=\([^:]*:[^:]*\).*/\1/p')" \
      "$folder/moved/$libdir/gfxsim:$folder/moved/$libdir/omptarget-amdgpu"
    for name in 'plain' 'with blanks' '"with\marks"'; do
      mv "$folder/moved" "$folder/$name"
      for door in thunk kfd; do
        LD_DEBUG=files "$folder/$name/bin/gfxsim-run" --door=$door --check=bounds rocminfo >"$folder/messages" 2>&1 ||
          fail "rocminfo does not run checked in a folder called $name, door $door: $(grep -v '^ *[0-9]*:' "$folder/messages")"
        grep -qF "calling init: $folder/$name/$libdir/gfxsim/libgfxsim-check.so" "$folder/messages" ||
          fail "ROCr has not loaded the checker of a folder called $name, door $door: $(grep LoadLib "$folder/messages")"
      done
      mv "$folder/$name" "$folder/moved"
    done
    ;;
  file)
    "$cmake" --install "$build" --prefix "$folder" --strip >/dev/null
    plugin=$folder/$libdir/omptarget-amdgpu/libomptarget.rtl.amdgpu.so
    same "direct dependencies" "$(readelf -d "$plugin" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')" \
      "libc.so.6 libelf.so.1 "
    same "name" "$(readelf -d "$plugin" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')" "libomptarget.rtl.amdgpu.so"
    same "exports other than __tgt_rtl_*@@VERS1.0" \
      "$(nm -D --defined-only "$plugin" | awk '{ print $3 }' | grep -v -e '^__tgt_rtl_[a-z_]*@@VERS1.0$' -e '^VERS1.0$' || true)" ""
    # Threads of theirs, and of ROCr's in their code, may outlive a dlclose.
    for library in "$plugin" "$folder/$libdir/omptarget-amdgpu/host/libomptarget.so"; do
      readelf -d "$library" | grep -q 'FLAGS_1.*NODELETE' || fail "$library goes with a dlclose"
    done
    # Not limits of anything, but reasons to look what has grown.
    at_most() { # BYTES FILE
      size=$(stat -c %s "$2")
      echo "stripped: $size bytes: $2"
      [ "$size" -le "$1" ] || fail "stripped, $2 has $size bytes, more than $1"
    }
    at_most 180000 "$plugin"
    at_most 250000 "$folder/$libdir/omptarget-amdgpu/host/libomptarget.so"
    ;;
  link)
    # A program that is linked to the plugin uses it, also where the library path has a stock plugin first. The name of the
    # folder may have blanks.
    folder="$folder/installed here"
    "$cmake" --install "$build" --prefix "$folder" >/dev/null
    plugin_dir=$folder/$libdir/omptarget-amdgpu
    PKG_CONFIG_PATH=$folder/$libdir/pkgconfig
    export PKG_CONFIG_PATH
    eval "set -- $(pkg-config --variable=plugindir omptarget-amdgpu)"
    same "plugindir of pkg-config" "$(readlink -f "$1")" "$(readlink -f "$plugin_dir")"
    eval "set -- $(pkg-config --libs omptarget-amdgpu)"
    plugin=$plugin_dir/libomptarget.rtl.amdgpu.so
    for version in 14 15 16; do
      stock=${OMPTARGET_AMDGPU_LLVM_DIR:-$root/build/llvm}/$version/usr/lib/llvm-$version/lib
      program=$folder/vecadd-$version
      "$root/script/omp-cc" -v "$version" -O2 "$root/test/offload/vecadd.c" "$@" -o "$program"
      for first in "$stock" "$folder/$libdir/gfxsim"; do # a stock plugin's folder, and one without a plugin
        LD_LIBRARY_PATH=$first:$folder/$libdir/gfxsim OMP_TARGET_OFFLOAD=MANDATORY CHECK_PLUGIN=$plugin \
          "$program" 2>"$folder/messages" || { cat "$folder/messages" >&2; fail "$program does not run with LD_LIBRARY_PATH=$first"; }
        same "messages with LD_LIBRARY_PATH=$first" "$(cat "$folder/messages")" ""
      done
    done
    # What stands in its way is named.
    echo 'int other;' | cc -shared -Wl,-soname,libomptarget.rtl.amdgpu.so -x c - -o "$folder/other.so"
    LD_PRELOAD=other.so LD_LIBRARY_PATH=$folder OMP_TARGET_OFFLOAD=DISABLED "$program" 2>"$folder/messages" || fail "a program with another plugin does not start"
    grep -q "^AMDGPU warning: this program is linked to use the plugin .*/libomptarget.rtl.amdgpu.so, but $folder/other.so is loaded already" "$folder/messages" ||
      fail "no word about a preloaded plugin: $(cat "$folder/messages")"
    mv "$plugin" "$plugin.away"
    OMP_TARGET_OFFLOAD=DISABLED "$program" 2>"$folder/messages" || fail "a program does not start without the plugin"
    grep -q "^AMDGPU warning: this program is linked to use the plugin .*/libomptarget.rtl.amdgpu.so, which cannot be loaded: " "$folder/messages" ||
      fail "no word about a missing plugin: $(cat "$folder/messages")"
    mv "$plugin.away" "$plugin"
    "$cmake" -S "$here/consumer" -B "$folder/consumer" "-DCMAKE_PREFIX_PATH=$folder" >/dev/null
    "$cmake" --build "$folder/consumer" >/dev/null
    readelf -d "$folder/consumer/consumer" >"$folder/dynamic"
    grep -q 'NEEDED.*libomptarget-amdgpu.so' "$folder/dynamic" || fail "the CMake package does not link the plugin"
    grep -q "R.*PATH.*$plugin_dir" "$folder/dynamic" || fail "the CMake package sets no path to the plugin"
    "$folder/consumer/consumer"
    ;;
  warnings)
    for werror in "" -DOMPTARGET_AMDGPU_WERROR=ON; do
      "$cmake" --fresh -G Ninja -S "$root" -B "$folder/build" -DBUILD_TESTING=OFF ${werror:+"$werror"} >"$folder/log" 2>&1 ||
        { cat "$folder/log" >&2; fail "cannot configure"; }
      # Of the host's code and of the device's.
      same "files compiled with -Werror, with \"$werror\"" \
        "$(grep -c '"command".* -Werror ' "$folder/build/compile_commands.json" || true) $(grep -c 'DEVICE_CFLAGS=-Werror' "$folder/build/build.ninja" || true)" \
        "$([ -z "$werror" ] && echo 0 0 || echo "$(grep -c '"command"' "$folder/build/compile_commands.json")" "$(grep -c 'DEVICE_CFLAGS=' "$folder/build/build.ninja")")"
    done
    grep -q OMPTARGET_AMDGPU_WERROR=ON "$root/script/test" || fail "script/test lets warnings pass"
    ;;
esac
