/* Linux keeps the name of a file in memory as the target of the link in /proc that stands for a descriptor,
 * and lets processes of one user open each other's files through those links. */
#include "machine/share.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME  "gfxsim-memory"
#define LABEL NAME ":%u:%u"

/* Programs like to have low numbers, and wait for few descriptors by select. */
enum { NUMBERS_FROM = 600 };

int gs_share_copy(int file) {
  const int high = fcntl(file, F_DUPFD_CLOEXEC, NUMBERS_FROM);
  return high < 0 ? fcntl(file, F_DUPFD_CLOEXEC, 0) : high;
}

/* Closes a descriptor, keeping errno. Returns -1. */
static int drop(int file) {
  const int error = errno;
  close(file);
  errno = error;
  return -1;
}

int gs_share_make(const gs_share_label_t *label) {
  char name[64];
  snprintf(name, sizeof name, LABEL, label->node, label->flags);
  const int low = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (low < 0)
    return -1;
  const int file = gs_share_copy(low);
  drop(low);
  if (file < 0)
    return -1;
  /* Whoever maps it relies on its size. */
  if (ftruncate(file, (off_t)label->size) || fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
    return drop(file);
  return file;
}

bool gs_share_read(int file, gs_share_label_t *label) {
  char path[64], target[128];
  struct stat status;
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  const ssize_t length = file < 0 ? -1 : readlink(path, target, sizeof target - 1);
  if (length < 0 || fstat(file, &status))
    return false;
  target[length] = 0;
  if (sscanf(target, "/memfd:" LABEL, &label->node, &label->flags) != 2)
    return false;
  label->size = (uint64_t)status.st_size;
  return label->size > 0;
}

bool gs_share_is_same(int one, int other) {
  struct stat first, second;
  return !fstat(one, &first) && !fstat(other, &second) && first.st_ino == second.st_ino &&
         first.st_dev == second.st_dev;
}

void gs_share_tell(int file, uint32_t words[GS_SHARE_WORDS]) {
  struct stat status = {0};
  (void)fstat(file, &status);
  words[0] = (uint32_t)getpid();
  words[1] = (uint32_t)file;
  words[2] = (uint32_t)status.st_ino;
}

int gs_share_find(const uint32_t words[GS_SHARE_WORDS]) {
  char path[64];
  struct stat status;
  gs_share_label_t label;
  snprintf(path, sizeof path, "/proc/%u/fd/%u", words[0], words[1]);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0)
    return -1;
  if (gs_share_read(file, &label) && !fstat(file, &status) && (uint32_t)status.st_ino == words[2])
    return file;
  close(file);
  errno = EINVAL;
  return -1;
}
