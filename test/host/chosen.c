/* Which GPUs are devices: counts them, and asks each for its number. With a library as argument, which is
 * opened after a fork, it is that one's regions that run, in a child, too. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void *find(void *library, const char *name) {
  void *address = dlsym(library, name);
  if (!address)
    exit(3);
  return address;
}

static void ask_each(void) {
  /* Headers of clang 19 do not have them. */
  union {
    void *address;
    const char *(*function)(int);
  } name = {find(RTLD_DEFAULT, "omp_get_uid_from_device")};
  union {
    void *address;
    int (*function)(const char *);
  } number_of = {find(RTLD_DEFAULT, "omp_get_device_from_uid")};
  for (int device = 0; device < omp_get_num_devices(); device++) {
    int number = -1, is_host = 1;
    static char large[4 << 20]; /* is pinned for the copies, and each device must reach it */
#pragma omp target device(device) map(from : number, is_host) map(tofrom : large)
    {
      large[sizeof large - 1]++;
      number = omp_get_device_num();
      is_host = omp_is_initial_device();
    }
    printf("device %d: number %d%s, count %d, by its name %d\n", device, number,
           is_host ? " of the host" : "", large[sizeof large - 1], number_of.function(name.function(device)));
  }
}

static void call(const char *path, const char *who) {
  union {
    void *address;
    int (*function)(int);
  } add = {find(dlopen(path, RTLD_NOW), "add_on_device")};
  printf("%s: %d devices, %d\n", who, omp_get_num_devices(), add.function(1));
  fflush(stdout);
}

int main(int argc, char **argv) {
  printf("%d devices\n", omp_get_num_devices());
  fflush(stdout);
  if (argc < 2) {
    ask_each();
    return 0;
  }
  for (int i = 0; i < 2; i++) {
    int status;
    pid_t child = fork();
    if (!child) {
      call(argv[1], "child");
      _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status)
      return 1;
  }
  call(argv[1], "parent");
  return 0;
}
