/* Files in memory that stand for devices. An inode of such a file is never used again while anybody has it
 * open. */
#include "kfd/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kfd/real.h"

/* Files: of each object one, and as many again after all were closed. The oldest are forgotten. */
enum { MOST_FILES = 4 * GS_OBJECTS, MOST_NUMBERS = 4096, MASTERS_FROM = 600 };

typedef struct known_file {
  dev_t device;
  ino_t inode;
  int object; /* or GS_OBJECT_PARENTS */
} known_file_t;

/* The process has one table of descriptors, so there is one of these. */
static struct {
  pthread_mutex_t lock;
  int master[GS_OBJECTS]; /* descriptor + 1 of which others are copies; 0 = none */
  known_file_t known[MOST_FILES];
  _Atomic unsigned known_count;         /* so many were ever made; the last MOST_FILES of them are known */
  _Atomic uint8_t handed[MOST_NUMBERS]; /* the object + 1 that was last opened as this number */
} files = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const known_file_t *find_known(const struct stat *status) {
  unsigned count = atomic_load_explicit(&files.known_count, memory_order_acquire);
  count = count < MOST_FILES ? count : MOST_FILES;
  for (unsigned i = 0; i < count; i++)
    if (files.known[i].inode == status->st_ino && files.known[i].device == status->st_dev)
      return &files.known[i];
  return NULL;
}

dev_t gs_object_device(int object) {
  if (object == GS_OBJECT_KFD)
    return makedev(GS_KFD_MAJOR, 0);
  const int first = object >= GS_OBJECT_CARD ? 0 : GS_FIRST_RENDER_MINOR;
  return makedev(GS_DRM_MAJOR, (unsigned)(first + gs_object_gpu(object)));
}

void gs_object_path(int object, char path[GS_OBJECT_PATH_BYTES]) {
  if (object == GS_OBJECT_KFD)
    snprintf(path, GS_OBJECT_PATH_BYTES, "/dev/kfd");
  else
    snprintf(path, GS_OBJECT_PATH_BYTES, "/dev/dri/%s%u", object >= GS_OBJECT_CARD ? "card" : "renderD",
             minor(gs_object_device(object)));
}

int gs_object_gpu(int object) {
  if (object < GS_OBJECT_RENDER)
    return -1;
  return object - (object >= GS_OBJECT_CARD ? (int)GS_OBJECT_CARD : (int)GS_OBJECT_RENDER);
}

bool gs_object_may_be(int file) {
  return file >= 0 && file < MOST_NUMBERS && atomic_load_explicit(&files.handed[file], memory_order_relaxed);
}

void gs_object_dress(struct stat *status) {
  const known_file_t *known = find_known(status);
  if (!known || known->object < 0)
    return;
  status->st_mode = S_IFCHR | 0666;
  status->st_rdev = gs_object_device(known->object);
}

int gs_object_of(int file) {
  struct stat status;
  if (file < 0 || !atomic_load_explicit(&files.known_count, memory_order_acquire))
    return GS_OBJECT_NONE;
  const int error = errno;
  const int failed = gs_real_fstat(file, &status);
  errno = error;
  const known_file_t *known = failed ? NULL : find_known(&status);
  if (known)
    return known->object;
  if (failed && file < MOST_NUMBERS)
    return (int)atomic_load_explicit(&files.handed[file], memory_order_relaxed) - 1;
  return GS_OBJECT_NONE;
}

/* The master of an object if it is still open, or -1. With the lock held. */
static int find_master(int object) {
  struct stat status;
  const int file = files.master[object] - 1;
  if (file < 0 || gs_real_fstat(file, &status))
    return -1;
  const known_file_t *known = find_known(&status);
  return known && known->object == object ? file : -1;
}

/* Programs like to have low numbers, and close them without looking. */
static int move_up(int file) {
  const int moved = fcntl(file, F_DUPFD_CLOEXEC, MASTERS_FROM);
  if (moved < 0)
    return file;
  close(file);
  return moved;
}

/* With the lock held. */
static int make_master(int object) {
  struct stat status;
  int file = memfd_create("gfxsim-device", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0)
    return -1;
  file = move_up(file);
  /* A device has no bytes. */
  if (fcntl(file, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) ||
      gs_real_fstat(file, &status)) {
    close(file);
    return -1;
  }
  const unsigned made = atomic_load_explicit(&files.known_count, memory_order_relaxed);
  files.known[made % MOST_FILES] =
      (known_file_t){.device = status.st_dev, .inode = status.st_ino, .object = object};
  atomic_store_explicit(&files.known_count, made + 1, memory_order_release);
  files.master[object] = file + 1;
  return file;
}

int gs_object_open(int object, int flags) {
  pthread_mutex_lock(&files.lock);
  int master = find_master(object);
  if (master < 0)
    master = make_master(object);
  const int file = master < 0 ? -1 : fcntl(master, flags & O_CLOEXEC ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  pthread_mutex_unlock(&files.lock);
  if (file >= 0 && file < MOST_NUMBERS)
    atomic_store_explicit(&files.handed[file], (uint8_t)(object + 1), memory_order_relaxed);
  return file;
}

void gs_objects_forget(void) {
  pthread_mutex_init(&files.lock, NULL);
  for (int i = 0; i < GS_OBJECTS; i++) {
    const int master = find_master(i);
    if (master >= 0)
      close(master);
    files.master[i] = 0;
  }
  for (unsigned i = 0; i < MOST_FILES; i++)
    files.known[i].object = GS_OBJECT_PARENTS;
  for (unsigned i = 0; i < MOST_NUMBERS; i++)
    atomic_store_explicit(&files.handed[i], 0, memory_order_relaxed);
}
