/* A program without target regions: its parent and its forked child each open a library that has some, and
 * both offload. Run as "forks_plain LIBRARY". */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

typedef long run_t(int n, long *values);

static int use(const char *path) {
  long values[100] = {0};
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  run_t *run = library ? (run_t *)dlsym(library, "library_run") : NULL;
  if (!run) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  return run(100, values) == 1 && values[7] == 21 ? 0 : 2;
}

int main(int count, char **arguments) {
  int status = -1;
  if (count != 2)
    return 3;
  pid_t child = fork();
  if (child == 0)
    return use(arguments[1]);
  if (use(arguments[1]) || waitpid(child, &status, 0) != child || status)
    return 4;
  puts("forks_plain: both offload");
  return 0;
}
