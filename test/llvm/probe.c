/* Says whether target regions run on a device, and which libomptarget, plugin and thunk are in the process:
 * LLVM's tests would also pass on the host, and on another plugin than the one they are to test. */
#include <omp.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  int host = 1;
#pragma omp target map(from : host)
  host = omp_is_initial_device();
  printf("runs on: %s\n", host ? "host" : "device");

  FILE *maps = fopen("/proc/self/maps", "r");
  if (!maps)
    return 1;
  char line[4096];
  while (fgets(line, sizeof line, maps)) {
    const char *path = strchr(line, '/');
    if (path && (strstr(path, "libomptarget.so") || strstr(path, "libomptarget.rtl.amdgpu") ||
                 strstr(path, "libhsakmt.so")))
      printf("mapped: %s", path);
  }
  fclose(maps);
  return host;
}
