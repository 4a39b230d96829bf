/* libgfxsim-kfd.so: the functions of the C library by which programs reach a kernel driver. Preloaded, they
 * answer what concerns the driver of AMD GPUs (paths.h, objects.h) and pass everything else on. They carry no
 * versions, so that they stand for any version that a program wants. Here are those that open files and call
 * devices. Not here: folders (folders.c), what files are (status.c), and what is answered. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/preload.h"
#include "kfd/drm.h"
#include "kfd/kfd.h"
#include "kfd/objects.h"
#include "kfd/paths.h"
#include "kfd/real.h"
#include "machine/process.h"

#define EXPORT __attribute__((visibility("default")))

/* The same function under another name. */
#define ALSO(name, other) EXPORT __typeof__(name) other __attribute__((alias(#name)))

/* ---- Opening ---- */

static int open_any(int folder, const char *path, int flags, mode_t mode) {
  gs_answer_t answer;
  return gs_path_answer(folder, path, !(flags & O_NOFOLLOW), &answer)
             ? gs_answer_open(&answer, flags)
             : gs_real_openat(folder, path, flags, mode);
}

EXPORT int open(const char *path, int flags, ...) {
  GS_PRELOAD_MODE_AFTER(flags, mode)
  return open_any(AT_FDCWD, path, flags, mode);
}
ALSO(open, open64);

EXPORT int openat(int folder, const char *path, int flags, ...) {
  GS_PRELOAD_MODE_AFTER(flags, mode)
  return open_any(folder, path, flags, mode);
}
ALSO(openat, openat64);

/* What programs that were compiled with _FORTIFY_SOURCE call where no file is created. */
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open_2(const char *path, int flags) {
  return open_any(AT_FDCWD, path, flags, 0);
}
ALSO(__open_2, __open64_2);

EXPORT int __openat_2(int folder, const char *path, int flags);
EXPORT int __openat_2(int folder, const char *path, int flags) {
  return open_any(folder, path, flags, 0);
}
ALSO(__openat_2, __openat64_2);

EXPORT FILE *fopen(const char *path, const char *mode) {
  gs_answer_t answer;
  if (!gs_path_answer(AT_FDCWD, path, true, &answer))
    return gs_real_fopen(path, mode);
  return gs_preload_stream(gs_answer_open(&answer, gs_preload_flags(mode)), mode);
}
ALSO(fopen, fopen64);

/* The C library opens a stream anew by a path: by that of a descriptor, then. */
EXPORT FILE *freopen(const char *path, const char *mode, FILE *stream) {
  gs_answer_t answer;
  char link[32];
  if (!gs_path_answer(AT_FDCWD, path, true, &answer))
    return gs_real_freopen(path, mode, stream);
  const int file = gs_answer_open(&answer, gs_preload_flags(mode) | O_CLOEXEC);
  if (file < 0) {
    const int error = errno;
    fclose(stream);
    errno = error;
    return NULL;
  }
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  FILE *opened = gs_real_freopen(link, mode, stream);
  gs_preload_close(file);
  return opened;
}
ALSO(freopen, freopen64);

/* ---- Calls of devices ---- */

/* Calls that concern a descriptor, whatever it is of. */
static bool is_of_descriptor(unsigned long request) {
  return request == FIOCLEX || request == FIONCLEX || request == FIONBIO || request == FIOASYNC;
}

EXPORT int ioctl(int file, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  const unsigned type = _IOC_TYPE(request);
  const bool may_be = type == 'K' || type == 'd' || (gs_object_may_be(file) && !is_of_descriptor(request));
  const int object = may_be ? gs_object_of(file) : GS_OBJECT_NONE;
  if (object == GS_OBJECT_NONE)
    return gs_real_ioctl(file, request, argument);
  if (object == GS_OBJECT_PARENTS) {
    errno = EBADF;
    return -1;
  }
  if (object == GS_OBJECT_KFD && type == 'K')
    return gs_kfd_ioctl(request, argument);
  if (object != GS_OBJECT_KFD && type == 'd')
    return gs_drm_ioctl((uint32_t)gs_object_gpu(object), request, argument);
  errno = ENOTTY;
  return -1;
}

/* The driver is told of what a program gives up. */
static void give_up(const void *address, size_t size) {
  gs_machine_t *machine = gs_machine_current();
  if (machine)
    gs_svm_forget(&machine->svm, (uintptr_t)address, size);
}

EXPORT void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  const bool is_offset = file >= 0 && gs_kfd_is_offset(offset);
  if ((is_offset || gs_object_may_be(file)) && !(flags & MAP_ANONYMOUS) && gs_object_of(file) >= 0)
    return gs_kfd_mmap(address, size, protection, flags, offset);
  void *start = gs_real_mmap(address, size, protection, flags, file, offset);
  if (flags & MAP_FIXED && start != MAP_FAILED) /* whatever was there is gone */
    give_up(start, size);
  return start;
}
ALSO(mmap, mmap64);

EXPORT int munmap(void *address, size_t size) {
  give_up(address, size);
  return gs_real_munmap(address, size);
}
