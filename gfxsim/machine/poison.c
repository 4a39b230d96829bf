/* Little memory is written to. Of a file without a name, which is written once, the rest has copies that are
 * made page by page when something is written there. */
#include "machine/poison.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"

/* The file's size is a large page and more; one of 64 GiB of memory is then 4096 mappings, of the 65530 that
 * Linux gives a process. */
#define FILE_BYTES   (UINT64_C(16) << 20)
#define LITTLE_BYTES (UINT64_C(4) << 20)

void gs_fresh_init(gs_fresh_t *fresh, const gs_options_t *options) {
  *fresh = (gs_fresh_t){.kind = options->strict.kinds[GS_STRICT_POISON], .seed = options->strict_seed};
}

void gs_fresh_fini(gs_fresh_t *fresh) {
  if (fresh->pages)
    close(fresh->file);
  *fresh = (gs_fresh_t){0};
}

/* A file whose descriptor is none of the standard streams': a program may have closed those, and would write
 * to the memory of a GPU. */
static int open_file(void) {
  const int file = memfd_create("gfxsim-poison", MFD_CLOEXEC);
  if (file < 0 || file > STDERR_FILENO)
    return file;
  const int higher = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(file);
  return higher;
}

/* Makes the file. False, with errno, if the host has no room for it. */
static bool make_file(gs_fresh_t *fresh) {
  const int file = open_file();
  if (file < 0)
    return false;
  void *bytes = MAP_FAILED;
  if (ftruncate(file, FILE_BYTES) == 0)
    bytes = mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (bytes == MAP_FAILED) {
    close(file);
    return false;
  }
  gs_random_t random = gs_random_of(fresh->seed, 0, 0);
  gs_poison_fill(fresh->kind, &random, bytes, FILE_BYTES);
  munmap(bytes, FILE_BYTES);
  fresh->file = file;
  fresh->pages = FILE_BYTES / GS_PAGE_BYTES;
  return true;
}

static bool map_copies(const gs_fresh_t *fresh, uint8_t *host, uint64_t size) {
  for (uint64_t at = 0; at < size; at += FILE_BYTES) {
    const uint64_t bytes = size - at < FILE_BYTES ? size - at : FILE_BYTES;
    if (mmap(host + at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, fresh->file,
             0) == MAP_FAILED)
      return false;
  }
  return true;
}

void gs_fresh_fill(gs_fresh_t *fresh, const gs_buffer_t *buffer) {
  if (!fresh->kind || !buffer->on_gpu)
    return;
  gs_random_t random = gs_random_of(fresh->seed, buffer->node, fresh->count++);
  if (buffer->size <= LITTLE_BYTES)
    gs_poison_fill(fresh->kind, &random, buffer->host, buffer->size);
  else if (!(fresh->pages || make_file(fresh)) || !map_copies(fresh, buffer->host, buffer->size))
    gs_log("no poison for all of %llu bytes of device memory: %s", (unsigned long long)buffer->size,
           strerror(errno));
  else
    madvise(buffer->host, buffer->size, MADV_DONTFORK);
}
