/* libgfxsim-kfd.so: the functions of the C library by which programs reach a kernel driver. Preloaded, they
 * answer what concerns the driver of AMD GPUs (paths.h, objects.h) and pass everything else on. Not here:
 * what is answered. They carry no versions, so that they stand for any version that a program wants. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
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
  return gs_path_answer(path, &answer) ? gs_answer_open(&answer, flags)
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
  if (!gs_path_answer(path, &answer))
    return gs_real_fopen(path, mode);
  return gs_preload_stream(gs_answer_open(&answer, gs_preload_flags(mode)), mode);
}
ALSO(fopen, fopen64);

/* ---- Folders: real ones that are empty, and lists of what they would hold ---- */

typedef struct listing {
  struct listing *next;
  DIR *stream;
  gs_answer_t answer;
  uint32_t at; /* the first two are . and .. */
  struct dirent entry;
} listing_t;

static struct {
  pthread_mutex_t lock;
  listing_t *first;
  _Atomic unsigned count;
} listings = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The listing that a stream stands for, or NULL: mostly found without the lock. */
static listing_t *find_listing(const DIR *stream) {
  if (!atomic_load_explicit(&listings.count, memory_order_acquire))
    return NULL;
  pthread_mutex_lock(&listings.lock);
  listing_t *listing = listings.first;
  while (listing && listing->stream != stream)
    listing = listing->next;
  pthread_mutex_unlock(&listings.lock);
  return listing;
}

static DIR *list(const gs_answer_t *answer, DIR *stream) {
  listing_t *listing = stream ? calloc(1, sizeof *listing) : NULL;
  if (!listing) {
    if (stream)
      gs_real_closedir(stream);
    return NULL;
  }
  listing->stream = stream;
  listing->answer = *answer;
  pthread_mutex_lock(&listings.lock);
  listing->next = listings.first;
  listings.first = listing;
  atomic_fetch_add_explicit(&listings.count, 1, memory_order_release);
  pthread_mutex_unlock(&listings.lock);
  return stream;
}

EXPORT DIR *opendir(const char *path) {
  gs_answer_t answer;
  if (!gs_path_answer(path, &answer))
    return gs_real_opendir(path);
  if (answer.kind != GS_ANSWER_FOLDER) {
    errno = answer.kind == GS_ANSWER_NOTHING ? ENOENT : ENOTDIR;
    return NULL;
  }
  const int folder = gs_answer_open(&answer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = folder < 0 ? NULL : fdopendir(folder);
  if (!stream && folder >= 0)
    gs_preload_close(folder);
  return list(&answer, stream);
}

EXPORT struct dirent *readdir(DIR *stream) {
  listing_t *listing = find_listing(stream);
  if (!listing)
    return gs_real_readdir(stream);
  const uint32_t i = listing->at;
  char name[32];
  gs_machine_t *machine = gs_kfd_machine();
  if (i < 2)
    snprintf(name, sizeof name, "%s", i ? ".." : ".");
  else if (!listing->answer.name_at(machine, &listing->answer.numbers, i - 2, name))
    return NULL;
  listing->at++;
  listing->entry = (struct dirent){.d_ino = i + 1, .d_reclen = sizeof listing->entry, .d_type = DT_UNKNOWN};
  memcpy(listing->entry.d_name, name, sizeof name);
  return &listing->entry;
}
_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "one structure on a 64-bit machine");
EXPORT struct dirent64 *readdir64(DIR *stream) {
  return (struct dirent64 *)(void *)readdir(stream);
}

EXPORT void rewinddir(DIR *stream) {
  listing_t *listing = find_listing(stream);
  if (listing)
    listing->at = 0;
  gs_real_rewinddir(stream);
}

EXPORT int closedir(DIR *stream) {
  listing_t *listing = find_listing(stream);
  if (listing) {
    pthread_mutex_lock(&listings.lock);
    listing_t **link = &listings.first;
    while (*link != listing)
      link = &(*link)->next;
    *link = listing->next;
    atomic_fetch_sub_explicit(&listings.count, 1, memory_order_release);
    pthread_mutex_unlock(&listings.lock);
    free(listing);
  }
  return gs_real_closedir(stream);
}

/* ---- What a file is ---- */

static mode_t mode_of(const gs_answer_t *answer) {
  switch (answer->kind) {
  case GS_ANSWER_OBJECT: return S_IFCHR | 0666;
  case GS_ANSWER_FOLDER: return S_IFDIR | 0755;
  case GS_ANSWER_LINK: return S_IFLNK | 0777;
  default: return S_IFREG | 0444;
  }
}

/* Links lead to folders of other drivers, where nothing is answered. */
static int status_of(const gs_answer_t *answer, struct stat *status, bool follows) {
  if (answer->kind == GS_ANSWER_NOTHING || (answer->kind == GS_ANSWER_LINK && follows)) {
    errno = ENOENT;
    return -1;
  }
  *status = (struct stat){.st_mode = mode_of(answer), .st_nlink = 1, .st_size = 4096, .st_blksize = 4096};
  if (answer->kind == GS_ANSWER_OBJECT)
    status->st_rdev = gs_object_device(answer->object);
  return 0;
}

/* Of a descriptor. Not by one exported name for the other: a library in front of this one may have the first
 * and make the second of it, as ThreadSanitizer does. */
static int fstat_any(int file, struct stat *status) {
  const int failed = gs_real_fstat(file, status);
  if (!failed)
    gs_object_dress(status);
  return failed;
}

EXPORT int fstat(int file, struct stat *status) {
  return fstat_any(file, status);
}

static int stat_any(int folder, const char *path, struct stat *status, int flags) {
  gs_answer_t answer;
  if (gs_path_answer(path, &answer))
    return status_of(&answer, status, !(flags & AT_SYMLINK_NOFOLLOW));
  const int failed = gs_real_fstatat(folder, path, status, flags);
  if (!failed && flags & AT_EMPTY_PATH)
    gs_object_dress(status);
  return failed;
}

EXPORT int fstatat(int folder, const char *path, struct stat *status, int flags) {
  return stat_any(folder, path, status, flags);
}

EXPORT int stat(const char *path, struct stat *status) {
  return stat_any(AT_FDCWD, path, status, 0);
}

EXPORT int lstat(const char *path, struct stat *status) {
  return stat_any(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

/* The structures of both spellings are one. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "one structure on a 64-bit machine");

static struct stat *plain(struct stat64 *status) {
  return (struct stat *)(void *)status;
}

EXPORT int fstat64(int file, struct stat64 *status) {
  return fstat_any(file, plain(status));
}

EXPORT int fstatat64(int folder, const char *path, struct stat64 *status, int flags) {
  return stat_any(folder, path, plain(status), flags);
}

EXPORT int stat64(const char *path, struct stat64 *status) {
  return stat_any(AT_FDCWD, path, plain(status), 0);
}

EXPORT int lstat64(const char *path, struct stat64 *status) {
  return stat_any(AT_FDCWD, path, plain(status), AT_SYMLINK_NOFOLLOW);
}

/* What programs call that were linked to a C library before 2.33. */
EXPORT int __fxstat(int version, int file, struct stat *status);
EXPORT int __fxstat(int version, int file, struct stat *status) {
  (void)version; /* there is one on 64-bit machines */
  return fstat_any(file, status);
}
ALSO(__fxstat, __fxstat64);

EXPORT int __xstat(int version, const char *path, struct stat *status);
EXPORT int __xstat(int version, const char *path, struct stat *status) {
  (void)version;
  return stat_any(AT_FDCWD, path, status, 0);
}
ALSO(__xstat, __xstat64);

EXPORT int __lxstat(int version, const char *path, struct stat *status);
EXPORT int __lxstat(int version, const char *path, struct stat *status) {
  (void)version;
  return stat_any(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
ALSO(__lxstat, __lxstat64);

EXPORT int statx(int folder, const char *restrict path, int flags, unsigned mask,
                 struct statx *restrict status) {
  gs_answer_t answer;
  struct stat plain_status;
  if (!gs_path_answer(path, &answer))
    return gs_real_statx(folder, path, flags, mask, status);
  if (status_of(&answer, &plain_status, !(flags & AT_SYMLINK_NOFOLLOW)))
    return -1;
  *status = (struct statx){
      .stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_SIZE,
      .stx_mode = (uint16_t)plain_status.st_mode,
      .stx_nlink = 1,
      .stx_size = (uint64_t)plain_status.st_size,
      .stx_blksize = (uint32_t)plain_status.st_blksize,
      .stx_rdev_major = major(plain_status.st_rdev),
      .stx_rdev_minor = minor(plain_status.st_rdev),
  };
  return 0;
}

/* Everybody may do with devices what he likes, and read everything else. */
static int may(const gs_answer_t *answer, int mode) {
  if (answer->kind == GS_ANSWER_NOTHING) {
    errno = ENOENT;
    return -1;
  }
  const mode_t bits = mode_of(answer);
  const bool denied = (mode & W_OK && answer->kind != GS_ANSWER_OBJECT) || (mode & X_OK && !(bits & S_IXOTH));
  if (!denied)
    return 0;
  errno = EACCES;
  return -1;
}

EXPORT int faccessat(int folder, const char *path, int mode, int flags) {
  gs_answer_t answer;
  return gs_path_answer(path, &answer) ? may(&answer, mode) : gs_real_faccessat(folder, path, mode, flags);
}

EXPORT int access(const char *path, int mode) {
  return faccessat(AT_FDCWD, path, mode, 0);
}

EXPORT int euidaccess(const char *path, int mode) {
  return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}
ALSO(euidaccess, eaccess);

EXPORT ssize_t readlinkat(int folder, const char *restrict path, char *restrict text, size_t size) {
  gs_answer_t answer;
  if (!gs_path_answer(path, &answer))
    return gs_real_readlinkat(folder, path, text, size);
  return gs_answer_link(&answer, text, size);
}

EXPORT ssize_t readlink(const char *restrict path, char *restrict text, size_t size) {
  return readlinkat(AT_FDCWD, path, text, size);
}

/* ---- Calls of devices ---- */

EXPORT int ioctl(int file, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void *argument = va_arg(arguments, void *);
  va_end(arguments);
  const unsigned type = _IOC_TYPE(request);
  const int object = type == 'K' || type == 'd' ? gs_object_of(file) : GS_OBJECT_NONE;
  if (object == GS_OBJECT_NONE)
    return gs_real_ioctl(file, request, argument);
  if (object == GS_OBJECT_PARENTS) {
    errno = EBADF;
    return -1;
  }
  if (object == GS_OBJECT_KFD && type == 'K')
    return gs_kfd_ioctl(request, argument);
  if (object >= GS_OBJECT_RENDER && type == 'd')
    return gs_drm_ioctl((uint32_t)(object - GS_OBJECT_RENDER), request, argument);
  errno = ENOTTY;
  return -1;
}

EXPORT void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  if (file >= 0 && gs_kfd_is_offset(offset) && gs_object_of(file) >= 0)
    return gs_kfd_mmap(address, size, protection, flags, offset);
  return gs_real_mmap(address, size, protection, flags, file, offset);
}
ALSO(mmap, mmap64);

/* The driver is told of what a program gives up. */
EXPORT int munmap(void *address, size_t size) {
  gs_machine_t *machine = gs_machine_current();
  if (machine)
    gs_svm_forget(&machine->svm, (uintptr_t)address, size);
  return gs_real_munmap(address, size);
}
