#!/bin/sh
# plugin_only.sh FOLDER GFXSIM_RUN PLUGINS: with the plugins in the folder PLUGINS, programs under libomptarget 13 and 14 run on
# the device, and the process never has libLLVM, which it has with all plugins. FOLDER is for files.
set -eu
folder=$1 gfxsim_run=$2 plugins=$3
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
mkdir -p "$folder"
cat >"$folder/only.c" <<'PROGRAM'
#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  int on_host = 1, has_llvm = 0;
#pragma omp target map(from : on_host)
  on_host = omp_is_initial_device();
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    has_llvm |= strstr(line, "libLLVM") != NULL;
  printf("host %d llvm %d devices %d\n", on_host, has_llvm, omp_get_num_devices());
  return 0;
}
PROGRAM
for version in 13 14; do
  "$root/script/omp-cc" -v "$version" -g gfx906 "$folder/only.c" -o "$folder/only-$version"
  said=$("$gfxsim_run" --devices=gfx906 --plugin="$plugins" "$folder/only-$version")
  [ "$said" = "host 0 llvm 0 devices 1" ] || { echo "plugin_only.sh: libomptarget $version: $said" >&2; exit 1; }
done
# That it makes a difference. Those of 13 may lack their libLLVM.
said=$("$gfxsim_run" --devices=gfx906 "$folder/only-14")
case $said in "host 0 llvm 1 devices "*) ;; *) echo "plugin_only.sh: all plugins of libomptarget 14: $said" >&2; exit 1 ;; esac
