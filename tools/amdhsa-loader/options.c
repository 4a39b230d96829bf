/* The command line: one table of options. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: amdhsa-loader [option ...] image [argument ...]\n"
    "\n"
    "Runs a whole program on an AMD GPU, as LLVM's amdhsa-loader does: an image linked from LLVM libc's "
    "start-up\n"
    "code for amdgcn. Arguments and environment go to the program, its exit status comes back.\n"
    "\n"
    "  --threads N, --threads-x N     threads per block of the program's main kernel; also --threads-y, "
    "--threads-z\n"
    "  --blocks N, --blocks-x N       blocks; also --blocks-y, --blocks-z\n"
    "  --device N                     GPU to use, from 0; default: the first one that the image is for\n"
    "  --timeout SECONDS              end the program after this time, with exit status 124\n"
    "  --stack-size BYTES             stack of a thread where the compiler could not tell (default 16384)\n"
    "  --rpc-version 17|18            LLVM version of the image's libc, if it is not recognised\n"
    "  --print-resource-usage         registers, memory and arguments of each kernel, on standard error\n"
    "  --help, --version\n"
    "\n"
    "Options are also accepted as --option=value. The image may be - for standard input. Exit status: the\n"
    "program's own; 1 after a failure or GPU fault, 2 after a wrong command line, 124 after a timeout; "
    "ended by SIGABRT if the program aborts.\n";

typedef enum kind { NUMBER32, NUMBER64, INTEGER, SECONDS, FLAG, HELP, VERSION } kind_t;

typedef struct row {
  const char *name;
  kind_t kind;
  size_t field;
  int64_t least, most;
} row_t;

#define FIELD(name)  offsetof(loader_options_t, name)
#define BLOCKS_MOST  UINT32_MAX
#define THREADS_MOST 1024
static const row_t table[] = {
    {"--threads", NUMBER32, FIELD(threads[0]), 1, THREADS_MOST},
    {"--threads-x", NUMBER32, FIELD(threads[0]), 1, THREADS_MOST},
    {"--threads-y", NUMBER32, FIELD(threads[1]), 1, THREADS_MOST},
    {"--threads-z", NUMBER32, FIELD(threads[2]), 1, THREADS_MOST},
    {"--blocks", NUMBER32, FIELD(blocks[0]), 1, BLOCKS_MOST},
    {"--blocks-x", NUMBER32, FIELD(blocks[0]), 1, BLOCKS_MOST},
    {"--blocks-y", NUMBER32, FIELD(blocks[1]), 1, BLOCKS_MOST},
    {"--blocks-z", NUMBER32, FIELD(blocks[2]), 1, BLOCKS_MOST},
    {"--device", NUMBER64, FIELD(device), 0, INT32_MAX},
    {"--stack-size", NUMBER64, FIELD(stack_bytes), 0, 1 << 20},
    {"--rpc-version", INTEGER, FIELD(rpc_version), 17, 18},
    {"--timeout", SECONDS, FIELD(time_limit), 0, INT32_MAX},
    {"--print-resource-usage", FLAG, FIELD(print_resource_usage), 0, 0},
    {"--help", HELP, 0, 0, 0},
    {"-h", HELP, 0, 0, 0},
    {"--version", VERSION, 0, 0, 0},
};

/* The option that a word names; `*value` is what follows its '=', or NULL. */
static const row_t *find_option(const char *word, const char **value) {
  size_t length = strcspn(word, "=");
  *value = word[length] ? word + length + 1 : NULL;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strlen(table[i].name) == length && !memcmp(table[i].name, word, length))
      return &table[i];
  return NULL;
}

static bool store(const row_t *row, const char *text, loader_options_t *options) {
  void *field = (char *)options + row->field;
  char *end;
  errno = 0;
  double seconds = row->kind == SECONDS ? strtod(text, &end) : 0;
  long long number = row->kind == SECONDS ? (long long)seconds : strtoll(text, &end, 10);
  if (end == text || *end || errno || isspace((unsigned char)*text) || number < row->least ||
      number > row->most)
    return false;
  switch (row->kind) {
  case NUMBER32: *(uint32_t *)field = (uint32_t)number; break;
  case NUMBER64: *(int64_t *)field = number; break;
  case INTEGER: *(int *)field = (int)number; break;
  case SECONDS: *(double *)field = seconds; break;
  default: break;
  }
  return true;
}

static loader_next_t fail(const char *format, const char *word, const char *value) {
  fputs("amdhsa-loader: ", stderr);
  fprintf(stderr, format, word, value);
  fputs(" (try --help)\n", stderr);
  return LOADER_USAGE_ERROR;
}

/* An option with a value takes the next word if it has none of its own. */
static loader_next_t take(const row_t *row, const char *value, char **argv, int *index,
                          loader_options_t *options) {
  const char *word = argv[(*index)++];
  switch (row->kind) {
  case HELP: fputs(usage, stdout); return LOADER_DONE;
  case VERSION:
    puts("amdhsa-loader " LOADER_VERSION ", for images of LLVM libc 17 and 18");
    return LOADER_DONE;
  case FLAG:
    if (value)
      return fail("%s takes no value", word, value);
    *(bool *)((char *)options + row->field) = true;
    return LOADER_RUN;
  default: break;
  }
  if (!value && !(value = argv[*index]))
    return fail("%s needs a value", word, "");
  if (value == argv[*index])
    (*index)++;
  if (store(row, value, options))
    return LOADER_RUN;
  fprintf(stderr, "amdhsa-loader: %s: \"%s\" is no number from %lld to %lld (try --help)\n", row->name, value,
          (long long)row->least, (long long)row->most);
  return LOADER_USAGE_ERROR;
}

loader_next_t loader_options_parse(int argc, char **argv, loader_options_t *options) {
  *options =
      (loader_options_t){.threads = {1, 1, 1}, .blocks = {1, 1, 1}, .device = -1, .stack_bytes = 16384};
  int index = 1;
  while (index < argc) {
    const char *value;
    const row_t *row = find_option(argv[index], &value);
    if (!row)
      break;
    loader_next_t next = take(row, value, argv, &index, options);
    if (next != LOADER_RUN)
      return next;
  }
  if (index == argc)
    return fail("%s%s", "no image file provided", "");
  /* An image's name may begin with a dash, if there is such a file. */
  if (argv[index][0] == '-' && argv[index][1] && access(argv[index], F_OK))
    return fail("unknown option %s%s", argv[index], "");
  options->image = index;
  return LOADER_RUN;
}
