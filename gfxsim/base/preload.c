/* Files that stand in for others: of memory, and folders that are gone as soon as they are open. */
#include "base/preload.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void gs_preload_close(int file) {
  const int error = errno;
  close(file);
  errno = error;
}

static bool write_all(int file, const char *text, size_t size) {
  return write(file, text, size) == (ssize_t)size;
}

/* Appends what the real file has, if there is one. */
static bool append_real(gs_preload_openat_t *real_openat, int to, const char *path) {
  char block[4096];
  const int from = path ? real_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0) : -1;
  bool whole = true;
  if (from < 0)
    return true;
  for (ssize_t size; whole && (size = read(from, block, sizeof block)) > 0;)
    whole = write_all(to, block, (size_t)size);
  gs_preload_close(from);
  return whole;
}

int gs_preload_text(gs_preload_openat_t *real_openat, const char *path, const char *real, const char *text,
                    size_t size, int flags) {
  enum { MOST_OF_NAME = 250 };
  char name[MOST_OF_NAME];
  snprintf(name, sizeof name, "gfxsim:%s", path);
  const int file = memfd_create(name, flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
  if (file < 0)
    return -1;
  if (append_real(real_openat, file, real) && write_all(file, text, size) && lseek(file, 0, SEEK_SET) == 0)
    return file;
  gs_preload_close(file);
  return -1;
}

/* It is removed at once: it stays readable, and empty, until it is closed. */
int gs_preload_folder(gs_preload_openat_t *real_openat, const char *path, int flags) {
  char made[PATH_MAX];
  const size_t stands_for = strlen(GS_PRELOAD_FOLDER);
  snprintf(made, sizeof made, "%s%s%s", GS_PRELOAD_FOLDER, path, GS_PRELOAD_FOLDER_END);
  for (char *at = made + stands_for; (at = strchr(at, '/')) != NULL;)
    *at = GS_PRELOAD_SLASH;
  if (!mkdtemp(made))
    return -1;
  const int folder = real_openat(AT_FDCWD, made, flags, 0);
  const int error = errno;
  rmdir(made);
  errno = error;
  return folder;
}

int gs_preload_flags(const char *mode) {
  const int access = *mode == 'r' && !strchr(mode, '+') ? O_RDONLY : O_RDWR;
  return access | (strchr(mode, 'e') ? O_CLOEXEC : 0);
}

FILE *gs_preload_stream(int file, const char *mode) {
  FILE *stream = file < 0 ? NULL : fdopen(file, mode);
  if (!stream && file >= 0)
    gs_preload_close(file);
  return stream;
}
