/* A page of places behind a lock that survives the death of who holds it. */
#include "machine/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

enum { MOST_PROCESSES = 256 };
#define MAGIC UINT64_C(0x6c6d697378666701) /* with the version of this layout */

typedef struct place {
  pid_t process;    /* 0: nobody's */
  uint64_t started; /* when, in ticks since the system did: numbers of processes come again */
  uint64_t held[GS_MOST_PARTS];
} place_t;

struct gs_ledger_page {
  uint64_t magic; /* written last */
  pthread_mutex_t lock;
  uint64_t bytes[GS_MOST_PARTS];
  uint32_t gpus;
  place_t place[MOST_PROCESSES];
};

/* When a process started, or 0 if there is none. */
static uint64_t start_of(pid_t process) {
  enum { STARTED_AT = 20 }; /* numbers behind the name of the program, and its state */
  char path[64], text[1024];
  unsigned long long started = 0;
  snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = file < 0 ? -1 : read(file, text, sizeof text - 1);
  if (file >= 0)
    close(file);
  if (bytes <= 0)
    return 0;
  text[bytes] = 0;
  const char *at = strrchr(text, ')');
  for (int i = 0; at && i < STARTED_AT; i++)
    at = strchr(at + 1, ' ');
  return at && sscanf(at, " %llu", &started) == 1 ? started : 0;
}

static void lock(struct gs_ledger_page *page) {
  /* Every word of the page is right at any time: who died in the middle leaves nothing to mend. */
  if (pthread_mutex_lock(&page->lock) == EOWNERDEAD)
    pthread_mutex_consistent(&page->lock);
}

static void unlock(struct gs_ledger_page *page) {
  pthread_mutex_unlock(&page->lock);
}

/* Sweeps the places of processes that have gone. With the lock held. */
static void sweep(struct gs_ledger_page *page) {
  for (uint32_t i = 0; i < MOST_PROCESSES; i++) {
    place_t *place = &page->place[i];
    if (place->process && start_of(place->process) != place->started)
      memset(place, 0, sizeof *place);
  }
}

static uint64_t held_of(const struct gs_ledger_page *page, uint32_t gpu) {
  uint64_t held = 0;
  for (uint32_t i = 0; i < MOST_PROCESSES; i++)
    held += page->place[i].held[gpu];
  return held;
}

/* Makes the page of an empty file, or looks whether it is of a machine like this one. With the file locked.
 */
static const char *look_at(struct gs_ledger_page *page, const uint64_t *bytes, uint32_t gpus) {
  if (page->magic && page->magic != MAGIC)
    return "it is something else";
  if (page->magic)
    return page->gpus == gpus && !memcmp(page->bytes, bytes, gpus * sizeof *bytes)
               ? NULL
               : "it is of a machine with other cards (GFXSIM_DEVICES)";
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes))
    return "out of memory";
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const int failed = pthread_mutex_init(&page->lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  if (failed)
    return "this system has no locks between processes";
  memcpy(page->bytes, bytes, gpus * sizeof *bytes);
  page->gpus = gpus;
  page->magic = MAGIC;
  return NULL;
}

/* Takes a free place. Returns why not, or NULL. */
static const char *enter(gs_ledger_t *ledger, struct gs_ledger_page *page) {
  lock(page);
  sweep(page);
  uint32_t i = 0;
  while (i < MOST_PROCESSES && page->place[i].process)
    i++;
  if (i < MOST_PROCESSES) {
    page->place[i].started = start_of(getpid());
    page->place[i].process = getpid();
    *ledger = (gs_ledger_t){.page = page, .place = i};
  }
  unlock(page);
  return i < MOST_PROCESSES ? NULL : "too many processes are on this machine";
}

/* Maps the file and takes a place. Returns why not, or NULL. */
static const char *map(gs_ledger_t *ledger, int file, const uint64_t *bytes, uint32_t gpus) {
  struct stat status;
  const off_t size = sizeof *ledger->page;
  if (fstat(file, &status) || !S_ISREG(status.st_mode) || (status.st_size && status.st_size != size))
    return "it is something else";
  if (!status.st_size && ftruncate(file, size))
    return strerror(errno);
  struct gs_ledger_page *page = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED)
    return strerror(errno);
  const char *reason = look_at(page, bytes, gpus);
  if (!reason)
    reason = enter(ledger, page);
  if (reason)
    munmap(page, (size_t)size);
  return reason;
}

int gs_ledger_open(gs_ledger_t *ledger, const char *path, const uint64_t bytes[GS_MOST_PARTS],
                   uint32_t gpus) {
  *ledger = (gs_ledger_t){0};
  if (!*path)
    return 0;
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  const char *reason = NULL;
  if (file < 0 || flock(file, LOCK_EX))
    reason = strerror(errno);
  else
    reason = map(ledger, file, bytes, gpus);
  if (file >= 0) {
    flock(file, LOCK_UN); /* the mapping would keep it */
    close(file);
  }
  if (reason)
    gs_log("cannot share the machine by the file %s: %s; name a file that only programs on gfxsim use "
           "(GFXSIM_SHARED)",
           path, reason);
  return reason ? -1 : 0;
}

void gs_ledger_close(gs_ledger_t *ledger) {
  if (!ledger->page)
    return;
  lock(ledger->page);
  memset(&ledger->page->place[ledger->place], 0, sizeof *ledger->page->place);
  unlock(ledger->page);
  munmap(ledger->page, sizeof *ledger->page);
  ledger->page = NULL;
}

bool gs_ledger_take(const gs_ledger_t *ledger, uint32_t gpu, uint64_t bytes) {
  struct gs_ledger_page *page = ledger->page;
  if (!page)
    return true;
  lock(page);
  bool fits = bytes <= page->bytes[gpu] - held_of(page, gpu);
  if (!fits) {
    sweep(page);
    fits = bytes <= page->bytes[gpu] - held_of(page, gpu);
  }
  if (fits)
    page->place[ledger->place].held[gpu] += bytes;
  unlock(page);
  return fits;
}

void gs_ledger_give(const gs_ledger_t *ledger, uint32_t gpu, uint64_t bytes) {
  if (!ledger->page)
    return;
  lock(ledger->page);
  ledger->page->place[ledger->place].held[gpu] -= bytes;
  unlock(ledger->page);
}

uint64_t gs_ledger_of_others(const gs_ledger_t *ledger, uint32_t gpu) {
  struct gs_ledger_page *page = ledger->page;
  if (!page)
    return 0;
  lock(page);
  sweep(page);
  const uint64_t bytes = held_of(page, gpu) - page->place[ledger->place].held[gpu];
  unlock(page);
  return bytes;
}
