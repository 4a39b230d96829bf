/* amdhsa-loader: reads the image, runs it, and ends as the program ended. */
#include "options.h"
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_TIMEOUT = 124, SECONDS_TO_SPEAK = 2 };

/* ---- the image ---- */

static void *read_all(FILE *file, size_t *bytes) {
  size_t capacity = 1 << 20;
  char *content = malloc(capacity);
  *bytes = 0;
  while (content) {
    *bytes += fread(content + *bytes, 1, capacity - *bytes, file);
    if (*bytes < capacity)
      break;
    capacity *= 2;
    char *longer = realloc(content, capacity);
    if (!longer)
      free(content);
    content = longer;
  }
  if (content && ferror(file)) {
    free(content);
    content = NULL;
  }
  return content;
}

static void *read_image(const char *name, size_t *bytes) {
  FILE *file = strcmp(name, "-") ? fopen(name, "rb") : stdin;
  errno = file ? 0 : errno;
  void *image = file ? read_all(file, bytes) : NULL;
  if (!image)
    fprintf(stderr, "amdhsa-loader: failed to open image file '%s': %s\n", name,
            strerror(errno ? errno : ENOMEM));
  if (file && file != stdin)
    fclose(file);
  return image;
}

/* ---- signals and the time limit ---- */

typedef struct watch {
  sigset_t signals;
  double time_limit;
  loader_state_t state;
  int number; /* of the signal; 0: the time is over */
  sem_t said; /* the last words */
} watch_t;

/* Waits for a signal; 0 when the time is over. */
static int wait_for_signal(const watch_t *watch) {
  int number = 0;
  if (watch->time_limit <= 0)
    return sigwait(&watch->signals, &number) ? SIGTERM : number;
  struct timespec now, end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  time_t seconds = (time_t)watch->time_limit;
  end.tv_sec += seconds;
  end.tv_nsec += (long)((watch->time_limit - (double)seconds) * 1e9);
  for (;;) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    double left = (double)(end.tv_sec - now.tv_sec) + (double)(end.tv_nsec - now.tv_nsec) * 1e-9;
    if (left <= 0)
      return 0;
    const struct timespec wait = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
    number = sigtimedwait(&watch->signals, NULL, &wait);
    if (number > 0)
      return number;
  }
}

/* What was printed so far, and why there is no more. */
static void *last_words(void *data) {
  watch_t *watched = data;
  const char *kernel = atomic_load(&watched->state.running);
  fflush(stdout);
  if (!watched->number)
    fprintf(stderr, "amdhsa-loader: the program was ended after %g seconds%s%s\n", watched->time_limit,
            *kernel ? ", in kernel " : "", kernel);
  else
    fprintf(stderr, "amdhsa-loader: ended by a signal: %s%s%s\n", strsignal(watched->number),
            *kernel ? ", in kernel " : "", kernel);
  fflush(stderr);
  sem_post(&watched->said);
  return NULL;
}

/* Another thread speaks, since nobody may read what it writes, or a thread that waits for a reader may have
 * the stream's lock. The GPU may be busy for good, so nothing of it is released: the process just ends. */
static void *watch(void *data) {
  watch_t *watched = data;
  pthread_t speaker;
  struct timespec end;
  watched->number = wait_for_signal(watched);
  sem_init(&watched->said, 0, 0);
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += SECONDS_TO_SPEAK;
  if (!pthread_create(&speaker, NULL, last_words, watched))
    while (sem_timedwait(&watched->said, &end) && errno == EINTR)
      ;
  if (!watched->number)
    _exit(STATUS_TIMEOUT);
  signal(watched->number, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &watched->signals, NULL);
  raise(watched->number);
  _exit(STATUS_FAILED);
}

/* From now on signals go to a thread of their own. Before HSA makes its threads. */
static void start_watch(watch_t *watched) {
  pthread_t thread;
  sigemptyset(&watched->signals);
  sigaddset(&watched->signals, SIGINT);
  sigaddset(&watched->signals, SIGTERM);
  sigaddset(&watched->signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &watched->signals, NULL);
  int error = pthread_create(&thread, NULL, watch, watched);
  if (!error)
    pthread_detach(thread);
  else
    pthread_sigmask(SIG_UNBLOCK, &watched->signals, NULL);
}

/* ---- the end ---- */

/* Output that could not be written must not look like success: the program may have been told that all is
 * well, since what it writes is collected first. Runs last, as it was registered first. */
static void check_output(void) {
  errno = 0;
  if (!fflush(stdout) && !ferror(stdout))
    return;
  fprintf(stderr, "amdhsa-loader: cannot write standard output: %s\n",
          errno ? strerror(errno) : "some of it is lost");
  _exit(STATUS_FAILED);
}

/* ---- everything ---- */

int main(int argc, char **argv) {
  static watch_t watched; /* its thread lives as long as the process */
  static char *no_environment[] = {NULL};
  loader_options_t options;
  switch (loader_options_parse(argc, argv, &options)) {
  case LOADER_RUN: break;
  case LOADER_DONE: return 0;
  case LOADER_USAGE_ERROR: return STATUS_USAGE;
  }
  size_t bytes;
  void *image = read_image(argv[options.image], &bytes);
  if (!image)
    return STATUS_FAILED;
  atexit(check_output);
  watched.time_limit = options.time_limit;
  atomic_store(&watched.state.running, "");
  start_watch(&watched);
  atmi_env_t env;
  atmi_env_load(no_environment, &env);
  env.debug = 1; /* say why there is no GPU */
  env.stack_bytes = options.stack_bytes;
  atmi_machine_t machine;
  int result = 0;
  atmi_status_t status = atmi_machine_init(&env, &machine);
  if (!status) {
    atmi_machine_begin(&machine);
    status = loader_program_run(&machine, &options, image, bytes, argv + options.image, environ,
                                &watched.state, &result);
  }
  fflush(stdout);
  if (status == ATMI_LOST)
    exit(STATUS_FAILED);
  atmi_machine_fini(&machine);
  free(image);
  return status ? STATUS_FAILED : result & 0xff;
}
