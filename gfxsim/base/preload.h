/* What libraries do that are preloaded to answer for files that are not there: they look the C library's own
 * functions up, and make descriptors of texts and folders. Not here: which files are answered, and with what
 * (kfd/paths, shim/driver). */
#ifndef GFXSIM_BASE_PRELOAD_H
#define GFXSIM_BASE_PRELOAD_H

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* Defines find_<name>(), which gives the function `symbol` of the next library, a name##_fn_t, and keeps it
 * in found.<name>, an _Atomic. Thread-safe. C has no conversion from dlsym's result to a function: POSIX does
 * it through memory. */
#define GS_PRELOAD_FIND(name, symbol)                                                                        \
  static name##_fn_t find_##name(void) {                                                                     \
    name##_fn_t function = atomic_load_explicit(&found.name, memory_order_relaxed);                          \
    if (!function) {                                                                                         \
      *(void **)&function = dlsym(RTLD_NEXT, symbol);                                                        \
      atomic_store_explicit(&found.name, function, memory_order_relaxed);                                    \
    }                                                                                                        \
    return function;                                                                                         \
  }

/* Declares the mode that follows the last argument `flags` of open, which is there only when a file may be
 * created; else 0. */
#define GS_PRELOAD_MODE_AFTER(flags, mode)                                                                   \
  mode_t mode = 0;                                                                                           \
  if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) {                                                 \
    va_list arguments;                                                                                       \
    va_start(arguments, flags);                                                                              \
    mode = va_arg(arguments, mode_t);                                                                        \
    va_end(arguments);                                                                                       \
  }

/* The C library's openat: these functions are part of libraries that have one of their own. */
typedef int gs_preload_openat_t(int folder, const char *path, int flags, mode_t mode);

/* All of these are thread-safe, and fail with errno. */

/* What Linux calls such descriptors' files begins and ends so, with what they stand for between: of a text
 * its path, of a folder its path with another sign for slashes. " (deleted)" follows. */
#define GS_PRELOAD_TEXT_LINK  "/memfd:gfxsim:"
#define GS_PRELOAD_FOLDER     P_tmpdir "/gfxsim"
#define GS_PRELOAD_FOLDER_END ".XXXXXX"
#define GS_PRELOAD_SLASH      '!'

/* A descriptor to read `size` bytes of `text` from, after what the file `real` holds (NULL, or a file that is
 * not there: nothing). `path` is what it stands for, and `flags` are open's. -1: failed. */
int gs_preload_text(gs_preload_openat_t *real_openat, const char *path, const char *real, const char *text,
                    size_t size, int flags);

/* A descriptor of a folder without files that stands for `path`, opened with `flags`. -1: failed. */
int gs_preload_folder(gs_preload_openat_t *real_openat, const char *path, int flags);

/* The flags of open that belong to a mode of fopen, as far as reading and writing goes and O_CLOEXEC. */
int gs_preload_flags(const char *mode);

/* A stream of a descriptor that it takes over, also when it fails. NULL: failed, or the descriptor is -1. */
FILE *gs_preload_stream(int file, const char *mode);

/* Closes a descriptor and leaves errno as it is. */
void gs_preload_close(int file);

#endif
