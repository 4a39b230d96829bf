/* The C library's own functions, which this library's take the place of. Not here: what is answered instead
 * (paths.h). */
#ifndef GFXSIM_KFD_REAL_H
#define GFXSIM_KFD_REAL_H

#include <dirent.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* What scandir takes. */
typedef int gs_scan_filter_t(const struct dirent *entry);
typedef int gs_scan_order_t(const struct dirent **left, const struct dirent **right);

/* Looked up when they are first called; also before any constructor has run. Thread-safe. All take what the
 * functions of their names take. */
int gs_real_openat(int folder, const char *path, int flags, mode_t mode);
FILE *gs_real_fopen(const char *path, const char *mode);
FILE *gs_real_freopen(const char *path, const char *mode, FILE *stream);
DIR *gs_real_opendir(const char *path);
struct dirent *gs_real_readdir(DIR *stream);
void gs_real_rewinddir(DIR *stream);
int gs_real_closedir(DIR *stream);
DIR *gs_real_fdopendir(int file);
long gs_real_telldir(DIR *stream);
void gs_real_seekdir(DIR *stream, long position);
char *gs_real_realpath(const char *path, char *resolved);
int gs_real_chdir(const char *path);
char *gs_real_getcwd(char *path, size_t size);
int gs_real_scandir(const char *path, struct dirent ***names, gs_scan_filter_t *filter,
                    gs_scan_order_t *order);
int gs_real_glob(const char *pattern, int flags, int (*on_error)(const char *path, int error),
                 glob_t *found_paths);
int gs_real_ioctl(int file, unsigned long request, void *argument);
ssize_t gs_real_readlinkat(int folder, const char *path, char *text, size_t size);
ssize_t gs_real_attribute(const char *path, bool follows, const char *name, void *value, size_t size);
ssize_t gs_real_attributes(const char *path, bool follows, char *list, size_t size);
int gs_real_faccessat(int folder, const char *path, int mode, int flags);
int gs_real_fstatat(int folder, const char *path, struct stat *status, int flags);
int gs_real_fstat(int file, struct stat *status);
int gs_real_statx(int folder, const char *path, int flags, unsigned mask, struct statx *status);
void *gs_real_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int gs_real_munmap(void *address, size_t size);

#endif
