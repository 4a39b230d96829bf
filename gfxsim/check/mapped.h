/* What the tool "transfer" keeps of each byte of a mapping, and passes over many of them: mappings may be as
 * large as a GPU's memory, so each is a loop without branches that compilers make vector instructions of. Not
 * here: what is mapped, and who is told (transfer.c); what kernels set (sweep.h). */
#ifndef GFXSIM_CHECK_MAPPED_H
#define GFXSIM_CHECK_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

#include "check/sweep.h"

/* Flags of a byte, beside GS_MAPPED_* of sweep.h. */
enum {
  GS_MAPPED_KNOWN = 8,       /* `host_had` is true */
  GS_MAPPED_WANTED = 16,     /* a copy to the variable on the host was asked for */
  GS_MAPPED_CAME = 32,       /* a copy from the device has begun */
  GS_MAPPED_SAME = 64,       /* what came was not the runtime's own, as pointers are */
  GS_MAPPED_SENT = 128,      /* to the device, and not counted as read or unread yet */
  GS_MAPPED_UNDOES = 512,    /* what came is what the host had, and has changed */
  GS_MAPPED_REPLACED = 1024, /* WRITTEN, then a copy to the device has put back what the host had */
  /* Since data came to the host last: */
  GS_MAPPED_OVERWRITTEN = 2048, /* WRITTEN, then a copy to the device has put something else there */
  GS_MAPPED_CHANGED = 4096,     /* the host had changed it when it was copied to the device */
};

/* Three arrays. Callers keep others away from the bytes that they give. */
typedef struct gs_mapped {
  uint16_t *flags;
  uint8_t *host_had;   /* when they were copied to the device, or came from it, last */
  uint8_t *device_had; /* what was copied to the device, or from it, last */
} gs_mapped_t;

/* Some of its bytes, from one on. */
static inline gs_mapped_t gs_mapped_from(const gs_mapped_t *all, uint64_t first) {
  return (gs_mapped_t){all->flags + first, all->host_had + first, all->device_had + first};
}

/* Which of some bytes, of those that were given. */
typedef struct gs_some {
  uint64_t count, first;
} gs_some_t;

/* Whether any has the flag. */
bool gs_mapped_any(const gs_mapped_t *bytes, uint64_t count, uint16_t flag);
/* How many were sent, and no kernel has read them. */
uint64_t gs_mapped_unread(const gs_mapped_t *bytes, uint64_t count);
/* How many of what a kernel wrote, and none read, the host has otherwise than the device. */
uint64_t gs_mapped_lost(const gs_mapped_t *bytes, uint64_t count, const uint8_t *host, const uint8_t *device);

/* `host_had` is what the host has now. */
void gs_mapped_know(const gs_mapped_t *bytes, uint64_t count);
/* Marks as STALE, or not, what the host has changed since both sides had the same. */
gs_some_t gs_mapped_mark_stale(const gs_mapped_t *bytes, uint64_t count, const uint8_t *now);

/* Whether `data` is what the host had. */
bool gs_mapped_is_old(const gs_mapped_t *bytes, uint64_t count, const uint8_t *data);
/* `data` comes to the device; before: what is there, of which kernels' changes are REPLACED, or NULL;
 * `is_sent`: it is data, and no pointer of a runtime's. Returns whether it was the same that was copied there
 * before, and no kernel has changed. */
bool gs_mapped_come(const gs_mapped_t *bytes, uint64_t count, const uint8_t *data, const uint8_t *before,
                    bool is_sent);
/* Marks as CHANGED what the host, which has `now`, has changed since its bytes were known. Whether any is. */
bool gs_mapped_mark_changed(const gs_mapped_t *bytes, uint64_t count, const uint8_t *now);
/* Marks as OVERWRITTEN what a kernel has written and none read, `before`, and `data` is not; before
 * gs_mapped_come. Whether any is. */
bool gs_mapped_mark_overwritten(const gs_mapped_t *bytes, uint64_t count, const uint8_t *data,
                                const uint8_t *before);
/* Adds to `lost` the bytes from `first` on, `count` of `all`, that have `flag`, are OVERWRITTEN and not
 * WRITTEN, and of which the host has changed no neighbour: of a value that changes some bytes stay as they
 * were. */
void gs_mapped_overwritten(const gs_mapped_t *mapped, uint64_t all, uint64_t first, uint64_t count,
                           uint16_t flag, gs_some_t *lost);

/* Marks as UNDOES what of `data`, about to go to the host which has `now`, is what that had, but not has. */
void gs_mapped_mark_undoes(const gs_mapped_t *bytes, uint64_t count, const uint8_t *data, const uint8_t *now);
/* Of none it is known any more that it is so. */
void gs_mapped_forget_undoes(const gs_mapped_t *bytes, uint64_t count);
/* `data` goes from the device; adds to `undone` what changes of the host are undone by it. Returns whether it
 * was what had been copied there. */
bool gs_mapped_go(const gs_mapped_t *bytes, uint64_t count, const uint8_t *data, gs_some_t *undone);
/* A copy to the host is asked for, which may have begun. `clear`: flags of what went elsewhere. */
void gs_mapped_want(const gs_mapped_t *bytes, uint64_t count, uint16_t clear, gs_some_t *undone);

/* Of any bytes; other ones have another, most likely. */
uint64_t gs_mapped_hash(const uint8_t *data, uint64_t bytes);

#endif
