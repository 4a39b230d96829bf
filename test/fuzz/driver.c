/* Runs a fuzz target on mutations of valid inputs, always the same ones:
 *
 *   fuzz_... [--runs=N] [--seed=S] [--keep-messages] [FILE...]
 *
 * FILEs are the inputs to start from; without any, those that the target itself knows. The input that makes a
 * run fail is left in the file fuzz-failure. Messages of the code under test go nowhere unless asked for. Not
 * here: the targets (fuzz_*.c). */
#include "fuzz.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CAPACITY = 1 << 20, SEEDS = 64, MOST_MUTATIONS = 8, DEFAULT_RUNS = 20000 };

typedef struct input {
  uint8_t *bytes;
  size_t size;
} input_t;

static input_t current;      /* for the handler of crashes */
static int messages_fd = -1; /* standard error as it was at the start */

static void say(const char *text) {
  if (write(messages_fd, text, strlen(text)) < 0)
    _exit(EXIT_FAILURE);
}

static void keep_input(void) {
  const int fd = open("fuzz-failure", O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (fd >= 0 && write(fd, current.bytes, current.size) == (ssize_t)current.size)
    say("fuzz: the input is in the file fuzz-failure\n");
}

static void crashed(int signal_number) {
  say(signal_number == SIGALRM ? "fuzz: a run does not end\n" : "fuzz: crash\n");
  keep_input();
  _exit(EXIT_FAILURE);
}

void fuzz_failed(const char *file, int line, const char *what) {
  char text[512];
  (void)snprintf(text, sizeof text, "%s:%d: not so: %s\n", file, line, what);
  say(text);
  keep_input();
  _exit(EXIT_FAILURE);
}

static uint32_t any(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*state >> 32);
}
static uint32_t below(uint64_t *state, size_t limit) {
  return limit ? (uint32_t)((uint64_t)any(state) * limit >> 32) : 0;
}

/* One change of data[0..size); returns the new size. */
static size_t mutate(uint64_t *r, uint8_t *data, size_t size) {
  static const uint32_t interesting[] = {0,      1,      0x7f,       0x80,       0xff,       0x100,
                                         0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
  if (size < 8)
    return size;
  const uint32_t at = below(r, size), word = at & ~3u;
  uint32_t value = interesting[below(r, sizeof interesting / sizeof *interesting)];
  switch (below(r, 8)) {
  case 0: data[at] = (uint8_t)any(r); break;
  case 1: data[at] = (uint8_t)value; break;
  case 2: value = any(r); /* fall through */
  case 3:
    if (word + 4 <= size)
      memcpy(data + word, &value, 4);
    break;
  case 4: return 1 + below(r, size); /* cut short */
  case 5: {                          /* a piece somewhere else */
    const uint32_t from = below(r, size), length = below(r, size - (from > at ? from : at) + 1);
    memmove(data + at, data + from, length);
    break;
  }
  default: data[at] ^= (uint8_t)(1u << below(r, 8)); break;
  }
  return size;
}

static void run(const uint8_t *data, size_t size) {
  /* A copy of exactly this size, so that a sanitizer sees a read beyond the end. */
  uint8_t *copy = malloc(size ? size : 1);
  if (!copy)
    fuzz_failed(__FILE__, __LINE__, "memory for the input");
  memcpy(copy, data, size);
  current = (input_t){copy, size};
  (void)alarm(60);
  (void)LLVMFuzzerTestOneInput(copy, size);
  free(copy);
}

static bool read_input(const char *path, input_t *input) {
  FILE *f = fopen(path, "rb");
  if (f)
    input->size = fread(input->bytes, 1, CAPACITY, f);
  if (!f || fclose(f) != 0) {
    perror(path);
    return false;
  }
  return true;
}

static void run_mutations(const input_t *seeds, size_t count, unsigned long runs, uint64_t seed) {
  uint8_t *data = malloc(CAPACITY);
  if (!data)
    fuzz_failed(__FILE__, __LINE__, "memory for mutations");
  for (size_t i = 0; i < count; i++)
    run(seeds[i].bytes, seeds[i].size);
  for (unsigned long i = 0; i < runs; i++) {
    const input_t *from = &seeds[below(&seed, count)];
    size_t size = from->size;
    memcpy(data, from->bytes, size);
    for (uint32_t k = 1 + below(&seed, MOST_MUTATIONS); k > 0; k--)
      size = mutate(&seed, data, size);
    run(data, size);
  }
  free(data);
}

int main(int argc, char **argv) {
  unsigned long runs = DEFAULT_RUNS;
  uint64_t seed = 1;
  bool keep = false, good = true;
  input_t seeds[SEEDS];
  size_t count = 0;
  messages_fd = dup(STDERR_FILENO);
  for (int i = 1; i < argc && good; i++) {
    if (strncmp(argv[i], "--runs=", 7) == 0)
      runs = strtoul(argv[i] + 7, NULL, 10);
    else if (strncmp(argv[i], "--seed=", 7) == 0)
      seed = strtoull(argv[i] + 7, NULL, 10);
    else if (strcmp(argv[i], "--keep-messages") == 0)
      keep = true;
    else if (count < SEEDS && (seeds[count].bytes = malloc(CAPACITY)) != NULL)
      good = read_input(argv[i], &seeds[count++]);
  }
  for (unsigned number = 0; good && argc > 0 && count < SEEDS && number < SEEDS; number++) {
    seeds[count].bytes = malloc(CAPACITY);
    seeds[count].size = seeds[count].bytes ? fuzz_seed(number, seeds[count].bytes, CAPACITY) : 0;
    if (seeds[count].size == 0) {
      free(seeds[count].bytes);
      break;
    }
    count++;
  }
  if (!keep && !freopen("/dev/null", "w", stderr))
    return EXIT_FAILURE;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* these report crashes better */
  (void)signal(SIGSEGV, crashed);
  (void)signal(SIGBUS, crashed);
  (void)signal(SIGFPE, crashed);
  (void)signal(SIGILL, crashed);
  (void)signal(SIGABRT, crashed);
#endif
  (void)signal(SIGALRM, crashed);
  if (good && count > 0)
    run_mutations(seeds, count, runs, seed);
  for (size_t i = 0; i < count; i++)
    free(seeds[i].bytes);
  (void)printf("%lu mutations of %zu inputs\n", runs, count);
  return good && count > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
