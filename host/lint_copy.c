/* Lint: functions of the device that look at what is copied. Each copy is waited for, so its time is its own;
 * a thread that copies leaves here what its next note is about. Not here: what follows from it (lint). */
#include "lint.h"

#include "base/process_memory.h"
#include "base/spin.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Results of a few numbers are the same as before by chance, and copying them is right. */
enum { LEAST_COMPARED_BYTES = 64, CHUNK_BYTES = 1 << 16 };

static __thread tgt_looked_at_t looked_at __attribute__((tls_model("initial-exec")));

tgt_looked_at_t tgt_lint_take_copy(void) {
  tgt_looked_at_t copy = looked_at;
  memset(&looked_at, 0, sizeof looked_at);
  return copy;
}

/* ---- contents ---- */

static uint64_t mix(uint64_t hash, const char *at, uint64_t bytes) {
  for (; bytes >= sizeof hash; at += sizeof hash, bytes -= sizeof hash) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  for (; bytes; at++, bytes--)
    hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
  return hash;
}

uint64_t tgt_lint_hash(const void *memory, uint64_t bytes) {
  uint64_t hash = mix(bytes, memory, bytes);
  return hash ? hash : 1;
}

/* In pieces of a multiple of 8 bytes, so that both are the same. */
uint64_t tgt_lint_hash_carefully(const void *memory, uint64_t bytes) {
  char *chunk = malloc(CHUNK_BYTES);
  uint64_t hash = bytes, done = 0;
  while (chunk && done < bytes) {
    uint64_t piece = bytes - done < CHUNK_BYTES ? bytes - done : CHUNK_BYTES;
    if (!atmi_process_memory_read((const char *)memory + done, chunk, piece))
      break;
    hash = mix(hash, chunk, piece);
    done += piece;
  }
  free(chunk);
  if (done < bytes)
    return 0;
  return hash ? hash : 1;
}

/* ---- the device's functions ---- */

static const map_device_functions_t *inner(void) {
  return tgt_ompt_functions();
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool wait_until_done(void *stream) {
  return !tgt_stream_wait(stream);
}

/* Whether the device's memory has the same bytes already. Looked at by a copy behind what the stream has. */
static bool is_on_device(void *device, void *stream, const void *memory, const void *host, uint64_t bytes) {
  char *there = tgt_lint_is_written(device, host) ? malloc(bytes) : NULL;
  bool same = there && tgt_device_functions.retrieve(device, stream, there, memory, bytes) &&
              wait_until_done(stream) && !memcmp(there, host, bytes);
  free(there);
  return same;
}

static bool allocate(void *device, uint64_t bytes, const void *host, void **memory) {
  return inner()->allocate(device, bytes, host, memory);
}

static bool release(void *device, void *memory) {
  return inner()->release(device, memory);
}

static bool submit(void *device, void *stream, void *memory, const void *host, uint64_t bytes) {
  if (!wait_until_done(stream)) /* a kernel is not the copy's time */
    return false;
  looked_at = (tgt_looked_at_t){.host = host, .bytes = bytes};
  if (bytes >= LEAST_COMPARED_BYTES) /* 0: memory of a device, which programs may map */
    looked_at.contents = tgt_lint_hash_carefully(host, bytes);
  looked_at.is_same = looked_at.contents && is_on_device(device, stream, memory, host, bytes);
  double begin = now();
  if (!inner()->submit(device, stream, memory, host, bytes) || !wait_until_done(stream))
    return false;
  looked_at.seconds = now() - begin;
  return true;
}

static bool retrieve(void *device, void *stream, void *host, const void *memory, uint64_t bytes) {
  if (!wait_until_done(stream))
    return false;
  looked_at = (tgt_looked_at_t){.host = host, .bytes = bytes};
  uint64_t before = bytes >= LEAST_COMPARED_BYTES ? tgt_lint_hash_carefully(host, bytes) : 0;
  double begin = now();
  if (!inner()->retrieve(device, stream, host, memory, bytes) || !wait_until_done(stream))
    return false;
  looked_at.seconds = now() - begin;
  looked_at.is_same = before && tgt_lint_hash(host, bytes) == before;
  return true;
}

static bool mark(void *device, void *stream, map_mark_t *mark) {
  return inner()->mark(device, stream, mark);
}

static bool wait_for(void *device, void *stream, map_mark_t *mark) {
  return inner()->wait(device, stream, mark);
}

const map_device_functions_t tgt_lint_functions = {.allocate = allocate,
                                                   .release = release,
                                                   .submit = submit,
                                                   .retrieve = retrieve,
                                                   .mark = mark,
                                                   .wait = wait_for};
