/* See mapped.h. Sums are of 16 bits as the flags are, over blocks that they cannot overflow in. */
#include "check/mapped.h"

#include <string.h>

enum {
  WRITTEN = GS_MAPPED_WRITTEN,
  STALE = GS_MAPPED_STALE,
  READ = GS_MAPPED_READ,
  SERVED = GS_MAPPED_SERVED,
  KNOWN = GS_MAPPED_KNOWN,
  WANTED = GS_MAPPED_WANTED,
  CAME = GS_MAPPED_CAME,
  SAME = GS_MAPPED_SAME,
  SENT = GS_MAPPED_SENT,
  UNDOES = GS_MAPPED_UNDOES,
  REPLACED = GS_MAPPED_REPLACED,
  OVERWRITTEN = GS_MAPPED_OVERWRITTEN,
  CHANGED = GS_MAPPED_CHANGED,
};

enum { BLOCK = 4096 };

static uint64_t block_of(uint64_t count, uint64_t done) {
  return count - done < BLOCK ? count - done : BLOCK;
}

/* All bits where `is` is true. */
static inline uint16_t mask_of(bool is) {
  return (uint16_t) - (int)is;
}

/* Whether all of these flags are set. */
static inline bool has_all(uint16_t flags, unsigned all) {
  return (flags & all) == all;
}

/* ---- Questions ---- */

bool gs_mapped_any(const gs_mapped_t *bytes, uint64_t count, uint16_t flag) {
  for (uint64_t done = 0, block; done < count; done += block) {
    uint16_t any = 0;
    block = block_of(count, done);
    for (uint64_t i = 0; i < block; i++)
      any |= bytes->flags[done + i];
    if (any & flag)
      return true;
  }
  return false;
}

uint64_t gs_mapped_unread(const gs_mapped_t *bytes, uint64_t count) {
  uint64_t unread = 0;
  for (uint64_t done = 0, block; done < count; done += block) {
    uint16_t sum = 0;
    block = block_of(count, done);
    for (uint64_t i = 0; i < block; i++)
      sum = (uint16_t)(sum + ((bytes->flags[done + i] & (SENT | READ)) == SENT));
    unread += sum;
  }
  return unread;
}

uint64_t gs_mapped_lost(const gs_mapped_t *bytes, uint64_t count, const uint8_t *host,
                        const uint8_t *device) {
  uint64_t lost = 0;
  if (memcmp(host, device, count) == 0)
    return 0;
  for (uint64_t i = 0; i < count; i++)
    lost += (bytes->flags[i] & (WRITTEN | SERVED)) == WRITTEN && host[i] != device[i];
  return lost;
}

/* ---- What the host does ---- */

void gs_mapped_know(const gs_mapped_t *bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    bytes->flags[i] = (uint16_t)((bytes->flags[i] | KNOWN) & ~(STALE | WANTED | CAME | SAME));
}

gs_some_t gs_mapped_mark_stale(const gs_mapped_t *bytes, uint64_t count, const uint8_t *now) {
  gs_some_t some = {0};
  for (uint64_t i = 0; i < count; i++) {
    const bool stale =
        bytes->flags[i] & KNOWN && now[i] != bytes->host_had[i] && bytes->device_had[i] == bytes->host_had[i];
    bytes->flags[i] = (uint16_t)((bytes->flags[i] & ~STALE) | (stale ? STALE : 0));
    if (stale && !some.count++)
      some.first = i;
  }
  return some;
}

/* ---- To the device ---- */

bool gs_mapped_is_old(const gs_mapped_t *bytes, uint64_t count, const uint8_t *data) {
  uint16_t known = KNOWN;
  if (memcmp(data, bytes->host_had, count) != 0)
    return false;
  for (uint64_t i = 0; i < count; i++)
    known &= bytes->flags[i];
  return known;
}

/* Marks what a kernel has changed, none has read, and is what it was before from now on. */
static void mark_replaced(uint16_t *restrict flags, const uint8_t *restrict data,
                          const uint8_t *restrict before, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    const uint16_t written = flags[i] & (WRITTEN | SERVED), new = data[i] ^ before[i];
    flags[i] |= (written == WRITTEN ? REPLACED : 0) & (new != 0 ? REPLACED : 0);
  }
}

bool gs_mapped_mark_changed(const gs_mapped_t *bytes, uint64_t count, const uint8_t *now) {
  uint16_t any = 0;
  if (memcmp(now, bytes->host_had, count) == 0)
    return false;
  for (uint64_t i = 0; i < count; i++) {
    const uint16_t changed = bytes->flags[i] & mask_of(now[i] != bytes->host_had[i]) & KNOWN;
    bytes->flags[i] |= changed ? CHANGED : 0;
    any |= changed;
  }
  return any;
}

bool gs_mapped_mark_overwritten(const gs_mapped_t *bytes, uint64_t count, const uint8_t *data,
                                const uint8_t *before) {
  bool any = false;
  if (memcmp(data, before, count) == 0)
    return false;
  for (uint64_t i = 0; i < count; i++)
    if ((bytes->flags[i] & (WRITTEN | SERVED)) == WRITTEN && data[i] != before[i]) {
      bytes->flags[i] |= OVERWRITTEN;
      any = true;
    }
  return any;
}

/* Whether the host has changed anything of the word that the byte is in. */
static bool has_changed_word(const gs_mapped_t *mapped, uint64_t all, uint64_t byte) {
  enum { WORD = sizeof(uint64_t) };
  for (uint64_t i = byte / WORD * WORD; i < all && i < (byte / WORD + 1) * WORD; i++)
    if (mapped->flags[i] & CHANGED)
      return true;
  return false;
}

void gs_mapped_overwritten(const gs_mapped_t *mapped, uint64_t all, uint64_t first, uint64_t count,
                           uint16_t flag, gs_some_t *lost) {
  for (uint64_t i = first; i < first + count; i++)
    if ((mapped->flags[i] & (OVERWRITTEN | WRITTEN | flag)) == (OVERWRITTEN | flag) &&
        !has_changed_word(mapped, all, i) && !lost->count++)
      lost->first = i;
}

/* Returns what differs from a repetition, 0 if nothing does. */
static uint16_t come(uint16_t *restrict flags, uint8_t *restrict device_had, const uint8_t *restrict data,
                     uint64_t count, uint16_t sent) {
  uint16_t differs = 0;
  for (uint64_t i = 0; i < count; i++) {
    differs |= (uint16_t)(((flags[i] & (SENT | WRITTEN)) ^ SENT) | (device_had[i] ^ data[i]));
    flags[i] = (uint16_t)((flags[i] | sent) & ~(WRITTEN | SERVED | READ | CAME | SAME));
    device_had[i] = data[i];
  }
  return differs;
}

bool gs_mapped_come(const gs_mapped_t *bytes, uint64_t count, const uint8_t *data, const uint8_t *before,
                    bool is_sent) {
  uint16_t differs = 0;
  for (uint64_t done = 0, block; done < count; done += block) {
    const gs_mapped_t part = gs_mapped_from(bytes, done);
    block = block_of(count, done);
    if (before && memcmp(data + done, before + done, block) != 0)
      mark_replaced(part.flags, data + done, before + done, block);
    differs |= come(part.flags, part.device_had, data + done, block, is_sent ? SENT : 0);
  }
  return !differs;
}

/* ---- To the host ---- */

void gs_mapped_mark_undoes(const gs_mapped_t *bytes, uint64_t count, const uint8_t *data,
                           const uint8_t *now) {
  if (memcmp(data, now, count) == 0)
    return;
  for (uint64_t i = 0; i < count; i++)
    if ((bytes->flags[i] & (KNOWN | WRITTEN)) == KNOWN && data[i] == bytes->host_had[i] &&
        now[i] != bytes->host_had[i])
      bytes->flags[i] |= UNDOES;
}

void gs_mapped_forget_undoes(const gs_mapped_t *bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    bytes->flags[i] &= (uint16_t)~UNDOES;
}

/* What was asked for and has come is what the host has; but for what the runtime puts right, as pointers. */
static void arrive(uint16_t *restrict flags, uint8_t *restrict host_had, const uint8_t *restrict device_had,
                   uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    const uint16_t is = mask_of(has_all(flags[i], WANTED | CAME)),
                   same = is & mask_of(has_all(flags[i], SAME));
    host_had[i] = (uint8_t)((host_had[i] & ~same) | (device_had[i] & same));
    flags[i] = (uint16_t)((flags[i] & ~(is & (WANTED | CAME | SAME | UNDOES | OVERWRITTEN | CHANGED))) |
                          (same & KNOWN));
  }
}

/* Which changes of the host does that undo? */
static void count_undone(const gs_mapped_t *bytes, uint64_t count, uint64_t first, gs_some_t *undone) {
  if (!gs_mapped_any(bytes, count, UNDOES))
    return;
  for (uint64_t i = 0; i < count; i++)
    if (has_all(bytes->flags[i], WANTED | CAME | UNDOES) && !undone->count++)
      undone->first = first + i;
}

static uint16_t go(uint16_t *restrict flags, const uint8_t *restrict host_had, uint8_t *restrict device_had,
                   const uint8_t *restrict data, uint64_t count) {
  uint16_t changed = 0;
  for (uint64_t i = 0; i < count; i++) {
    const uint16_t now = flags[i];
    const uint16_t known = now & (WRITTEN | KNOWN), apart = device_had[i] ^ host_had[i];
    const uint16_t same = (known != KNOWN ? SAME : 0) | (apart == 0 ? SAME : 0);
    changed |= (uint16_t)((now & (SENT | WRITTEN)) ^ SENT);
    /* What a kernel has written again it has not lost. */
    const uint16_t again = mask_of(now & WRITTEN) & OVERWRITTEN;
    flags[i] = (uint16_t)((now & ~(WRITTEN | SERVED | REPLACED | again)) | CAME | same);
    device_had[i] = data[i];
  }
  return changed;
}

bool gs_mapped_go(const gs_mapped_t *bytes, uint64_t count, const uint8_t *data, gs_some_t *undone) {
  uint16_t changed = 0;
  for (uint64_t done = 0, block; done < count; done += block) {
    const gs_mapped_t part = gs_mapped_from(bytes, done);
    block = block_of(count, done);
    changed |= go(part.flags, part.host_had, part.device_had, data + done, block);
    count_undone(&part, block, done, undone);
    arrive(part.flags, part.host_had, part.device_had, block);
  }
  return !changed;
}

void gs_mapped_want(const gs_mapped_t *bytes, uint64_t count, uint16_t clear, gs_some_t *undone) {
  for (uint64_t done = 0, block; done < count; done += block) {
    const gs_mapped_t part = gs_mapped_from(bytes, done);
    block = block_of(count, done);
    for (uint64_t i = 0; i < block; i++)
      part.flags[i] = (uint16_t)((part.flags[i] & ~clear) | WANTED);
    count_undone(&part, block, done, undone);
    arrive(part.flags, part.host_had, part.device_had, block);
  }
}

/* ---- Hashes ---- */

uint64_t gs_mapped_hash(const uint8_t *data, uint64_t bytes) {
  enum { STREAMS = 4, WORD = sizeof(uint64_t) }; /* as many multiplications are under way at once */
  static const uint64_t prime = UINT64_C(0x9e3779b97f4a7c15);
  uint64_t hash[STREAMS] = {1, 2, 3, 4}, word[STREAMS];
  for (; bytes >= sizeof word; bytes -= sizeof word, data += sizeof word) {
    memcpy(word, data, sizeof word);
    for (unsigned i = 0; i < STREAMS; i++) {
      hash[i] = (hash[i] ^ word[i]) * prime;
      hash[i] ^= hash[i] >> 32;
    }
  }
  uint64_t all = bytes;
  memset(word, 0, sizeof word);
  memcpy(word, data, bytes);
  for (unsigned i = 0; i < STREAMS; i++)
    all = (all ^ (all >> 29) ^ hash[i] ^ word[i]) * prime;
  return all ^ all >> 32;
}
