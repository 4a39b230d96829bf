/* Paths that are not ours are told apart by their first words, without a call of the kernel: relative ones
 * cost one only in processes that have, or inherited, a folder of ours. */
#include "kfd/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/preload.h"
#include "kfd/real.h"

/* The process may have a folder of ours open, or be in one. */
static _Atomic bool has_folders;

void gs_path_expect_folders(void) {
  atomic_store_explicit(&has_folders, true, memory_order_relaxed);
}

/* A program that another one started in a folder of ours. */
__attribute__((constructor)) static void begin(void) {
  char path[GS_PATH_BYTES];
  const int error = errno;
  const ssize_t size = gs_real_readlinkat(AT_FDCWD, "/proc/self/cwd", path, sizeof path);
  if (size > (ssize_t)strlen(GS_PRELOAD_FOLDER) &&
      !strncmp(path, GS_PRELOAD_FOLDER, strlen(GS_PRELOAD_FOLDER)))
    gs_path_expect_folders();
  errno = error;
}

/* Takes `ending` off a text. */
static bool take_end(char *text, const char *ending) {
  const size_t length = strlen(text), cut = strlen(ending);
  if (length < cut || strcmp(text + length - cut, ending) != 0)
    return false;
  text[length - cut] = '\0';
  return true;
}

bool gs_path_of_file(const char *link, char path[GS_PATH_BYTES]) {
  const int error = errno;
  const ssize_t size = gs_real_readlinkat(AT_FDCWD, link, path, GS_PATH_BYTES - 1);
  errno = error;
  if (size <= 0)
    return false;
  path[size] = '\0';
  const size_t folder = strlen(GS_PRELOAD_FOLDER), text = strlen(GS_PRELOAD_TEXT_LINK);
  if (!strncmp(path, GS_PRELOAD_TEXT_LINK, text) && take_end(path, " (deleted)")) {
    memmove(path, path + text, strlen(path + text) + 1);
  } else if (!strncmp(path, GS_PRELOAD_FOLDER, folder) && take_end(path, " (deleted)")) {
    path[strlen(path) - strlen(GS_PRELOAD_FOLDER_END)] = '\0';
    memmove(path, path + folder, strlen(path + folder) + 1);
    for (char *at = path; (at = strchr(at, GS_PRELOAD_SLASH)) != NULL;)
      *at = '/';
  }
  return path[0] == '/';
}

bool gs_path_of_descriptor(int file, char path[GS_PATH_BYTES]) {
  char link[32] = "/proc/self/cwd";
  if (file != AT_FDCWD)
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  return gs_path_of_file(link, path);
}

/* Whether a path begins with a word. */
static bool begins(const char *path, const char *word) {
  const size_t length = strlen(word);
  return !strncmp(path, word, length) && (!path[length] || path[length] == '/');
}

/* What relative paths to our files begin with, in folders that are not ours. */
static bool may_be_relative(const char *path) {
  static const char *const words[] = {"dev", "sys",    "class", "devices", "module", "bus",     "char",
                                      "pci", "amdgpu", "kfd",   "dri",     "drm",    "virtual", "drivers"};
  static const char *const numbers[] = {"226:", "234:", "0000:", "pci0000:"};
  while (path[0] == '.' && path[1] == '/')
    path += 1 + strspn(path + 1, "/");
  if (atomic_load_explicit(&has_folders, memory_order_relaxed) || !path[0] || begins(path, "."))
    return true;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (begins(path, words[i]))
      return true;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (!strncmp(path, numbers[i], strlen(numbers[i])))
      return true;
  return false;
}

static bool may_be_ours(const char *path) {
  if (path[0] != '/')
    return may_be_relative(path);
  path += strspn(path, "/");
  return begins(path, "sys") || begins(path, "dev") || begins(path, "proc");
}

/* A path that grows by words, and what is still to be walked. */
typedef struct walk {
  char *done; /* no slash at its end: "" is the root */
  char rest[2 * GS_PATH_BYTES];
} walk_t;

static void leave_last(char *done) {
  char *slash = strrchr(done, '/');
  if (slash)
    *slash = '\0';
}

/* Puts a text before what is left. */
static bool push_front(walk_t *walk, const char *text) {
  const size_t length = strlen(text), rest = strlen(walk->rest);
  if (length + rest + 2 > sizeof walk->rest)
    return false;
  memmove(walk->rest + length + 1, walk->rest, rest + 1);
  memcpy(walk->rest, text, length);
  walk->rest[length] = '/';
  return true;
}

/* Takes the next word to the path. False: there is none, or no room. */
static bool take_word(walk_t *walk, bool *is_last) {
  const char *word = walk->rest + strspn(walk->rest, "/");
  const size_t length = strcspn(word, "/"), done = strlen(walk->done);
  if (!length || done + length + 2 > GS_PATH_BYTES)
    return false;
  if (length == 2 && word[0] == '.' && word[1] == '.') {
    leave_last(walk->done);
  } else if (length > 1 || word[0] != '.') {
    walk->done[done] = '/';
    memcpy(walk->done + done + 1, word, length);
    walk->done[done + 1 + length] = '\0';
  }
  *is_last = !word[length];
  memmove(walk->rest, word + length, strlen(word + length) + 1);
  return true;
}

int gs_path_resolve(int folder, const char *path, bool follows, gs_link_at_t *link_at,
                    char resolved[GS_PATH_BYTES]) {
  enum { MOST_LINKS = 16 };
  char target[GS_PATH_BYTES];
  walk_t walk = {.done = resolved};
  int links = 0;
  if (!path || !may_be_ours(path) || strlen(path) >= GS_PATH_BYTES)
    return -1;
  strcpy(walk.rest, path);
  resolved[0] = '\0';
  if (path[0] != '/' && !(gs_path_of_descriptor(folder, target) && push_front(&walk, target)))
    return -1;
  for (bool is_last; take_word(&walk, &is_last);) {
    if ((is_last && !follows) || !link_at(resolved, target))
      continue;
    if (target[0] == '/')
      resolved[0] = '\0';
    else
      leave_last(resolved);
    if (++links > MOST_LINKS || !push_front(&walk, target))
      return -1;
  }
  return walk.rest[strspn(walk.rest, "/")] ? -1 : links;
}
