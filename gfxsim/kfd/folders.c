/* Functions of the C library that list folders, and go there. A folder of ours is an empty one to the kernel:
 * its names come from here, and so do those of ours in folders of the system. Not here: which folders there
 * are (paths.h). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/preload.h"
#include "kfd/kfd.h"
#include "kfd/paths.h"
#include "kfd/real.h"

#define EXPORT __attribute__((visibility("default")))

typedef struct listing {
  struct listing *next;
  DIR *stream;
  bool is_shared; /* the system's entries come first, but for those that we have */
  bool is_past_system;
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

/* A stream's names come from here. NULL: it could not be, and is closed. */
static DIR *list(const gs_answer_t *answer, DIR *stream, bool is_shared) {
  listing_t *listing = stream ? calloc(1, sizeof *listing) : NULL;
  if (!listing) {
    if (stream)
      gs_real_closedir(stream);
    return NULL;
  }
  listing->stream = stream;
  listing->is_shared = is_shared;
  listing->at = is_shared ? 2 : 0;
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
  if (!gs_path_answer(AT_FDCWD, path, true, &answer))
    return gs_path_shared(AT_FDCWD, path, &answer) ? list(&answer, gs_real_opendir(path), true)
                                                   : gs_real_opendir(path);
  const int folder = gs_answer_open(&answer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = folder < 0 ? NULL : gs_real_fdopendir(folder);
  if (!stream && folder >= 0)
    gs_preload_close(folder);
  return list(&answer, stream, false);
}

EXPORT DIR *fdopendir(int file) {
  char path[GS_PATH_BYTES];
  gs_answer_t answer;
  DIR *stream = gs_real_fdopendir(file);
  if (!stream || !gs_path_of_descriptor(file, path))
    return stream;
  if (gs_path_answer(AT_FDCWD, path, false, &answer) && answer.kind == GS_ANSWER_FOLDER)
    return list(&answer, stream, false);
  return gs_path_shared(AT_FDCWD, path, &answer) ? list(&answer, stream, true) : stream;
}

/* Whether a folder of the system has the name from us. */
static bool is_own_name(const listing_t *listing, const char *wanted) {
  char name[GS_NAME_BYTES];
  gs_machine_t *machine = gs_kfd_machine();
  for (uint32_t i = 0; machine && listing->answer.name_at(machine, &listing->answer.numbers, i, name); i++)
    if (strcmp(name, wanted) == 0)
      return true;
  return false;
}

/* The next entry of the system's in a shared folder, or NULL past its last. */
static struct dirent *next_of_system(listing_t *listing) {
  struct dirent *entry = NULL;
  while (!listing->is_past_system && (entry = gs_real_readdir(listing->stream)) &&
         is_own_name(listing, entry->d_name)) {
  }
  listing->is_past_system = !entry;
  return entry;
}

EXPORT struct dirent *readdir(DIR *stream) {
  listing_t *listing = find_listing(stream);
  if (!listing)
    return gs_real_readdir(stream);
  struct dirent *of_system = listing->is_shared ? next_of_system(listing) : NULL;
  if (of_system)
    return of_system;
  const uint32_t i = listing->at;
  char name[GS_NAME_BYTES], path[GS_PATH_BYTES + sizeof name];
  gs_machine_t *machine = gs_kfd_machine();
  if (i < 2)
    snprintf(name, sizeof name, "%s", i ? ".." : ".");
  else if (!machine || !listing->answer.name_at(machine, &listing->answer.numbers, i - 2, name))
    return NULL;
  listing->at++;
  struct stat status = {.st_ino = i + 1, .st_mode = S_IFDIR};
  gs_answer_t answer;
  snprintf(path, sizeof path, "%s/%s", listing->answer.path, name);
  if (i != 1 && gs_path_answer(AT_FDCWD, path, false, &answer))
    gs_answer_status(&answer, &status);
  listing->entry = (struct dirent){.d_ino = status.st_ino,
                                   .d_off = (off_t)listing->at,
                                   .d_reclen = sizeof listing->entry,
                                   .d_type = (unsigned char)IFTODT(status.st_mode)};
  memcpy(listing->entry.d_name, name, sizeof name);
  return &listing->entry;
}
_Static_assert(sizeof(struct dirent) == sizeof(struct dirent64), "one structure on a 64-bit machine");
EXPORT struct dirent64 *readdir64(DIR *stream) {
  return (struct dirent64 *)(void *)readdir(stream);
}

EXPORT void rewinddir(DIR *stream) {
  listing_t *listing = find_listing(stream);
  if (listing) {
    listing->at = listing->is_shared ? 2 : 0;
    listing->is_past_system = false;
  }
  gs_real_rewinddir(stream);
}

/* Of shared folders, places are the system's. */
EXPORT long telldir(DIR *stream) {
  const listing_t *listing = find_listing(stream);
  return listing && !listing->is_shared ? (long)listing->at : gs_real_telldir(stream);
}

EXPORT void seekdir(DIR *stream, long position) {
  listing_t *listing = find_listing(stream);
  if (listing && !listing->is_shared)
    listing->at = (uint32_t)position;
  else
    gs_real_seekdir(stream, position);
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

/* ---- What the C library does with its own functions of that kind, and not with ours ---- */

/* Whether a folder has names from us. */
static bool is_listed(const char *path) {
  gs_answer_t answer;
  return gs_path_answer(AT_FDCWD, path, true, &answer) || gs_path_shared(AT_FDCWD, path, &answer);
}

typedef struct names {
  struct dirent **list;
  size_t count, room;
} names_t;

static bool add_name(names_t *names, const struct dirent *entry) {
  enum { FIRST_ROOM = 16 };
  if (names->count == names->room) {
    const size_t room = names->room ? 2 * names->room : FIRST_ROOM;
    struct dirent **list = realloc(names->list, room * sizeof *list);
    if (!list)
      return false;
    names->list = list;
    names->room = room;
  }
  struct dirent *copy = malloc(sizeof *copy);
  if (copy) {
    memcpy(copy, entry, entry->d_reclen < sizeof *copy ? entry->d_reclen : sizeof *copy);
    names->list[names->count++] = copy;
  }
  return copy != NULL;
}

static void drop_names(names_t *names) {
  for (size_t i = 0; i < names->count; i++)
    free(names->list[i]);
  free(names->list);
}

EXPORT int scandir(const char *path, struct dirent ***list_of_names, gs_scan_filter_t *filter,
                   gs_scan_order_t *order) {
  names_t names = {0};
  bool whole = true;
  if (!is_listed(path))
    return gs_real_scandir(path, list_of_names, filter, order);
  DIR *stream = opendir(path);
  if (!stream)
    return -1;
  for (const struct dirent *entry; whole && (entry = readdir(stream));)
    whole = (filter && !filter(entry)) || add_name(&names, entry);
  closedir(stream);
  if (!whole) {
    drop_names(&names);
    errno = ENOMEM;
    return -1;
  }
  /* What qsort passes on are the same pointers. */
  if (order && names.count)
    qsort(names.list, names.count, sizeof *names.list,
          (int (*)(const void *, const void *))(void (*)(void))order);
  *list_of_names = names.list;
  return (int)names.count;
}
EXPORT int scandir64(const char *path, struct dirent64 ***names, int (*filter)(const struct dirent64 *),
                     int (*order)(const struct dirent64 **, const struct dirent64 **)) {
  return scandir(path, (struct dirent ***)(void *)names, (gs_scan_filter_t *)(void (*)(void))filter,
                 (gs_scan_order_t *)(void (*)(void))order);
}

/* The C library's glob asks others for names, if it is told whom. */

static void *open_for_glob(const char *path) {
  return opendir(path);
}

static struct dirent *read_for_glob(void *stream) {
  return readdir(stream);
}

static void close_for_glob(void *stream) {
  closedir(stream);
}

EXPORT int glob(const char *restrict pattern, int flags, int (*on_error)(const char *path, int error),
                glob_t *restrict paths) {
  if (flags & GLOB_ALTDIRFUNC || !pattern ||
      (strncmp(pattern, "/sys", 4) != 0 && strncmp(pattern, "/dev", 4) != 0))
    return gs_real_glob(pattern, flags, on_error, paths);
  paths->gl_opendir = open_for_glob;
  paths->gl_readdir = read_for_glob;
  paths->gl_closedir = close_for_glob;
  paths->gl_stat = stat;
  paths->gl_lstat = lstat;
  const int status = gs_real_glob(pattern, flags | GLOB_ALTDIRFUNC, on_error, paths);
  paths->gl_flags &= ~GLOB_ALTDIRFUNC;
  return status;
}
_Static_assert(sizeof(glob_t) == sizeof(glob64_t), "one structure on a 64-bit machine");
EXPORT int glob64(const char *restrict pattern, int flags, int (*on_error)(const char *path, int error),
                  glob64_t *restrict paths) {
  return glob(pattern, flags, on_error, (glob_t *)(void *)paths);
}

/* ---- Where the process is ---- */

EXPORT int chdir(const char *path) {
  gs_answer_t answer;
  if (!gs_path_answer(AT_FDCWD, path, true, &answer))
    return gs_real_chdir(path);
  const int folder = gs_answer_open(&answer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return -1;
  const int failed = fchdir(folder);
  gs_preload_close(folder);
  return failed;
}

EXPORT char *getcwd(char *path, size_t size) {
  char own[GS_PATH_BYTES];
  gs_answer_t answer;
  char *given = gs_real_getcwd(path, size);
  if (given || errno != ENOENT || !gs_path_of_descriptor(AT_FDCWD, own) ||
      !gs_path_answer(AT_FDCWD, own, false, &answer))
    return given;
  if (path && size <= strlen(own)) {
    errno = ERANGE;
    return NULL;
  }
  return path ? strcpy(path, own) : strdup(own);
}
