/* libgfxsim-driver.so: answers what programs ask the kernel about its AMD GPU driver before they use the GPU,
 * as if the driver were loaded: its line in /proc/modules, the state of the module, and that /dev/kfd can be
 * opened. For LD_PRELOAD; every other file is the real one. Not here: anything about GPUs, which is
 * libhsakmt's. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHIM_EXPORT __attribute__((visibility("default")))

typedef int (*openat_fn_t)(int folder, const char *path, int flags, ...);
typedef FILE *(*fopen_fn_t)(const char *path, const char *mode);
typedef DIR *(*opendir_fn_t)(const char *path);

/* The C library's own functions (or those of another preloaded library), looked up on first use. */
static struct {
  _Atomic(openat_fn_t) openat;
  _Atomic(fopen_fn_t) fopen;
  _Atomic(opendir_fn_t) opendir;
} real;

/* Defines real_<name>(). C has no conversion from dlsym's result to a function: POSIX does it through memory.
 */
#define DEFINE_REAL(name, symbol)                                                                            \
  static name##_fn_t real_##name(void) {                                                                     \
    name##_fn_t function = atomic_load_explicit(&real.name, memory_order_relaxed);                           \
    if (!function) {                                                                                         \
      *(void **)&function = dlsym(RTLD_NEXT, symbol);                                                        \
      atomic_store_explicit(&real.name, function, memory_order_relaxed);                                     \
    }                                                                                                        \
    return function;                                                                                         \
  }

DEFINE_REAL(openat, "openat64")
DEFINE_REAL(fopen, "fopen64")
DEFINE_REAL(opendir, "opendir")

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

static int close_with(int file, int error) {
  close(file);
  errno = error;
  return -1;
}

static bool write_all(int file, const char *text, size_t size) {
  return write(file, text, size) == (ssize_t)size;
}

/* Appends what the real file has, if there is one. */
static bool append_real(int to, const char *path) {
  char block[4096];
  const int from = real_openat()(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  bool whole = true;
  if (from < 0)
    return true;
  for (ssize_t size; whole && (size = read(from, block, sizeof block)) > 0;)
    whole = write_all(to, block, (size_t)size);
  close(from);
  return whole;
}

static int open_text(const answer_t *answer, int flags) {
  const int file = memfd_create(answer->path, flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
  if (file < 0)
    return -1;
  if (append_real(file, answer->path) && write_all(file, answer->text, strlen(answer->text)) &&
      lseek(file, 0, SEEK_SET) == 0)
    return file;
  return close_with(file, errno);
}

/* A new folder that is removed at once: it stays readable, and empty, until it is closed. */
static int open_folder(int flags) {
  char path[] = P_tmpdir "/gfxsim.XXXXXX";
  if (!mkdtemp(path))
    return -1;
  const int folder = real_openat()(AT_FDCWD, path, flags);
  const int error = errno;
  rmdir(path);
  errno = error;
  return folder;
}

/* Opens what stands in for a file. Returns a descriptor, or -1 with errno. */
static int open_answer(const answer_t *answer, int flags) {
  if (answer->kind == ANSWER_DEVICE)
    return real_openat()(AT_FDCWD, "/dev/null", flags);
  if ((flags & O_ACCMODE) != O_RDONLY) {
    errno = EACCES;
    return -1;
  }
  return answer->kind == ANSWER_TEXT ? open_text(answer, flags) : open_folder(flags);
}

static int open_any(int folder, const char *path, int flags, mode_t mode) {
  const answer_t *answer = find_answer(path);
  return answer ? open_answer(answer, flags) : real_openat()(folder, path, flags, mode);
}

static FILE *fopen_any(const char *path, const char *mode) {
  const answer_t *answer = find_answer(path);
  if (!answer)
    return real_fopen()(path, mode);
  const int access = *mode == 'r' && !strchr(mode, '+') ? O_RDONLY : O_RDWR;
  const int file = open_answer(answer, access | (strchr(mode, 'e') ? O_CLOEXEC : 0));
  FILE *stream = file < 0 ? NULL : fdopen(file, mode);
  if (!stream && file >= 0)
    close_with(file, errno);
  return stream;
}

/* The mode argument exists only when a file may be created. */
#define MODE_AFTER(flags, mode)                                                                              \
  mode_t mode = 0;                                                                                           \
  if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) {                                                 \
    va_list arguments;                                                                                       \
    va_start(arguments, flags);                                                                              \
    mode = va_arg(arguments, mode_t);                                                                        \
    va_end(arguments);                                                                                       \
  }

/* The functions that programs call. */

SHIM_EXPORT int open(const char *path, int flags, ...) {
  MODE_AFTER(flags, mode)
  return open_any(AT_FDCWD, path, flags, mode);
}

SHIM_EXPORT int open64(const char *path, int flags, ...) {
  MODE_AFTER(flags, mode)
  return open_any(AT_FDCWD, path, flags, mode);
}

SHIM_EXPORT int openat(int folder, const char *path, int flags, ...) {
  MODE_AFTER(flags, mode)
  return open_any(folder, path, flags, mode);
}

SHIM_EXPORT int openat64(int folder, const char *path, int flags, ...) {
  MODE_AFTER(flags, mode)
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
    return real_opendir()(path);
  const int folder = open_answer(answer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = folder < 0 ? NULL : fdopendir(folder);
  if (!stream && folder >= 0)
    close_with(folder, errno);
  return stream;
}
