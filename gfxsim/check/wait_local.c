/* Local memory (LDS) that was written and not waited for, as the tool "wait" follows it: a barrier does not
 * wait for what its waves have asked for, so others may come to old values behind it; and what LDS-DMA writes
 * is there when its counter says so, for the wave itself, too. Each dword knows the write that is due there.
 * Not here: when an operation is over (wait.c). */
#include <string.h>

#include "check/wait.h"
#include "isa/memory.h"

enum { OWNER_SLOTS = 4 }; /* bits: an owner is (wave + 1) << OWNER_SLOTS | slot */

static uint16_t owner_of(const gs_wave_waits_t *waits, unsigned slot) {
  return (uint16_t)((waits->index + 1) << OWNER_SLOTS | slot);
}

static unsigned dword_of(const gs_local_write_t *write, unsigned i) {
  return write->is_row ? write->at[0] + i : write->at[i];
}

static void mark(gs_wave_waits_t *waits, unsigned slot) {
  gs_group_waits_t *group = waits->group;
  gs_local_write_t *write = &group->write[waits->index][slot];
  if (write->marked || !write->count)
    return;
  write->marked = true;
  group->marked++;
  waits->marked_slots |= 1u << slot;
  for (unsigned i = 0; i < write->count; i++)
    group->owner[dword_of(write, i)] = owner_of(waits, slot);
}

/* Forgets a write. */
static void drop(gs_wave_waits_t *waits, unsigned slot) {
  gs_local_write_t *write = &waits->group->write[waits->index][slot];
  for (unsigned i = 0; i < write->count && write->marked; i++)
    if (waits->group->owner[dword_of(write, i)] == owner_of(waits, slot))
      waits->group->owner[dword_of(write, i)] = 0;
  waits->group->marked -= write->marked;
  waits->marked_slots &= ~(1u << slot);
  write->marked = false;
  write->count = 0;
}

void gs_local_over(gs_wave_waits_t *waits, unsigned slot) {
  gs_local_write_t *write = &waits->group->write[waits->index][slot];
  if (write->marked && waits->group->waves > 1)
    write->over = waits->barriers + 1; /* nobody else knows that it is until they have met again */
  else
    drop(waits, slot);
}

void gs_local_begin(gs_wave_waits_t *waits, const gs_inst_t *in, uint64_t pc) {
  const bool writes = in->lds || in->op->flags & (GS_OPF_STORE | GS_OPF_ATOMIC);
  waits->recording = NULL;
  if (!writes || !(in->lds || in->op->encoding == GS_ENC_DS || in->op->encoding == GS_ENC_FLAT))
    return;
  if (!in->lds && waits->group->waves < 2)
    return;
  waits->slot = (waits->slot + 1) % GS_LOCAL_WRITES;
  drop(waits, waits->slot);
  waits->recording = &waits->group->write[waits->index][waits->slot];
  waits->recording->pc = pc;
  waits->recording->by_dma = in->lds;
  waits->recording->epoch = waits->recording->over = UINT32_MAX;
}

unsigned gs_local_end(gs_wave_waits_t *waits) {
  gs_local_write_t *write = waits->recording;
  waits->recording = NULL;
  if (!write || !write->count)
    return 0;
  if (write->by_dma)
    mark(waits, waits->slot);
  return waits->slot + 1;
}

/* Forgets what all waves know to be over. */
static void drop_old(gs_group_waits_t *group) {
  uint32_t met = UINT32_MAX;
  for (unsigned i = 0; i < group->waves; i++)
    met = group->wave[i].barriers < met ? group->wave[i].barriers : met;
  for (unsigned i = 0; i < group->waves && group->marked; i++)
    for (uint32_t left = group->wave[i].marked_slots; left; left &= left - 1) {
      const unsigned slot = (unsigned)__builtin_ctz(left);
      if (group->write[i][slot].over <= met)
        drop(&group->wave[i], slot);
    }
}

void gs_local_finish(gs_wave_waits_t *waits) {
  waits->barriers = UINT32_MAX;
}

void gs_local_barrier(gs_wave_waits_t *waits) {
  waits->barriers++;
  if (waits->group->marked)
    drop_old(waits->group);
  for (unsigned i = 0; i < waits->count; i++) {
    const unsigned slot = waits->pending[i].local;
    if (!slot)
      continue;
    gs_local_write_t *write = &waits->group->write[waits->index][slot - 1];
    if (write->epoch == UINT32_MAX)
      write->epoch = waits->barriers;
    mark(waits, slot - 1);
  }
}

/* ---- Accesses ---- */

/* Whether the wave comes to a dword too early. What its LDS-DMA writes twice it writes in that order. */
static bool is_early(const gs_wave_waits_t *waits, unsigned wave, const gs_local_write_t *write) {
  const bool again = waits->recording && waits->recording->by_dma;
  if (wave == waits->index)
    return write->by_dma && write->over == UINT32_MAX && !again;
  return waits->barriers >= write->epoch && waits->barriers < write->over;
}

/* The wave accesses the dword, in which somebody's write is due. */
static void meet(gs_wave_t *w, uint64_t dword, uint16_t owner) {
  gs_group_waits_t *group = gs_wave_waits(w)->group;
  const unsigned wave = (owner >> OWNER_SLOTS) - 1u, slot = owner % GS_LOCAL_WRITES;
  if (!is_early(gs_wave_waits(w), wave, &group->write[wave][slot]))
    return;
  gs_wait_report_local(w, 4 * dword, wave, &group->write[wave][slot]);
  drop(&group->wave[wave], slot);
}

/* Adds dwords to what is written. */
static void record(gs_local_write_t *write, uint64_t first, uint64_t count) {
  const unsigned room = GS_LOCAL_DWORDS - write->count;
  if (count > room)
    count = room;
  if (!write->count) {
    write->is_row = true;
    write->at[0] = (uint16_t)first;
    write->count = (uint16_t)count;
    return;
  }
  for (unsigned i = 1; write->is_row && i < write->count; i++)
    write->at[i] = (uint16_t)(write->at[0] + i);
  write->is_row = false;
  for (uint64_t i = 0; i < count; i++)
    write->at[write->count++] = (uint16_t)(first + i);
}

/* Of dwords [dword, end), where the first is that may be somebody's. */
static uint64_t skip_nobodys(const uint16_t *owner, uint64_t dword, uint64_t end) {
  enum { AT_ONCE = 4 };
  uint64_t owners = 0;
  for (; dword + AT_ONCE <= end; dword += AT_ONCE) {
    memcpy(&owners, owner + dword, sizeof owners);
    if (owners)
      break;
  }
  return dword;
}

static void touch(gs_wave_t *w, uint64_t offset, uint64_t bytes, uint32_t rights) {
  gs_wave_waits_t *waits = gs_wave_waits(w);
  gs_local_write_t *write = rights & GS_VM_WRITE ? waits->recording : NULL;
  if ((!write && !waits->group->marked) || offset + bytes > w->env->lds_bytes || !bytes)
    return;
  const uint64_t first = offset / 4, end = (offset + bytes - 1) / 4 + 1;
  for (uint64_t dword = first; dword < end && waits->group->marked; dword++) {
    dword = skip_nobodys(waits->group->owner, dword, end);
    if (GS_UNLIKELY(dword < end && waits->group->owner[dword]))
      meet(w, dword, waits->group->owner[dword]);
  }
  /* Parts of a dword may be others'. */
  if (write && bytes % 4 == 0 && offset % 4 == 0)
    record(write, first, end - first);
}

static bool is_followed(const gs_wave_t *w) {
  const gs_wave_waits_t *waits = gs_wave_waits(w);
  return waits && (waits->recording || waits->group->marked);
}

void gs_local_lanes(gs_wave_t *w, const gs_access_t *a) {
  if (!is_followed(w))
    return;
  for (uint64_t left = a->lanes; left; left &= left - 1)
    touch(w, a->at[__builtin_ctzll(left)], a->bytes, a->rights);
}

void gs_local_mixed(gs_wave_t *w, const gs_access_t *a) {
  if (!is_followed(w))
    return;
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const uint64_t at = a->at[__builtin_ctzll(left)];
    if (at >> 32 == GS_SHARED_APERTURE_HI)
      touch(w, (uint32_t)at, a->bytes, a->rights);
  }
}

void gs_local_block(gs_wave_t *w, uint32_t offset, uint32_t size, uint32_t stride, uint32_t rights) {
  if (is_followed(w) && stride % 4 == 0)
    touch(w, offset, size, rights);
}
