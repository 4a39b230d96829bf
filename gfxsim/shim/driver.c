/* libgfxsim-driver.so: answers what programs ask the kernel about its AMD GPU driver before they use the GPU,
 * as if the driver were loaded: its line in /proc/modules, the state of the module, and that /dev/kfd can be
 * opened. For LD_PRELOAD; every other file is the real one. Not here: anything about GPUs, which is
 * libhsakmt's. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/preload.h"

#define SHIM_EXPORT __attribute__((visibility("default")))

typedef int (*openat_fn_t)(int folder, const char *path, int flags, ...);
typedef FILE *(*fopen_fn_t)(const char *path, const char *mode);
typedef DIR *(*opendir_fn_t)(const char *path);

/* The C library's own functions (or those of another preloaded library), looked up on first use. */
static struct {
  _Atomic(openat_fn_t) openat;
  _Atomic(fopen_fn_t) fopen;
  _Atomic(opendir_fn_t) opendir;
} found;

GS_PRELOAD_FIND(openat, "openat64")
GS_PRELOAD_FIND(fopen, "fopen64")
GS_PRELOAD_FIND(opendir, "opendir")

static int real_openat(int folder, const char *path, int flags, mode_t mode) {
  return find_openat()(folder, path, flags, mode);
}

/* How a path is answered. */
typedef enum answer_kind {
  ANSWER_DEVICE, /* a device that takes everything */
  ANSWER_TEXT,   /* a text, after what the real file has */
  ANSWER_FOLDER, /* a folder without files */
} answer_kind_t;

typedef struct answer {
  const char *path;
  answer_kind_t kind;
  const char *text;
} answer_t;

static const answer_t answer_table[] = {
    {"/dev/kfd", ANSWER_DEVICE, NULL},
    {"/proc/modules", ANSWER_TEXT, "amdgpu 16384 1 - Live 0x0000000000000000\n"},
    {"/sys/module/amdgpu", ANSWER_FOLDER, NULL},
    {"/sys/module/amdgpu/holders", ANSWER_FOLDER, NULL},
    {"/sys/module/amdgpu/initstate", ANSWER_TEXT, "live\n"},
    {"/sys/module/amdgpu/refcnt", ANSWER_TEXT, "1\n"},
};

static const answer_t *find_answer(const char *path) {
  for (size_t i = 0; path && i < sizeof answer_table / sizeof *answer_table; i++)
    if (strcmp(path, answer_table[i].path) == 0)
      return &answer_table[i];
  return NULL;
}

/* Opens what stands in for a file. Returns a descriptor, or -1 with errno. */
static int open_answer(const answer_t *answer, int flags) {
  if (answer->kind == ANSWER_DEVICE)
    return real_openat(AT_FDCWD, "/dev/null", flags, 0);
  if ((flags & O_ACCMODE) != O_RDONLY) {
    errno = EACCES;
    return -1;
  }
  return answer->kind == ANSWER_TEXT ? gs_preload_text(real_openat, answer->path, answer->path, answer->text,
                                                       strlen(answer->text), flags)
                                     : gs_preload_folder(real_openat, answer->path, flags);
}

static int open_any(int folder, const char *path, int flags, mode_t mode) {
  const answer_t *answer = find_answer(path);
  return answer ? open_answer(answer, flags) : real_openat(folder, path, flags, mode);
}

static FILE *fopen_any(const char *path, const char *mode) {
  const answer_t *answer = find_answer(path);
  if (!answer)
    return find_fopen()(path, mode);
  return gs_preload_stream(open_answer(answer, gs_preload_flags(mode)), mode);
}

/* The functions that programs call. */

SHIM_EXPORT int open(const char *path, int flags, ...) {
  GS_PRELOAD_MODE_AFTER(flags, mode)
  return open_any(AT_FDCWD, path, flags, mode);
}

SHIM_EXPORT int open64(const char *path, int flags, ...) {
  GS_PRELOAD_MODE_AFTER(flags, mode)
  return open_any(AT_FDCWD, path, flags, mode);
}

SHIM_EXPORT int openat(int folder, const char *path, int flags, ...) {
  GS_PRELOAD_MODE_AFTER(flags, mode)
  return open_any(folder, path, flags, mode);
}

SHIM_EXPORT int openat64(int folder, const char *path, int flags, ...) {
  GS_PRELOAD_MODE_AFTER(flags, mode)
  return open_any(folder, path, flags, mode);
}

SHIM_EXPORT FILE *fopen(const char *path, const char *mode) {
  return fopen_any(path, mode);
}

SHIM_EXPORT FILE *fopen64(const char *path, const char *mode) {
  return fopen_any(path, mode);
}

SHIM_EXPORT DIR *opendir(const char *path) {
  const answer_t *answer = find_answer(path);
  if (!answer)
    return find_opendir()(path);
  const int folder = open_answer(answer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = folder < 0 ? NULL : fdopendir(folder);
  if (!stream && folder >= 0)
    gs_preload_close(folder);
  return stream;
}
