/* Functions of the C library that say what a file is, without opening it: status, rights, links, attributes.
 * Not here: what is answered (answer.c). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "kfd/objects.h"
#include "kfd/paths.h"
#include "kfd/real.h"

#define EXPORT __attribute__((visibility("default")))

/* The same function under another name. */
#define ALSO(name, other) EXPORT __typeof__(name) other __attribute__((alias(#name)))

/* ---- Status ---- */

/* Of a descriptor. Not by one exported name for the other: a library in front of this one may have the first
 * and make the second of it, as ThreadSanitizer does. */
static int fstat_any(int file, struct stat *status) {
  const int failed = gs_real_fstat(file, status);
  if (!failed)
    gs_answer_dress(file, status);
  return failed;
}

EXPORT int fstat(int file, struct stat *status) {
  return fstat_any(file, status);
}

static int stat_any(int folder, const char *path, struct stat *status, int flags) {
  gs_answer_t answer;
  if (flags & AT_EMPTY_PATH && path && !*path && folder != AT_FDCWD)
    return fstat_any(folder, status);
  if (gs_path_answer(folder, path, !(flags & AT_SYMLINK_NOFOLLOW), &answer))
    return gs_answer_status(&answer, status);
  return gs_real_fstatat(folder, path, status, flags);
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

EXPORT int __fxstatat(int version, int folder, const char *path, struct stat *status, int flags);
EXPORT int __fxstatat(int version, int folder, const char *path, struct stat *status, int flags) {
  (void)version;
  return stat_any(folder, path, status, flags);
}
ALSO(__fxstatat, __fxstatat64);

static void extend(const struct stat *plain_status, struct statx *status) {
  *status = (struct statx){
      .stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_INO | STATX_SIZE,
      .stx_mode = (uint16_t)plain_status->st_mode,
      .stx_nlink = 1,
      .stx_ino = plain_status->st_ino,
      .stx_size = (uint64_t)plain_status->st_size,
      .stx_blksize = (uint32_t)plain_status->st_blksize,
      .stx_dev_major = major(plain_status->st_dev),
      .stx_dev_minor = minor(plain_status->st_dev),
      .stx_rdev_major = major(plain_status->st_rdev),
      .stx_rdev_minor = minor(plain_status->st_rdev),
  };
}

EXPORT int statx(int folder, const char *restrict path, int flags, unsigned mask,
                 struct statx *restrict status) {
  gs_answer_t answer;
  struct stat plain_status;
  const bool by_file = flags & AT_EMPTY_PATH && !*path && folder != AT_FDCWD;
  if (by_file || !gs_path_answer(folder, path, !(flags & AT_SYMLINK_NOFOLLOW), &answer)) {
    const int failed = gs_real_statx(folder, path, flags, mask, status);
    if (failed || !by_file || status->stx_nlink) /* what is ours is deleted */
      return failed;
    if (!fstat_any(folder, &plain_status))
      extend(&plain_status, status);
    return 0;
  }
  if (gs_answer_status(&answer, &plain_status))
    return -1;
  extend(&plain_status, status);
  return 0;
}

EXPORT int faccessat(int folder, const char *path, int mode, int flags) {
  gs_answer_t answer;
  return gs_path_answer(folder, path, !(flags & AT_SYMLINK_NOFOLLOW), &answer)
             ? gs_answer_may(&answer, mode)
             : gs_real_faccessat(folder, path, mode, flags);
}

EXPORT int access(const char *path, int mode) {
  return faccessat(AT_FDCWD, path, mode, 0);
}

EXPORT int euidaccess(const char *path, int mode) {
  return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}
ALSO(euidaccess, eaccess);

/* ---- Links ---- */

/* The number of an open file whose link in /proc a path is, or -1. */
static int file_of_link(const char *path) {
  int file = -1, end = 0;
  long process = 0;
  if (!path || (strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/dev/fd/", 8) != 0))
    return -1;
  if (sscanf(path, "/proc/self/fd/%d%n", &file, &end) == 1 && !path[end])
    return file;
  if (sscanf(path, "/dev/fd/%d%n", &file, &end) == 1 && !path[end])
    return file;
  const bool is_own = sscanf(path, "/proc/%ld/fd/%d%n", &process, &file, &end) == 2 && !path[end];
  return is_own && process == (long)getpid() ? file : -1;
}

/* What an open file of ours is called; false: it is none. */
static bool name_of_file(int file, char name[GS_PATH_BYTES]) {
  struct stat status;
  gs_answer_t answer;
  if (gs_real_fstat(file, &status) || status.st_nlink)
    return false;
  const int object = gs_object_of(file);
  if (object >= 0)
    gs_object_path(object, name);
  return object >= 0 || (gs_path_of_descriptor(file, name) && gs_path_answer(AT_FDCWD, name, false, &answer));
}

static ssize_t give(const char *text, char *to, size_t size) {
  const size_t length = strlen(text);
  memcpy(to, text, length < size ? length : size);
  return (ssize_t)(length < size ? length : size);
}

EXPORT ssize_t readlinkat(int folder, const char *restrict path, char *restrict text, size_t size) {
  char name[GS_PATH_BYTES];
  gs_answer_t answer;
  const int file = file_of_link(path);
  if (file >= 0 && name_of_file(file, name))
    return give(name, text, size);
  if (!gs_path_answer(folder, path, false, &answer))
    return gs_real_readlinkat(folder, path, text, size);
  return gs_answer_link(&answer, text, size);
}

EXPORT ssize_t readlink(const char *restrict path, char *restrict text, size_t size) {
  return readlinkat(AT_FDCWD, path, text, size);
}

/* What programs that were compiled with _FORTIFY_SOURCE call. */

static size_t checked(size_t size, size_t room) {
  if (size > room)
    abort();
  return size;
}

EXPORT ssize_t __readlinkat_chk(int folder, const char *path, char *text, size_t size, size_t room);
EXPORT ssize_t __readlinkat_chk(int folder, const char *path, char *text, size_t size, size_t room) {
  return readlinkat(folder, path, text, checked(size, room));
}

EXPORT ssize_t __readlink_chk(const char *path, char *text, size_t size, size_t room);
EXPORT ssize_t __readlink_chk(const char *path, char *text, size_t size, size_t room) {
  return readlinkat(AT_FDCWD, path, text, checked(size, room));
}

EXPORT char *realpath(const char *restrict path, char *restrict resolved) {
  gs_answer_t answer;
  if (!gs_path_answer(AT_FDCWD, path, true, &answer) || answer.real)
    return gs_real_realpath(path, resolved);
  if (answer.kind == GS_ANSWER_NOTHING) {
    errno = ENOENT;
    return NULL;
  }
  return resolved ? strcpy(resolved, answer.path) : strdup(answer.path);
}

EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room);
EXPORT char *__realpath_chk(const char *path, char *resolved, size_t room) {
  checked(resolved ? PATH_MAX : 0, room);
  return realpath(path, resolved);
}

EXPORT char *canonicalize_file_name(const char *path) {
  return realpath(path, NULL);
}

/* ---- Extended attributes: there are none ---- */

static ssize_t attribute(const char *path, bool follows, const char *name, void *value, size_t size) {
  gs_answer_t answer;
  if (!gs_path_answer(AT_FDCWD, path, follows, &answer))
    return gs_real_attribute(path, follows, name, value, size);
  errno = answer.kind == GS_ANSWER_NOTHING ? ENOENT : ENODATA;
  return -1;
}

EXPORT ssize_t getxattr(const char *path, const char *name, void *value, size_t size) {
  return attribute(path, true, name, value, size);
}

EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size) {
  return attribute(path, false, name, value, size);
}

static ssize_t attributes(const char *path, bool follows, char *list, size_t size) {
  gs_answer_t answer;
  if (!gs_path_answer(AT_FDCWD, path, follows, &answer))
    return gs_real_attributes(path, follows, list, size);
  if (answer.kind != GS_ANSWER_NOTHING)
    return 0;
  errno = ENOENT;
  return -1;
}

EXPORT ssize_t listxattr(const char *path, char *list, size_t size) {
  return attributes(path, true, list, size);
}

EXPORT ssize_t llistxattr(const char *path, char *list, size_t size) {
  return attributes(path, false, list, size);
}
