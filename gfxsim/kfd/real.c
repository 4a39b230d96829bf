/* Functions that other preloaded libraries may have of their own are looked up; those that must work before
 * anything can be looked up, or that take every way into the kernel alike, are system calls. */
#include "kfd/real.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/preload.h"

typedef int (*openat_fn_t)(int folder, const char *path, int flags, ...);
typedef FILE *(*fopen_fn_t)(const char *path, const char *mode);
typedef FILE *(*freopen_fn_t)(const char *path, const char *mode, FILE *stream);
typedef DIR *(*opendir_fn_t)(const char *path);
typedef struct dirent *(*readdir_fn_t)(DIR *stream);
typedef void (*rewinddir_fn_t)(DIR *stream);
typedef int (*closedir_fn_t)(DIR *stream);
typedef DIR *(*fdopendir_fn_t)(int file);
typedef long (*telldir_fn_t)(DIR *stream);
typedef void (*seekdir_fn_t)(DIR *stream, long position);
typedef char *(*realpath_fn_t)(const char *path, char *resolved);
typedef int (*chdir_fn_t)(const char *path);
typedef char *(*getcwd_fn_t)(char *path, size_t size);
typedef int (*scandir_fn_t)(const char *path, struct dirent ***names, gs_scan_filter_t *filter,
                            gs_scan_order_t *order);
typedef int (*glob_fn_t)(const char *pattern, int flags, int (*on_error)(const char *path, int error),
                         glob_t *found_paths);
typedef int (*ioctl_fn_t)(int file, unsigned long request, ...);

static struct {
  _Atomic(openat_fn_t) openat;
  _Atomic(fopen_fn_t) fopen;
  _Atomic(freopen_fn_t) freopen;
  _Atomic(opendir_fn_t) opendir;
  _Atomic(readdir_fn_t) readdir;
  _Atomic(rewinddir_fn_t) rewinddir;
  _Atomic(closedir_fn_t) closedir;
  _Atomic(fdopendir_fn_t) fdopendir;
  _Atomic(telldir_fn_t) telldir;
  _Atomic(seekdir_fn_t) seekdir;
  _Atomic(realpath_fn_t) realpath;
  _Atomic(chdir_fn_t) chdir;
  _Atomic(getcwd_fn_t) getcwd;
  _Atomic(scandir_fn_t) scandir;
  _Atomic(glob_fn_t) glob;
  _Atomic(ioctl_fn_t) ioctl;
} found;

GS_PRELOAD_FIND(openat, "openat64")
GS_PRELOAD_FIND(fopen, "fopen64")
GS_PRELOAD_FIND(freopen, "freopen64")
GS_PRELOAD_FIND(opendir, "opendir")
GS_PRELOAD_FIND(readdir, "readdir64")
GS_PRELOAD_FIND(rewinddir, "rewinddir")
GS_PRELOAD_FIND(closedir, "closedir")
GS_PRELOAD_FIND(fdopendir, "fdopendir")
GS_PRELOAD_FIND(telldir, "telldir")
GS_PRELOAD_FIND(seekdir, "seekdir")
GS_PRELOAD_FIND(realpath, "realpath")
GS_PRELOAD_FIND(chdir, "chdir")
GS_PRELOAD_FIND(getcwd, "getcwd")
GS_PRELOAD_FIND(scandir, "scandir64")
GS_PRELOAD_FIND(glob, "glob64")
GS_PRELOAD_FIND(ioctl, "ioctl")

int gs_real_openat(int folder, const char *path, int flags, mode_t mode) {
  return find_openat()(folder, path, flags, mode);
}

FILE *gs_real_fopen(const char *path, const char *mode) {
  return find_fopen()(path, mode);
}

FILE *gs_real_freopen(const char *path, const char *mode, FILE *stream) {
  return find_freopen()(path, mode, stream);
}

DIR *gs_real_opendir(const char *path) {
  return find_opendir()(path);
}

struct dirent *gs_real_readdir(DIR *stream) {
  return find_readdir()(stream);
}

void gs_real_rewinddir(DIR *stream) {
  find_rewinddir()(stream);
}

int gs_real_closedir(DIR *stream) {
  return find_closedir()(stream);
}

DIR *gs_real_fdopendir(int file) {
  return find_fdopendir()(file);
}

long gs_real_telldir(DIR *stream) {
  return find_telldir()(stream);
}

void gs_real_seekdir(DIR *stream, long position) {
  find_seekdir()(stream, position);
}

char *gs_real_realpath(const char *path, char *resolved) {
  return find_realpath()(path, resolved);
}

int gs_real_chdir(const char *path) {
  return find_chdir()(path);
}

char *gs_real_getcwd(char *path, size_t size) {
  return find_getcwd()(path, size);
}

int gs_real_scandir(const char *path, struct dirent ***names, gs_scan_filter_t *filter,
                    gs_scan_order_t *order) {
  return find_scandir()(path, names, filter, order);
}

int gs_real_glob(const char *pattern, int flags, int (*on_error)(const char *path, int error),
                 glob_t *found_paths) {
  return find_glob()(pattern, flags, on_error, found_paths);
}

int gs_real_ioctl(int file, unsigned long request, void *argument) {
  return find_ioctl()(file, request, argument);
}

ssize_t gs_real_readlinkat(int folder, const char *path, char *text, size_t size) {
  return syscall(SYS_readlinkat, folder, path, text, size);
}

ssize_t gs_real_attribute(const char *path, bool follows, const char *name, void *value, size_t size) {
  return syscall(follows ? SYS_getxattr : SYS_lgetxattr, path, name, value, size);
}

ssize_t gs_real_attributes(const char *path, bool follows, char *list, size_t size) {
  return syscall(follows ? SYS_listxattr : SYS_llistxattr, path, list, size);
}

/* The system call knows no flags. */
int gs_real_faccessat(int folder, const char *path, int mode, int flags) {
#ifdef SYS_faccessat2
  const long status = syscall(SYS_faccessat2, folder, path, mode, flags);
  if (!flags || status == 0 || errno != ENOSYS)
    return (int)status;
#endif
  (void)flags;
  return (int)syscall(SYS_faccessat, folder, path, mode);
}

/* On the 64-bit machines that we build for, the kernel's structure is the C library's. */
int gs_real_fstatat(int folder, const char *path, struct stat *status, int flags) {
  return (int)syscall(SYS_newfstatat, folder, path, status, flags);
}

int gs_real_fstat(int file, struct stat *status) {
  return (int)syscall(SYS_fstat, file, status);
}

int gs_real_statx(int folder, const char *path, int flags, unsigned mask, struct statx *status) {
  return (int)syscall(SYS_statx, folder, path, flags, mask, status);
}

void *gs_real_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  /* The result of a failure is MAP_FAILED. */
  return (void *)syscall(SYS_mmap, address, size, protection, flags, file,
                         offset); /* NOLINT(performance-no-int-to-ptr) */
}

int gs_real_munmap(void *address, size_t size) {
  return (int)syscall(SYS_munmap, address, size);
}

/* What this library calls as mmap and munmap (see the linker's option --wrap). */
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
  return gs_real_mmap(address, size, protection, flags, file, offset);
}

int __wrap_munmap(void *address, size_t size);
int __wrap_munmap(void *address, size_t size) {
  return gs_real_munmap(address, size);
}
