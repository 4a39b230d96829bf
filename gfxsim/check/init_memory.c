/* Undefined bits on their way to memory and back: what is loaded is as undefined as memory is, and what is
 * stored makes memory so. The watched handlers say where an instruction goes. Of global memory, what is
 * stored is written down before the handler stores it, and what is loaded is looked up after it has loaded:
 * who sees a value sees what is known of it. Not here: where that is kept (init_shadow.h). */
#include "check/init.h"
#include "exec/place.h"
#include "isa/transfer.h"

/* ---- Where the instruction goes ---- */

static gs_touch_t *new_touch(gs_wave_t *w, bool local, uint64_t lanes, uint32_t bytes, uint32_t step) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  gs_touch_t *t = &f->touch[f->touches < GS_MOST_TOUCHES ? f->touches++ : GS_MOST_TOUCHES - 1];
  t->local = local;
  t->whole = false;
  t->lanes = lanes;
  t->bytes = bytes;
  t->step = step;
  return t;
}

/* Fills at[] of an access that was described as a whole. */
static void expand(gs_touch_t *t) {
  if (!t->whole)
    return;
  t->whole = false;
  for (unsigned l = 1; l < GS_LANES; l++)
    t->at[l] = t->at[0] + l * (uint64_t)t->stride;
}

static void write_touch(gs_wave_t *w, gs_touch_t *t);

static bool is_atomic(const gs_inst_t *in) {
  return in->op->flags & (GS_OPF_ATOMIC | GS_OPF_RTN);
}
static bool is_store(const gs_inst_t *in) {
  return in->op->flags & GS_OPF_STORE;
}

/* Stores of vector registers to memory are followed at once. */
static void touched(gs_wave_t *w, gs_touch_t *t) {
  const gs_inst_t *in = gs_wave_flow(w)->in;
  if (!t->local && in->op->encoding != GS_ENC_SMEM && (is_store(in) || is_atomic(in)))
    write_touch(w, t);
}

void gs_touch_lanes(gs_wave_t *w, const gs_access_t *a) {
  gs_touch_t *t = new_touch(w, false, a->lanes, a->bytes, a->step);
  memcpy(t->at, a->at, sizeof t->at);
  touched(w, t);
}

void gs_touch_local(gs_wave_t *w, const gs_access_t *a) {
  memcpy(new_touch(w, true, a->lanes, a->bytes, GS_LINEAR_STEP)->at, a->at, sizeof a->at);
}

static void touch_whole(gs_wave_t *w, bool local, uint64_t start, uint64_t size, uint32_t stride,
                        uint32_t step, uint32_t bytes) {
  gs_touch_t *t = new_touch(w, local, gs_exec(w), bytes, step);
  t->whole = true;
  t->at[0] = start;
  t->size = size;
  t->stride = stride;
  touched(w, t);
}

void gs_touch_local_block(gs_wave_t *w, uint32_t offset, uint32_t size, uint32_t stride, uint32_t rights) {
  (void)rights;
  touch_whole(w, true, offset, size, stride, GS_LINEAR_STEP, stride ? stride : size);
}

/* The dwords of a register operand that has the data. */
static unsigned data_dwords(const gs_inst_t *in, const gs_flow_rule_t *rule) {
  const bool buffer = in->op->encoding == GS_ENC_MUBUF || in->op->encoding == GS_ENC_MTBUF;
  return is_store(in) && !buffer ? rule->dwords[1] : rule->dst;
}

static const gs_flow_rule_t *rule_of(const gs_wave_t *w, const gs_inst_t *in) {
  return &gs_init_of(w)->rules[in->op - gs_opcodes];
}

void gs_touch_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                    bool scalar) {
  const gs_inst_t *in = gs_wave_flow(w)->in;
  const uint64_t each = 4 * (uint64_t)data_dwords(in, rule_of(w, in));
  (void)rights;
  if (!scalar && !stride && size == gs_wave_lanes(w) * each) /* private memory: a row for each dword */
    touch_whole(w, false, address, size, 4, gs_private_step(w), (uint32_t)each);
  else
    touch_whole(w, false, address, size, stride, GS_LINEAR_STEP, stride ? stride : (uint32_t)size);
}

/* Flat addresses of all kinds: as many accesses. */
void gs_touch_mixed(gs_wave_t *w, const gs_access_t *a) {
  gs_touch_t *local = new_touch(w, true, 0, a->bytes, GS_LINEAR_STEP);
  gs_touch_t *private = new_touch(w, false, 0, a->bytes, gs_private_step(w));
  gs_touch_t *global = new_touch(w, false, 0, a->bytes, GS_LINEAR_STEP);
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint32_t offset = (uint32_t)a->at[l];
    const bool shared = a->at[l] >> 32 == GS_SHARED_APERTURE_HI;
    const bool own = a->at[l] >> 32 == GS_PRIVATE_APERTURE_HI;
    gs_touch_t *t = shared ? local : own ? private : global;
    t->lanes |= UINT64_C(1) << l;
    t->at[l] = shared ? offset : own ? gs_private_address(w, offset) + 4u * l : a->at[l];
  }
  touched(w, private);
  touched(w, global);
}

/* ---- LDS and memory as one ---- */

static uint32_t get_local(const gs_local_t *local, uint64_t offset, unsigned bytes, uint32_t *origin) {
  uint32_t bits = 0;
  if (offset >= local->bytes || local->bytes - offset < bytes)
    return 0;
  memcpy(&bits, local->bits + offset, bytes);
  if (bits)
    *origin = local->origin[(offset + (unsigned)__builtin_ctz(bits) / 8) / 4];
  return bits;
}

static void put_local(gs_local_t *local, uint64_t offset, unsigned bytes, uint32_t bits, uint32_t origin) {
  if (offset >= local->bytes || local->bytes - offset < bytes)
    return;
  memcpy(local->bits + offset, &bits, bytes);
  for (unsigned i = 0; bits && i < bytes; i++)
    if (bits >> 8 * i & 0xff)
      local->origin[(offset + i) / 4] = origin;
}

/* How many of a dword's bytes are behind the end of the one in memory where they begin: the next is not
 * behind it where work-items have a dword in turn. */
static unsigned bytes_beyond(const gs_touch_t *t, unsigned lane) {
  const unsigned bytes = t->bytes < 4 ? t->bytes : 4, end = (unsigned)(t->at[lane] % 4) + bytes;
  return t->step == GS_LINEAR_STEP || end <= 4 ? 0 : end - 4;
}

static uint32_t get(gs_wave_t *w, const gs_touch_t *t, unsigned lane, unsigned dword, uint32_t *origin) {
  const unsigned bytes = t->bytes < 4 ? t->bytes : 4, beyond = bytes_beyond(t, lane), here = bytes - beyond;
  const uint64_t at = t->at[lane] + (uint64_t)dword * t->step;
  if (beyond) {
    const gs_bits_t *memory = &gs_init_of(w)->memory;
    return gs_bits_get(memory, at, here, origin) | gs_bits_get(memory, at / 4 * 4 + t->step, beyond, origin)
                                                       << 8 * here;
  }
  return t->local ? get_local(gs_wave_flow(w)->local, at, bytes, origin)
                  : gs_bits_get(&gs_init_of(w)->memory, at, bytes, origin);
}

static void put(gs_wave_t *w, const gs_touch_t *t, unsigned lane, unsigned dword, uint32_t bits,
                uint32_t origin) {
  const unsigned bytes = t->bytes < 4 ? t->bytes : 4, beyond = bytes_beyond(t, lane), here = bytes - beyond;
  const uint64_t at = t->at[lane] + (uint64_t)dword * t->step;
  if (beyond) {
    gs_bits_t *memory = &gs_init_of(w)->memory;
    gs_bits_put(memory, at, here, bits & ((1u << 8 * here) - 1), origin);
    gs_bits_put(memory, at / 4 * 4 + t->step, beyond, bits >> 8 * here, origin);
  } else if (t->local)
    put_local(gs_wave_flow(w)->local, at, bytes, bits, origin);
  else
    gs_bits_put(&gs_init_of(w)->memory, at, bytes, bits, origin);
}

static bool is_zero(const uint8_t *bits, uint64_t count) {
  uint8_t any = 0;
  for (uint64_t i = 0; i < count; i++)
    any |= bits[i];
  return !any;
}

/* Whether all of an item can be looked at at once. */
static bool is_in_line(const gs_touch_t *t) {
  return t->step == GS_LINEAR_STEP && t->bytes <= 16;
}

/* Of an access that is not described as a whole. */
static bool are_local_defined(const gs_local_t *local, const gs_touch_t *t) {
  for (uint64_t left = t->lanes; left; left &= left - 1) {
    const uint64_t at = t->at[__builtin_ctzll(left)];
    if (at < local->bytes &&
        !is_zero(local->bits + at, t->bytes < local->bytes - at ? t->bytes : local->bytes - at))
      return false;
  }
  return true;
}
static bool are_defined(const gs_bits_t *memory, const gs_touch_t *t) {
  for (uint64_t left = t->lanes; left && t->step != GS_LINEAR_STEP; left &= left - 1)
    if (bytes_beyond(t, (unsigned)__builtin_ctzll(left)))
      return false; /* not for certain */
  if (is_in_line(t))
    return gs_bits_are_defined(memory, t->at, t->lanes, 0, t->bytes);
  bool defined = true;
  for (uint32_t i = 0; i < (t->bytes + 3) / 4 && defined; i++)
    defined =
        gs_bits_are_defined(memory, t->at, t->lanes, (uint64_t)i * t->step, t->bytes < 4 ? t->bytes : 4);
  return defined;
}

static bool is_defined(gs_wave_t *w, const gs_touch_t *t) {
  const gs_bits_t *memory = &gs_init_of(w)->memory;
  const gs_local_t *local = gs_wave_flow(w)->local;
  if (!t->whole)
    return t->local ? are_local_defined(local, t) : are_defined(memory, t);
  if (!t->local)
    return gs_bits_is_defined(memory, t->at[0], t->at[0] + t->size);
  return is_zero(local->bits + t->at[0], t->size);
}

/* All of it becomes defined, if the access fills what it was described as. */
static bool define_whole(gs_wave_t *w, const gs_touch_t *t) {
  if (!t->whole || (t->stride && t->lanes != gs_wave_flow(w)->all))
    return false;
  if (t->local)
    memset(gs_wave_flow(w)->local->bits + t->at[0], 0, t->size);
  else
    gs_bits_set(&gs_init_of(w)->memory, t->at[0], t->at[0] + t->size, false);
  return true;
}

/* ---- Where it came from ---- */

static bool is_private(const gs_wave_t *w, uint64_t address, uint64_t *offset) {
  gs_extent_t all, own;
  gs_place_scratch(w, &all, &own);
  *offset = (address - own.start) / gs_private_step(w) * 4 + address % 4;
  return address >= all.start && address < all.end;
}

static uint32_t meet_memory(gs_wave_t *w, const gs_touch_t *t, uint64_t at) {
  uint64_t offset;
  if (t->local)
    return gs_origin_meet(w, GS_SOURCE_LOCAL, 0, at);
  if (is_private(w, at, &offset))
    return gs_origin_meet(w, GS_SOURCE_PRIVATE, 0, offset);
  return gs_origin_meet(w, GS_SOURCE_DEVICE, 0, at);
}

/* ---- Stores ---- */

static unsigned data_register(const gs_inst_t *in, const gs_touch_t *t, const gs_wave_flow_t *f) {
  if (in->op->encoding == GS_ENC_MUBUF || in->op->encoding == GS_ENC_MTBUF)
    return in->dst;
  /* The second of two in one instruction. */
  const bool second = in->op->flags & GS_OPF_TWO_ADDR && t > f->touch;
  return in->src[second ? 2 : 1].reg;
}

/* Whether undefined bits look like a value that somebody computed, and not like the gaps of a structure that
 * is copied: bytes, or a dword of eight bytes, of which all bits are undefined beside some of which none is.
 */
static bool is_value(const uint32_t *bits, unsigned bytes) {
  unsigned full = 0, empty = 0;
  for (unsigned i = 0; i < bytes; i++) {
    const uint32_t byte = bits[i / 4] >> 8 * (i % 4) & 0xff;
    full += byte == 0xff;
    empty += byte == 0;
  }
  if (full + empty < bytes)
    return true;
  if (bytes <= 8)
    return empty == 0;
  for (unsigned i = 0; i + 1 < bytes / 4; i += 2)
    if (bits[i] == UINT32_MAX && bits[i + 1] == UINT32_MAX)
      return true;
  return bytes % 8 && bits[bytes / 4 - 1] == UINT32_MAX;
}

/* What of an item the lane stores; whether any of it is undefined. */
static bool gather(gs_wave_t *w, const gs_touch_t *t, unsigned reg, unsigned lane, uint32_t bits[4],
                   uint32_t *origin) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  const gs_inst_t *in = f->in;
  const unsigned dwords = (t->bytes + 3) / 4, shift = in->op->flags & GS_OPF_D16_HI ? 16 : 0;
  const uint32_t mask = t->bytes < 4 ? (1u << 8 * t->bytes) - 1 : UINT32_MAX;
  bool any = false;
  for (unsigned i = 0; i < dwords && i < 4; i++) {
    const bool some = gs_flow_lanes(f, reg + i, UINT64_C(1) << lane);
    if (some)
      gs_flow_fill(f, reg + i);
    bits[i] = some ? f->bits[reg + i].u32[lane] >> shift & mask : 0;
    if (bits[i] && !any)
      *origin = gs_flow_origin(w, reg + i, lane);
    any = any || bits[i];
  }
  return any;
}

/* Device memory that the host does not see is elsewhere in its address space. */
bool gs_init_host_sees(const gs_vm_map_t *map, uint64_t address) {
  const gs_vm_range_t *range = gs_vm_find(map, address);
  return range && (uint64_t)(uintptr_t)range->host == range->start;
}

/* An undefined value gets out of the wave: into memory that others read. Returns the origin that it has
 * there. */
static uint32_t let_out(gs_wave_t *w, const gs_touch_t *t, unsigned lane, const uint32_t bits[4],
                        uint32_t origin) {
  uint64_t offset;
  if (t->local || is_private(w, t->at[lane], &offset))
    return origin;
  if (!is_value(bits, t->bytes))
    return 0;
  if (gs_init_host_sees(atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed), t->at[lane]))
    gs_init_report(w, gs_wave_flow(w)->in, GS_USE_HOST, UINT64_C(1) << lane, origin);
  return gs_origin_meet(w, GS_SOURCE_STORED, 0, origin);
}

static void store_lane(gs_wave_t *w, const gs_touch_t *t, unsigned reg, unsigned lane) {
  uint32_t bits[4] = {0}, origin = 0;
  if (gather(w, t, reg, lane, bits, &origin))
    origin = let_out(w, t, lane, bits, origin);
  for (unsigned i = 0; i < (t->bytes + 3) / 4 && i < 4; i++)
    put(w, t, lane, i, bits[i], origin);
}

static void store(gs_wave_t *w, gs_touch_t *t) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  const unsigned reg = data_register(f->in, t, f), dwords = (t->bytes + 3) / 4;
  /* Of lanes that leave a buffer the parts inside are stored dword by dword. */
  const unsigned part = t > f->touch && f->in->op->encoding == GS_ENC_MUBUF && t->bytes == 4
                            ? (unsigned)(t - f->touch) - (f->touch[0].bytes > 4)
                            : 0;
  const bool defines = !gs_flow_any_row(f, reg, rule_of(w, f->in)->formatted ? 4 : dwords + part);
  if (defines && define_whole(w, t))
    return;
  expand(t);
  if (defines && !t->local && is_in_line(t)) {
    gs_bits_define(&gs_init_of(w)->memory, t->at, t->lanes, 0, t->bytes);
    return;
  }
  for (uint64_t left = t->lanes; left; left &= left - 1)
    store_lane(w, t, reg + part, (unsigned)__builtin_ctzll(left));
}

/* ---- Read-modify-write ---- */

static uint32_t mix(gs_mix_t how, uint32_t memory, uint32_t data) {
  switch (how) {
  case GS_MIX_SWAP: return data;
  case GS_MIX_BITS: return memory | data;
  case GS_MIX_UP: return (memory | data) | (0 - (memory | data));
  default: return memory | data ? UINT32_MAX : 0;
  }
}

/* Undefined bits of the operands, put together where they go together. */
static void gather_operands(gs_wave_t *w, unsigned lane, uint32_t data[2], unsigned dwords,
                            uint32_t *origin) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  const gs_inst_t *in = f->in;
  const gs_flow_rule_t *rule = rule_of(w, in);
  const unsigned reg = data_register(in, f->touch, f);
  const bool buffer = in->op->encoding == GS_ENC_MUBUF,
             two = in->op->encoding == GS_ENC_DS && rule->dwords[2];
  const unsigned all = buffer ? rule->dst : rule->dwords[1];
  for (unsigned i = 0; i < all + (two ? rule->dwords[2] : 0); i++) {
    const unsigned r = i < all ? reg + i : in->src[2].reg + (i - all);
    if (!gs_flow_lanes(f, r, UINT64_C(1) << lane))
      continue;
    gs_flow_fill(f, r);
    data[i % dwords] |= f->bits[r].u32[lane];
    *origin = gs_flow_origin(w, r, lane);
  }
}

/* The first registers of what memory is compared with, and of what it is to become. */
static void find_values(const gs_wave_t *w, unsigned dwords, unsigned *compared, unsigned *wanted) {
  const gs_wave_flow_t *f = gs_wave_flow(w);
  const gs_inst_t *in = f->in;
  const bool is_last = w->env->target & GS_GFX11;
  *wanted = in->op->encoding == GS_ENC_DS ? in->src[is_last ? 1 : 2].reg : data_register(in, f->touch, f);
  *compared = in->op->encoding == GS_ENC_DS ? in->src[is_last ? 2 : 1].reg : *wanted + dwords;
}

/* The bits of bytes that are alike. */
static uint32_t same_bytes(uint32_t a, uint32_t b) {
  uint32_t same = 0;
  for (unsigned i = 0; i < 4; i++)
    same |= (a ^ b) >> 8 * i & 0xff ? 0 : UINT32_C(0xff) << 8 * i;
  return same;
}

/* Atomics of 8 and 16 bits are made of a dword's: a loop compares and swaps it with what is beside the item,
 * and stays as it is. If that is undefined, nothing depends on it. So it is taken for defined from here on,
 * in memory, too, as the loop compares again. Returns these bits; of a dword that is undefined as a whole,
 * none. */
static void take_along(gs_wave_t *w, unsigned lane, unsigned dwords, uint32_t along[2]) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  unsigned compared, wanted;
  find_values(w, dwords, &compared, &wanted);
  for (unsigned i = 0; i < dwords; i++, compared++, wanted++) {
    if (!gs_flow_lanes(f, compared, UINT64_C(1) << lane))
      continue;
    gs_flow_fill(f, compared);
    uint32_t *const bits = &f->bits[compared].u32[lane];
    if (*bits == UINT32_MAX)
      continue;
    along[i] = *bits & same_bytes(w->v[compared].u32[lane], w->v[wanted].u32[lane]);
    *bits &= ~along[i];
    gs_flow_settle(f, compared);
  }
}

static void modify_lane(gs_wave_t *w, const gs_touch_t *t, unsigned lane) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  const gs_mix_t how = (gs_mix_t)rule_of(w, f->in)->mix;
  const unsigned dwords = t->bytes < 8 ? 1 : 2;
  uint32_t data[2] = {0}, memory[2] = {0}, result[2] = {0}, along[2] = {0}, before = 0, origin = 0;
  if (how == GS_MIX_COMPARE)
    take_along(w, lane, dwords, along);
  gather_operands(w, lane, data, dwords, &origin);
  for (unsigned i = 0; i < dwords; i++) {
    uint32_t found = 0;
    memory[i] = get(w, t, lane, i, &found);
    before |= memory[i];
    memory[i] &= ~along[i];
    data[i] &= ~along[i];
    if (memory[i] && !found)
      found = meet_memory(w, t, t->at[lane] + (uint64_t)i * t->step);
    if (memory[i] && !origin)
      origin = found;
    f->old[i].u32[lane] = memory[i];
    result[i] = mix(how, memory[i], data[i]);
  }
  if (dwords == 2 && (how == GS_MIX_ANY || how == GS_MIX_COMPARE) && (result[0] || result[1]))
    result[0] = result[1] = UINT32_MAX;
  if (dwords == 2 && how == GS_MIX_UP && result[0])
    result[1] = UINT32_MAX;
  f->old_origin.u32[lane] = origin;
  if (result[0] || result[1] || before)
    for (unsigned i = 0; i < dwords; i++)
      put(w, t, lane, i, result[i],
          t->local || !result[i] ? origin : gs_origin_meet(w, GS_SOURCE_STORED, 0, origin));
}

/* Whether all is defined that goes in: then so is all that comes out, and nothing changes. */
static bool modifies_defined(gs_wave_t *w, const gs_touch_t *t) {
  const gs_wave_flow_t *f = gs_wave_flow(w);
  const gs_inst_t *in = f->in;
  const gs_flow_rule_t *rule = rule_of(w, in);
  const unsigned dwords = in->op->encoding == GS_ENC_MUBUF ? rule->dst : rule->dwords[1];
  const bool two = in->op->encoding == GS_ENC_DS && rule->dwords[2];
  return !gs_flow_any_row(f, data_register(in, f->touch, f), dwords) &&
         !(two && gs_flow_any_row(f, in->src[2].reg, rule->dwords[2])) && is_defined(w, t);
}

static void modify(gs_wave_t *w, gs_touch_t *t) {
  if (modifies_defined(w, t))
    return;
  expand(t);
  for (uint64_t left = t->lanes; left; left &= left - 1)
    modify_lane(w, t, (unsigned)__builtin_ctzll(left));
}

static void write_touch(gs_wave_t *w, gs_touch_t *t) {
  if (is_atomic(gs_wave_flow(w)->in))
    modify(w, t);
  else
    store(w, t);
}

/* ---- Loads ---- */

/* What a load brings: rows of undefined bits, and their origins. */
typedef struct brought {
  bool any;
  gs_row_t bits[4], origin;
} brought_t;

static uint32_t extend(const gs_flow_rule_t *rule, uint32_t bits) {
  if (!rule->narrow || !rule->is_signed)
    return bits;
  return rule->narrow == 1 ? (uint32_t)(int32_t)(int8_t)bits : (uint32_t)(int32_t)(int16_t)bits;
}

static void bring_lane(gs_wave_t *w, const gs_touch_t *t, unsigned first, unsigned lane, uint32_t *unknown,
                       brought_t *b) {
  const gs_flow_rule_t *rule = rule_of(w, gs_wave_flow(w)->in);
  for (unsigned i = 0; i < (t->bytes + 3) / 4 && first + i < 4; i++) {
    uint32_t origin = 0;
    const uint32_t bits = get(w, t, lane, i, &origin);
    if (!bits)
      continue;
    if (!origin) {
      if (!*unknown)
        *unknown = meet_memory(w, t, t->at[lane] + (uint64_t)i * t->step);
      origin = *unknown;
    }
    b->any = true;
    b->bits[first + i].u32[lane] = extend(rule, bits);
    b->origin.u32[lane] = origin;
  }
}

static void bring(gs_wave_t *w, gs_touch_t *t, unsigned first, brought_t *b) {
  uint32_t unknown = 0;
  expand(t);
  for (uint64_t left = t->lanes; left; left &= left - 1)
    bring_lane(w, t, first, (unsigned)__builtin_ctzll(left), &unknown, b);
}

/* Which dword of the result a touch is the first of. */
static unsigned first_dword(const gs_wave_flow_t *f, unsigned touch, const gs_flow_rule_t *rule) {
  const gs_inst_t *in = f->in;
  if (in->op->flags & GS_OPF_TWO_ADDR)
    return (touch + 2 - f->touches) * (rule->dst / 2u);
  const bool parts = in->op->encoding == GS_ENC_MUBUF && f->touch[touch].bytes == 4 && rule->dst > 1;
  return parts ? touch - (f->touch[0].bytes > 4) : 0;
}

/* Into LDS instead of a register. */
static void drop_into_local(gs_wave_t *w, const gs_touch_t *t, const brought_t *b) {
  for (uint64_t left = t->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    put(w, t, l, 0, b->bits[0].u32[l], b->origin.u32[l]);
  }
}

/* Half of a register stays what it was, or is 0, which is a value, too; formats mix all bits. */
static void adapt(const gs_wave_t *w, unsigned i, gs_row_t *bits, bool formatted) {
  const gs_wave_flow_t *f = gs_wave_flow(w);
  const gs_row_t *old = &f->bits[f->in->dst + i];
  const uint32_t flags = f->in->op->flags;
  for (unsigned l = 0; l < GS_LANES; l++) {
    if (formatted && bits->u32[l])
      bits->u32[l] = UINT32_MAX;
    if (flags & GS_OPF_D16_LO)
      bits->u32[l] = (old->u32[l] & gs_d16_kept(w, GS_HALF_LO)) | (bits->u32[l] & 0xffff);
    if (flags & GS_OPF_D16_HI)
      bits->u32[l] = (old->u32[l] & gs_d16_kept(w, GS_HALF_HI)) | bits->u32[l] << 16;
  }
}

static void set_row(gs_wave_t *w, unsigned reg, const gs_row_t *bits, const gs_row_t *origin,
                    uint64_t lanes) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  gs_flow_fill(f, reg);
  gs_select_row(lanes, &f->bits[reg], bits, &f->bits[reg]);
  gs_select_row(lanes, &f->origin[reg], origin, &f->origin[reg]);
  gs_flow_settle(f, reg);
}

/* Touches of a load from this on count: one with two addresses may have been described twice. */
static unsigned first_touch(const gs_wave_flow_t *f) {
  return f->in->op->flags & GS_OPF_TWO_ADDR && f->touches > 2 ? f->touches - 2 : 0;
}

static bool loads_defined(gs_wave_t *w, const gs_inst_t *in) {
  const gs_wave_flow_t *f = gs_wave_flow(w);
  bool defined = true;
  for (unsigned i = first_touch(f); i < f->touches && defined; i++)
    defined = (in->lds && f->touch[i].local) || is_defined(w, &f->touch[i]);
  return defined;
}

/* Of what is loaded something is undefined, or stays so. */
static void load_parts(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule, bool defined) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  brought_t b = {.any = false};
  for (unsigned i = first_touch(f); i < f->touches && !defined; i++)
    if ((!in->lds || !f->touch[i].local) && !is_defined(w, &f->touch[i]))
      bring(w, &f->touch[i], first_dword(f, i, rule), &b);
  for (unsigned i = 0; i < f->touches && in->lds; i++)
    if (f->touch[i].local)
      drop_into_local(w, &f->touch[i], &b);
  if (in->lds)
    return;
  if (rule->formatted && b.any)
    for (unsigned i = 0; i < 4; i++)
      GS_LANES_DO(l)
        b.bits[i].u32[l] = b.bits[0].u32[l] | b.bits[1].u32[l] | b.bits[2].u32[l] | b.bits[3].u32[l];
  for (unsigned i = 0; i < rule->dst && i < 4; i++) {
    if (!b.any && !gs_flow_any_row(f, in->dst + i, 1))
      continue;
    gs_flow_fill(f, in->dst + i);
    adapt(w, i, &b.bits[i], rule->formatted);
    set_row(w, in->dst + i, &b.bits[i], &b.origin, gs_exec(w));
  }
}

static void load(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  const bool half = in->op->flags & (GS_OPF_D16_LO | GS_OPF_D16_HI), defined = loads_defined(w, in);
  if (!defined || half || in->lds) {
    load_parts(w, in, rule, defined);
    return;
  }
  for (unsigned i = 0; i < rule->dst && i < 4; i++)
    gs_flow_define(f, in->dst + i, gs_exec(w));
}

/* ---- Addresses ---- */

static unsigned address_rows(const gs_inst_t *in) {
  if (in->src[0].kind != GS_SRC_VGPR)
    return 0;
  switch ((gs_encoding_t)in->op->encoding) {
  case GS_ENC_FLAT: return 2;
  case GS_ENC_GLOBAL: return in->src[2].kind == GS_SRC_NONE ? 2 : 1;
  case GS_ENC_MUBUF:
  case GS_ENC_MTBUF: return (unsigned)in->idxen + (unsigned)in->offen;
  default: return 1;
  }
}

static void check_scalars(gs_wave_t *w, const gs_inst_t *in, unsigned i, unsigned dwords) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  if (in->src[i].kind != GS_SRC_SGPR || !gs_flow_any_scalar(f, in->src[i].reg, dwords))
    return;
  unsigned reg = in->src[i].reg;
  while (!gs_flow_any_scalar(f, reg, 1))
    reg++;
  gs_init_report(w, in, GS_USE_ADDRESS, gs_exec(w), gs_flow_scalar_origin(w, reg));
  gs_flow_define_scalars(f, in->src[i].reg, dwords);
}

static void check_address(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  const uint64_t exec = gs_exec(w);
  if (!exec)
    return;
  for (unsigned i = 0; i < address_rows(in); i++) {
    const unsigned reg = in->src[0].reg + i;
    const uint64_t lanes = gs_flow_lanes(f, reg, exec);
    if (!lanes)
      continue;
    gs_init_report(w, in, GS_USE_ADDRESS, lanes, gs_flow_origin(w, reg, (unsigned)__builtin_ctzll(lanes)));
    gs_flow_define(f, reg, exec);
  }
  if (in->op->encoding == GS_ENC_DS)
    return;
  if (in->op->encoding == GS_ENC_MUBUF || in->op->encoding == GS_ENC_MTBUF)
    check_scalars(w, in, 1, rule->dwords[1]);
  check_scalars(w, in, 2, rule->dwords[2]);
}

/* ---- Instructions ---- */

static void start(gs_wave_t *w, const gs_inst_t *in) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  f->in = in;
  f->touches = 0;
}

static void return_old(gs_wave_t *w, const gs_inst_t *in) {
  const gs_wave_flow_t *f = gs_wave_flow(w);
  const unsigned dwords = f->touches && f->touch[0].bytes == 8 ? 2 : 1;
  for (unsigned i = 0; i < dwords; i++)
    set_row(w, in->dst + i, &f->old[i], &f->old_origin, gs_exec(w));
}

void gs_flow_memory(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  check_address(w, in, rule);
  start(w, in);
  if (is_atomic(in))
    memset(f->old, 0, sizeof f->old);
  in->fn(w, in);
  if (w->state == GS_WAVE_FAULTED)
    return;
  for (unsigned i = 0; i < f->touches && (is_store(in) || is_atomic(in)); i++)
    if (f->touch[i].local)
      write_touch(w, &f->touch[i]);
  if (is_atomic(in) ? in->op->encoding == GS_ENC_DS ? in->op->flags & GS_OPF_RTN : in->glc : false)
    return_old(w, in);
  else if (!is_atomic(in) && !is_store(in))
    load(w, in, rule);
}

/* Loads of scalar registers, dword by dword; beyond the end of a buffer they are 0. */
static void load_scalars(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  gs_bits_t *shadow = &gs_init_of(w)->memory;
  gs_flow_define_scalars(f, in->dst, rule->dst);
  if (!f->touches || is_defined(w, &f->touch[0]))
    return;
  for (unsigned i = 0; i < f->touch[0].size / 4; i++) {
    const uint64_t at = f->touch[0].at[0] + 4 * i;
    uint32_t origin = 0;
    const uint32_t bits = gs_bits_get(shadow, at, 4, &origin);
    if (bits)
      gs_flow_set_scalar(f, in->dst + i, bits, origin ? origin : meet_memory(w, &f->touch[0], at));
  }
}

static void store_scalars(gs_wave_t *w, const gs_inst_t *in) {
  gs_wave_flow_t *f = gs_wave_flow(w);
  unsigned reg = in->dst;
  for (unsigned i = 0; i < f->touches; i++)
    for (uint64_t at = 0; at < f->touch[i].size; at += 4, reg++)
      gs_bits_put(&gs_init_of(w)->memory, f->touch[i].at[0] + at, 4, f->s[reg], f->s_origin[reg]);
}

void gs_flow_scalar_memory(gs_wave_t *w, const gs_inst_t *in, const gs_flow_rule_t *rule) {
  check_scalars(w, in, 0, rule->dwords[0]);
  check_scalars(w, in, 1, rule->dwords[1]);
  start(w, in);
  in->fn(w, in);
  if (w->state == GS_WAVE_FAULTED)
    return;
  if (is_store(in))
    store_scalars(w, in);
  else
    load_scalars(w, in, rule);
}
