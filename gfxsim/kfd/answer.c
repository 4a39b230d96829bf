/* From answers to what the C library's functions give: descriptors, statuses, links. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/preload.h"
#include "kfd/objects.h"
#include "kfd/paths.h"
#include "kfd/real.h"
#include "machine/process.h"

static int fail(int error) {
  errno = error;
  return -1;
}

/* What an answer's writer writes: to be freed, or NULL with errno. */
static char *text_of(const gs_answer_t *answer, size_t *size) {
  char *text = NULL;
  FILE *stream = open_memstream(&text, size);
  if (!stream)
    return NULL;
  answer->write(stream, gs_machine_current(), &answer->numbers);
  if (!fclose(stream))
    return text;
  free(text);
  return NULL;
}

ssize_t gs_answer_link(const gs_answer_t *answer, char *target, size_t size) {
  if (answer->kind != GS_ANSWER_LINK)
    return fail(answer->kind == GS_ANSWER_NOTHING ? ENOENT : EINVAL);
  size_t length = 0;
  char *text = text_of(answer, &length);
  if (!text)
    return -1;
  length = length < size ? length : size;
  memcpy(target, text, length);
  free(text);
  return (ssize_t)length;
}

static int open_text(const gs_answer_t *answer, int flags) {
  size_t size = 0;
  char *text = text_of(answer, &size);
  const int file = text ? gs_preload_text(gs_real_openat, answer->path, answer->real, text, size, flags) : -1;
  const int error = errno;
  free(text);
  errno = error;
  return file;
}

static int open_folder(const gs_answer_t *answer, int flags) {
  gs_path_expect_folders();
  return gs_preload_folder(gs_real_openat, answer->path, flags & ~(O_CREAT | O_EXCL));
}

int gs_answer_open(const gs_answer_t *answer, int flags) {
  const bool is_folder = answer->kind == GS_ANSWER_FOLDER;
  if (answer->kind == GS_ANSWER_NOTHING)
    return fail(ENOENT);
  if (flags & O_CREAT && flags & O_EXCL)
    return fail(EEXIST);
  if (answer->kind == GS_ANSWER_LINK) /* it was not to be followed, or leads out of the driver's files */
    return fail(flags & O_NOFOLLOW ? ELOOP : ENOENT);
  if (flags & O_DIRECTORY && !is_folder)
    return fail(ENOTDIR);
  if (answer->kind == GS_ANSWER_OBJECT)
    return gs_object_open(answer->object, flags);
  if (flags & O_PATH)
    return is_folder ? open_folder(answer, flags) : open_text(answer, flags);
  if ((flags & O_ACCMODE) != O_RDONLY)
    return fail(is_folder ? EISDIR : EACCES);
  return is_folder ? open_folder(answer, flags) : open_text(answer, flags);
}

static mode_t mode_of(const gs_answer_t *answer) {
  switch (answer->kind) {
  case GS_ANSWER_OBJECT: return S_IFCHR | 0666;
  case GS_ANSWER_FOLDER: return S_IFDIR | 0755;
  case GS_ANSWER_LINK: return S_IFLNK | 0777;
  default: return S_IFREG | 0444;
  }
}

/* Another number for each path, as far as chance allows (FNV-1a). */
static ino_t number_of(const char *path) {
  uint64_t number = UINT64_C(0xcbf29ce484222325);
  for (; *path; path++)
    number = (number ^ (uint8_t)*path) * UINT64_C(0x100000001b3);
  return number;
}

int gs_answer_status(const gs_answer_t *answer, struct stat *status) {
  enum { NO_DEVICE = 0, SYSFS = 0x5f, BLOCK = 4096 };
  if (answer->kind == GS_ANSWER_NOTHING)
    return fail(ENOENT);
  *status = (struct stat){.st_dev = makedev(NO_DEVICE, SYSFS),
                          .st_ino = number_of(answer->path),
                          .st_mode = mode_of(answer),
                          .st_nlink = 1,
                          .st_blksize = BLOCK};
  if (answer->kind == GS_ANSWER_OBJECT)
    status->st_rdev = gs_object_device(answer->object);
  else
    status->st_size = BLOCK;
  return 0;
}

void gs_answer_dress(int file, struct stat *status) {
  char path[GS_PATH_BYTES];
  gs_answer_t answer;
  if (status->st_nlink) /* ours are deleted */
    return;
  gs_object_dress(status);
  if (!S_ISCHR(status->st_mode) && gs_path_of_descriptor(file, path) &&
      gs_path_answer(AT_FDCWD, path, false, &answer))
    gs_answer_status(&answer, status);
}

/* Everybody may do with devices what he likes, and read everything else. */
int gs_answer_may(const gs_answer_t *answer, int mode) {
  if (answer->kind == GS_ANSWER_NOTHING)
    return fail(ENOENT);
  const bool denied =
      (mode & W_OK && answer->kind != GS_ANSWER_OBJECT) || (mode & X_OK && !(mode_of(answer) & S_IXOTH));
  return denied ? fail(EACCES) : 0;
}
