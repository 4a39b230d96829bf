/* The values of stores: two that put the same there are no race, nor is one that changes nothing. Not here:
 * who meets whom (race.c). */
#include <string.h>

#include "check/race_touch.h"
#include "exec/instruction.h"
#include "isa/guest.h"

/* Which register has what the lane stores at `address`; false when that is not known. */
static bool find_data(const gs_race_touch_t *t, const gs_inst_t *in, unsigned lane, unsigned *reg) {
  const gs_opcode_t *op = in->op;
  if (op->encoding == GS_ENC_SMEM || !(op->flags & GS_OPF_STORE))
    return false;
  *reg = op->encoding == GS_ENC_MUBUF || op->encoding == GS_ENC_MTBUF ? in->dst : in->src[1].reg;
  if (op->encoding == GS_ENC_MTBUF || !(op->flags & GS_OPF_TWO_ADDR))
    return op->encoding != GS_ENC_MTBUF;
  const uint32_t scale = t->bytes * (strstr(op->name, "st64") || strstr(op->name, "stride64") ? 64 : 1);
  const uint32_t address = t->w->v[in->src[0].reg].u32[lane];
  if (address + (uint32_t)in->imm * scale != (uint32_t)t->lane_address)
    *reg = in->src[2].reg;
  return true;
}

bool gs_race_stored_bytes(const gs_race_touch_t *t, unsigned lane, uint8_t bytes[GS_ACCESS_BYTES]) {
  gs_inst_t in;
  unsigned reg;
  if (t->bytes > GS_ACCESS_BYTES || !gs_instruction_in_hand(t->w, &in) || !find_data(t, &in, lane, &reg))
    return false;
  for (unsigned i = 0; i < (t->bytes + 3) / 4; i++) {
    uint32_t value = t->w->v[reg + i].u32[lane];
    if (in.op->flags & GS_OPF_D16_HI)
      value >>= 16;
    memcpy(bytes + 4 * i, &value, 4);
  }
  return true;
}

void gs_race_put_value(const gs_race_touch_t *t, uint64_t address, unsigned lane, uint32_t *value) {
  uint8_t bytes[4];
  memcpy(bytes, value, sizeof bytes);
  for (unsigned i = 0; i < 4; i++) {
    const uint64_t at = address + i - t->lane_address; /* beyond any item's if it is in front of it */
    if (at < t->bytes && at < GS_ACCESS_BYTES) {
      const uint32_t word = t->w->v[t->data + at / 4].u32[lane] >> (t->flags & GS_SITE_HIGH ? 16 : 0);
      bytes[i] = (uint8_t)(word >> 8 * (at % 4));
    }
  }
  memcpy(value, bytes, sizeof bytes);
}

/* Whether the lane stores what `theirs`, the other store, puts into the bytes of the dword that both have. By
 * what that stores and not by what is there, as its worker may not have come to it. */
bool gs_race_is_same_store(const gs_race_touch_t *t, const gs_site_t *site, uint32_t theirs, uint64_t address,
                           unsigned lane) {
  uint32_t mine = theirs, differ, bits = 0;
  if (t->data == GS_SITE_NO_DATA)
    return false;
  gs_race_put_value(t, address, lane, &mine);
  differ = mine ^ theirs;
  for (unsigned i = 0; i < 4; i++)
    bits |= (site->bytes & t->mask) >> i & 1 ? 0xffu << 8 * i : 0;
  return !(differ & bits);
}

/* What the other wrote is kept as gs_race_changes has it. */
static bool is_swapped(const gs_race_touch_t *t, const gs_site_t *site, const uint32_t *theirs) {
  return theirs && !t->local && site->flags & GS_SITE_EXCHANGE && *theirs != GS_RACE_NO_SWAP;
}

static bool stores_part(const gs_site_t *site) {
  return site->bytes != 15 && !(site->flags & (GS_SITE_ATOMIC | GS_SITE_COPY));
}

bool gs_race_is_item_stored(const gs_race_touch_t *t, const gs_site_t *site, const uint32_t *theirs) {
  if (t->is_swap)
    return theirs && stores_part(site);
  return t->rights == GS_VM_WRITE && t->mask != 15 && is_swapped(t, site, theirs);
}

bool gs_race_is_other_item(const gs_race_touch_t *t, const gs_site_t *site, const uint32_t *theirs,
                           unsigned lane) {
  if (t->is_swap)
    return !(gs_swap_changes(t->w, &t->swap, lane) & site->bytes);
  if (is_swapped(t, site, theirs))
    return !(*theirs & t->mask);
  if (t->rights == GS_VM_READ)
    return t->flags & GS_SITE_COMPARED && t->bytes == 4 && t->mask == 15 && stores_part(site);
  return !theirs && site->flags & GS_SITE_COMPARED && site->bytes == 15 && t->rights == GS_VM_WRITE &&
         t->mask != 15;
}

bool gs_race_is_silent(const gs_race_touch_t *t, uint64_t address, unsigned lane) {
  uint8_t bytes[GS_ACCESS_BYTES] = {0};
  const uint64_t from = address < t->lane_address ? t->lane_address : address;
  const uint64_t end = t->lane_address + t->bytes, to = address + 4 < end ? address + 4 : end;
  if (!t->w || t->rights != GS_VM_WRITE || from >= to || !gs_race_stored_bytes(t, lane, bytes))
    return false;
  const gs_vm_map_t *map = atomic_load_explicit(&t->w->env->vm->seen, memory_order_relaxed);
  const uint8_t *there = t->local ? t->w->env->lds + from : gs_vm_translate(map, from, to - from, GS_VM_READ);
  for (uint64_t i = from; there && i < to; i++)
    if (gs_guest_get8((uint64_t)(uintptr_t)(there + (i - from))) != bytes[i - t->lane_address])
      return false;
  return there;
}

bool gs_race_is_same_value(gs_race_touch_t *t, uint64_t address, unsigned lane, unsigned other) {
  uint8_t mine[GS_ACCESS_BYTES] = {0}, theirs[GS_ACCESS_BYTES] = {0};
  const uint64_t here = t->lane_address, there = t->access ? t->access->at[other] : here;
  if (!(t->rights & GS_VM_WRITE) || t->rights & GS_VM_READ || !gs_race_stored_bytes(t, lane, mine))
    return true;
  t->lane_address = there;
  const bool known = gs_race_stored_bytes(t, other, theirs);
  t->lane_address = here;
  for (uint64_t at = address; at < address + 4 && known; at++)
    if (at >= here && at - here < t->bytes && at >= there && at - there < t->bytes &&
        mine[at - here] != theirs[at - there])
      return false;
  return true;
}

void gs_race_put_values(const gs_race_touch_t *t, uint32_t *value, size_t count, unsigned lane,
                        unsigned width, unsigned skip) {
  const unsigned most = GS_ACCESS_BYTES / 4;
  const gs_row_t *rows = &t->w->v[t->data + skip];
  if (width <= most && !skip)
    t->race->sweep->gather(value, count, rows, lane, width);
  else
    for (size_t i = 0; i < count && skip + i < most; i++)
      value[i] = rows[i].u32[lane];
}
