/* See strip.h. The instructions of all stencils of a strip become values, each made by one instruction from
 * others: what is moved from register to register is the same value, what is calculated twice is one, and
 * what no register of the wave gets in the end is left out. Not here: registers of the host (strip_emit.c).
 */
#include "translate/strip.h"

#include <string.h>

#include "translate/strip_emit.h"

/* ---- Scalar registers ---- */

/* A mask that is written: `width` registers from `reg` on. */
static bool add_mask(gs_strip_scalars_t *s, unsigned reg, unsigned width) {
  bool is_good = reg + width <= GS_SGPRS;
  for (unsigned i = reg; is_good && i < reg + width; i++) {
    is_good = !gs_scalar_set_has(&s->values, i);
    gs_scalar_set_put(&s->written, i, 1, true);
  }
  if (is_good)
    gs_scalar_set_put(&s->masks, reg, 1, true);
  return is_good;
}

static bool add_value(gs_strip_scalars_t *s, unsigned reg, unsigned width) {
  bool is_good = reg + width <= GS_SGPRS;
  for (unsigned i = reg; is_good && i < reg + width; i++) {
    is_good = !gs_scalar_set_has(&s->written, i);
    gs_scalar_set_put(&s->values, i, 1, true);
  }
  return is_good;
}

static bool is_written_mask(const gs_strip_scalars_t *s, const gs_src_t *src) {
  return src->kind == GS_SRC_SGPR && src->reg < GS_SGPRS && gs_scalar_set_has(&s->masks, src->reg);
}

bool gs_strip_has_mask_of(const gs_strip_scalars_t *s, const gs_inst_t *in) {
  return is_written_mask(s, &in->src[0]) || is_written_mask(s, &in->src[1]);
}

bool gs_strip_scalars_add(gs_strip_scalars_t *s, const gs_inst_t *in, unsigned lanes) {
  const gs_opcode_t *op = in->op;
  bool is_good = true;
  if (op->encoding == GS_ENC_SOP1) /* a mask that is moved */
    return add_mask(s, in->dst, lanes / 32);
  if (op->encoding == GS_ENC_SOP2) /* masks that are combined */
    return gs_strip_has_mask_of(s, in) && add_mask(s, in->dst, lanes / 32);
  for (unsigned i = 0; i < 3; i++)
    if (in->src[i].kind == GS_SRC_SGPR && op->src[i] != GS_T_MASK)
      is_good = add_value(s, in->src[i].reg, gs_type_dwords(op->src[i])) && is_good;
  if (op->encoding == GS_ENC_VOPC || (op->flags & GS_OPF_SDST))
    is_good = add_mask(s, in->sdst, lanes / 32) && is_good;
  return is_good;
}

/* ---- Values ---- */

static bool may_share(const gs_strip_value_t *v) {
  return v->kind != GS_VALUE_STORE && v->kind < GS_VALUE_GUARD_MASK && v->kind != GS_VALUE_MASK &&
         !(v->op && v->op->memory == GS_MEMORY_MASK);
}

static bool is_same(const gs_strip_t *s, const gs_strip_value_t *a, const gs_strip_value_t *b) {
  if (a->kind != b->kind || a->size != b->size || a->number != b->number || a->pool != b->pool ||
      a->general_count != b->general_count || memcmp(a->code, b->code, a->size) != 0 ||
      memcmp(a->src, b->src, sizeof a->src) != 0)
    return false;
  for (unsigned i = 0; i < a->general_count; i++)
    if (s->value[a->general[i]].same != s->value[b->general[i]].same)
      return false;
  return true;
}

static unsigned hash_of(const gs_strip_value_t *v) {
  unsigned hash = v->kind + v->number * 31u;
  for (unsigned i = 0; i < v->size; i++)
    hash = hash * 31u + v->code[i];
  for (unsigned i = 0; i < GS_FIELDS; i++)
    hash = hash * 31u + (uint16_t)v->src[i];
  return hash % GS_STRIP_HASHES;
}

/* Whether every lane has all bits or none: so has what masks are compared to, and what is made of those. */
static bool is_of_lanes(const gs_strip_t *s, const gs_strip_value_t *v) {
  if (v->kind == GS_VALUE_MASK || (v->kind == GS_VALUE_CONSTANT && v->number + 1 <= 1))
    return true;
  if (v->kind != GS_VALUE_OP)
    return false;
  switch (v->op->kind) {
  case GS_OP_COMPARE:
  case GS_OP_UNORDERED:
  case GS_OP_ROW_OF_BITS: return true;
  case GS_OP_AND:
  case GS_OP_EITHER:
  case GS_OP_MERGE:
  case GS_OP_PICK_LOW:
  case GS_OP_PICK_HIGH: break;
  default: return false; /* perhaps the first bit alone says what is meant */
  }
  bool is = true;
  for (unsigned f = 0; f < GS_FIELDS; f++)
    is &= !(v->op->role[f] & GS_ROLE_READ) || (v->src[f] >= 0 && s->value[v->src[f]].is_lanes);
  return is;
}

/* Adds a value, or finds the one that is the same. Values in general registers are made again each time, as
 * these registers are not chosen here. */
static int add_value_of(gs_strip_t *s, const gs_strip_value_t *v) {
  const unsigned hash = may_share(v) ? hash_of(v) : 0;
  int found = may_share(v) ? s->hash[hash] : -1;
  while (found >= 0 && !is_same(s, &s->value[found], v))
    found = s->value[found].next;
  if (found >= 0 && v->role)
    return found;
  if (s->count == GS_STRIP_VALUES) {
    s->is_full = true;
    return 0;
  }
  const int number = (int)s->count++;
  s->value[number] = *v;
  s->value[number].same = (int16_t)(found >= 0 ? found : number);
  s->value[number].is_lanes = is_of_lanes(s, v);
  if (may_share(v) && found < 0) {
    s->value[number].next = s->hash[hash];
    s->hash[hash] = (int16_t)number;
  }
  return number;
}

static gs_strip_value_t no_value(unsigned kind) {
  gs_strip_value_t v = {.kind = (uint8_t)kind};
  memset(v.src, -1, sizeof v.src);
  return v;
}

/* ---- Rows ---- */

static int row_value(gs_strip_t *s, int row) {
  if (s->row[row] < 0) {
    gs_strip_value_t v = no_value(GS_VALUE_ROW);
    v.number = (uint32_t)row;
    v.role = GS_ROLE_VECTOR;
    s->row[row] = (int16_t)add_value_of(s, &v);
  }
  return s->row[row];
}

/* An older value of the row, which nothing but the row had a use for, is not stored. */
static void set_row(gs_strip_t *s, int row, int value) {
  if (s->row_store[row] >= 0)
    s->value[s->row_store[row]].kind = GS_VALUE_NOTHING;
  gs_strip_value_t v = no_value(GS_VALUE_STORE);
  v.number = (uint32_t)row;
  v.src[GS_FIELD_RM] = (int16_t)value;
  s->row[row] = (int16_t)value;
  s->row_store[row] = (int16_t)add_value_of(s, &v);
}

static int number_value(gs_strip_t *s, unsigned kind, uint32_t number) {
  gs_strip_value_t v = no_value(kind);
  v.number = number;
  v.role = GS_ROLE_VECTOR;
  return add_value_of(s, &v);
}

/* The value of an operand; `row` is where results go. Scalar registers and constants have one for each dword.
 */
static int operand_value(gs_strip_t *s, const gs_patch_t *p, const gs_inst_t *in, int row) {
  const unsigned dword = (unsigned)p->addend / (unsigned)sizeof(gs_row_t);
  const unsigned i = p->hole - (unsigned)GS_HOLE_ROW_SRC0;
  if (i == 0 && s->load >= 0)
    return number_value(s, GS_VALUE_LOAD,
                        (uint32_t)s->load << 8 | dword | (s->loads_fours ? GS_STRIP_FOURS : 0));
  if (i < 3 && in->src[i].kind == GS_SRC_SGPR)
    return number_value(s, GS_VALUE_SCALAR, in->src[i].reg + dword);
  if (i < 3 && in->src[i].kind == GS_SRC_CONST)
    return number_value(s, GS_VALUE_CONSTANT, (uint32_t)(in->src[i].value >> 32 * dword));
  return row_value(s, row);
}

/* ---- What is known of values ---- */

/* Whether the value is the constant. */
static bool is_number(const gs_strip_t *s, int value, uint32_t number) {
  return value >= 0 && s->value[value].kind == GS_VALUE_CONSTANT && s->value[value].number == number;
}

/* What a general register that an instruction of its own sets has, for the only one that reads one here. */
static const gs_strip_value_t *general_of(const gs_strip_t *s, const gs_strip_value_t *v) {
  return v->general_count == 1 ? &s->value[v->general[0]] : NULL;
}

/* ---- Masks ---- */

/* The bits of scalar registers that are `at` behind the wave's begin. */
static gs_strip_mask_t *mask_at(gs_strip_t *s, uint32_t at) {
  for (unsigned i = 0; i < s->mask_count; i++)
    if (s->mask[i].at == at)
      return &s->mask[i];
  if (s->mask_count == GS_STRIP_MASKS) {
    s->is_full = true;
    return &s->mask[0];
  }
  s->mask[s->mask_count] = (gs_strip_mask_t){.at = at, .value = -1, .store = -1};
  return &s->mask[s->mask_count++];
}

static uint32_t displacement_of(const gs_strip_value_t *v) {
  uint32_t at;
  memcpy(&at, v->code + v->op->displacement, sizeof at);
  return at;
}

/* A load of a mask to a mask register is the value that is there, and one to a general register is made of
 * it. What was stored from a general register is loaded again. */
static int load_mask(gs_strip_t *s, gs_strip_value_t *v) {
  gs_strip_mask_t *mask = mask_at(s, displacement_of(v));
  const gs_op_t *op = v->op;
  if (mask->value < 0) {
    gs_strip_value_t loaded = no_value(GS_VALUE_MASK);
    loaded.number = mask->at;
    loaded.role = s->mask_role;
    mask->value = (int16_t)add_value_of(s, &loaded);
  }
  if (v->role)
    return mask->value;
  *v = no_value(GS_VALUE_MASK_BITS);
  v->op = op;
  v->number = (uint32_t)__builtin_ctz(op->writes);
  v->src[GS_FIELD_RM] = mask->value;
  return add_value_of(s, v);
}

/* What is the same is asked once, and what is never any lane's is not. */
static void guard_mask(gs_strip_t *s, const gs_strip_value_t *v) {
  const int value = v->src[GS_FIELD_REG];
  if (value < 0) {
    s->is_full = true; /* from a general register: no stencil has that */
    return;
  }
  const gs_op_t *const op = s->value[value].op;
  bool is_known = (op && op->kind == GS_OP_NO_LANES) || is_number(s, value, 0);
  for (unsigned i = 0; i < s->count && !is_known; i++)
    is_known = s->value[i].kind == GS_VALUE_GUARD_MASK && s->value[i].src[GS_FIELD_REG] == value;
  gs_strip_value_t guard = no_value(GS_VALUE_GUARD_MASK);
  guard.src[GS_FIELD_REG] = (int16_t)value;
  if (!is_known)
    (void)add_value_of(s, &guard);
  s->guard_count += !is_known;
}

/* Without registers for masks: stencils store the first bits of lanes by way of a general register. If these
 * are all bits of a lane, they are the mask. */
static void find_lanes(const gs_strip_t *s, gs_strip_value_t *v) {
  const gs_strip_value_t *const general = general_of(s, v);
  if (!general || !general->op || general->op->kind != GS_OP_BITS_OF_ROW ||
      !s->value[general->src[GS_FIELD_RM]].is_lanes)
    return;
  v->src[GS_FIELD_REG] = general->src[GS_FIELD_RM];
  v->general_count = 0;
}

static void store_mask(gs_strip_t *s, gs_strip_value_t *v) {
  if (s->mask_role == GS_ROLE_VECTOR)
    find_lanes(s, v);
  if (displacement_of(v) == offsetof(gs_wave_t, strip_guard)) {
    guard_mask(s, v);
    return;
  }
  gs_strip_mask_t *mask = mask_at(s, displacement_of(v));
  if (mask->store >= 0)
    s->value[mask->store].kind = GS_VALUE_NOTHING;
  mask->value = v->src[GS_FIELD_REG]; /* -1 if it comes from a general register */
  v->kind = GS_VALUE_STORE_MASK;
  v->number = mask->at;
  mask->store = (int16_t)add_value_of(s, v);
  if (mask->value < 0)
    mask->store = -1; /* who loads it finds it in memory */
}

/* ---- Stencils ---- */

/* What is in the host's registers at a place of a stencil: values, or -1. */
typedef struct registers {
  int16_t vector[32], mask[8], general[16];
} registers_t;

static int16_t *register_of(registers_t *r, const gs_op_t *op, unsigned field) {
  return op->role[field] & GS_ROLE_MASK ? &r->mask[op->number[field] & 7]
                                        : &r->vector[op->number[field] & 31];
}

/* ---- What need not be calculated ---- */

/* The operand that a row of the table is about has this bit there. */
static unsigned bit_of(unsigned row, unsigned operand) {
  return row >> (2 - operand) & 1;
}

/* A function of the bits of three operands, some of which are known to be all zeroes or all ones: takes those
 * out of its table, and their places get one that is not known. Returns the value if it is one of the
 * operands or a constant, or -1. */
static int simplify_logic(gs_strip_t *s, gs_strip_value_t *v) {
  uint8_t *const table = &v->code[v->size - 1];
  unsigned known = 0, bits = 0, copied = 0, rows = 0, other = GS_FIELDS;
  for (unsigned f = 0; f < 3; f++) {
    const bool is_zero = is_number(s, v->src[f], 0), is_ones = is_number(s, v->src[f], UINT32_MAX);
    known |= (unsigned)(is_zero || is_ones) << (2 - f);
    bits |= (unsigned)is_ones << (2 - f);
    if (!is_zero && !is_ones && v->src[f] >= 0)
      other = f;
  }
  for (unsigned row = 0; row < 8; row++)
    copied |= ((unsigned)*table >> ((row & ~known) | bits) & 1u) << row;
  for (unsigned f = 0; f < 3; f++) {
    for (unsigned row = rows = 0; row < 8; row++)
      rows |= bit_of(row, f) << row;
    if (copied == rows && v->src[f] >= 0)
      return v->src[f];
  }
  if (copied == 0 || copied == UINT8_MAX)
    return number_value(s, GS_VALUE_CONSTANT, copied ? UINT32_MAX : 0);
  for (unsigned f = 0; f < 3 && known && other < GS_FIELDS; f++)
    if (known >> (2 - f) & 1)
      v->src[f] = v->src[other];
  *table = (uint8_t)copied;
  return -1;
}

/* Masks that come back from general registers. Returns the value, or -1; likewise the next ones. */
static int simplify_lanes(const gs_strip_t *s, const gs_strip_value_t *v) {
  const gs_strip_value_t *const general = general_of(s, v);
  if (general && general->kind == GS_VALUE_MASK_BITS)
    return general->src[GS_FIELD_RM];
  const bool is_of_row = general && general->op && general->op->kind == GS_OP_BITS_OF_ROW;
  return is_of_row && s->value[general->src[GS_FIELD_RM]].is_lanes ? general->src[GS_FIELD_RM] : -1;
}
/* One lane's value in all. */
static int simplify_spread(gs_strip_t *s, const gs_strip_value_t *v) {
  const int from = v->src[GS_FIELD_RM];
  const gs_strip_value_t *const value = from < 0 ? NULL : &s->value[from];
  if (!value || !value->op || value->op->kind != GS_OP_FROM_GENERAL)
    return -1;
  const gs_strip_value_t *const general = general_of(s, value);
  uint32_t number;
  if (!general || !general->op || general->op->kind != GS_OP_SET_GENERAL)
    return -1;
  memcpy(&number, &general->code[general->size - sizeof number], sizeof number);
  return number_value(s, GS_VALUE_CONSTANT, number);
}

/* Constants. */
static int simplify_number(gs_strip_t *s, gs_strip_value_t *v) {
  const gs_strip_value_t *const general = general_of(s, v);
  const int a = v->src[GS_FIELD_V], b = v->src[GS_FIELD_RM];
  switch (v->op->kind) {
  case GS_OP_MASK_OF_GENERAL:
    return general && general->kind == GS_VALUE_MASK_BITS ? general->src[GS_FIELD_RM] : -1;
  case GS_OP_BROADCAST:
    if (!general || !general->op || general->op->kind != GS_OP_SET_GENERAL)
      return -1;
    uint32_t number;
    memcpy(&number, &general->code[general->size - sizeof number], sizeof number);
    return number_value(s, GS_VALUE_CONSTANT, number);
  case GS_OP_ZERO: return number_value(s, GS_VALUE_CONSTANT, 0);
  case GS_OP_ONES: return number_value(s, GS_VALUE_CONSTANT, UINT32_MAX);
  case GS_OP_LOGIC: return simplify_logic(s, v);
  case GS_OP_AND:
    if (is_number(s, a, UINT32_MAX) || is_number(s, b, 0))
      return b;
    return is_number(s, b, UINT32_MAX) || is_number(s, a, 0) ? a : -1;
  case GS_OP_SUM: return is_number(s, b, 0) ? a : -1;
  case GS_OP_EITHER: return is_number(s, b, 0) ? a : is_number(s, a, 0) ? b : -1;
  case GS_OP_SPREAD: return simplify_spread(s, v);
  case GS_OP_ROW_OF_BITS: return simplify_lanes(s, v);
  default: return -1;
  }
}

/* Halves that are joined after they were parted, and the other way round, and likewise masks. Returns the
 * value, or -1. */
static int simplify(const gs_strip_t *s, const gs_strip_value_t *v) {
  const int a = v->src[GS_FIELD_V], b = v->src[GS_FIELD_RM];
  const gs_strip_value_t *const x = a < 0 ? NULL : &s->value[a], *const y = b < 0 ? NULL : &s->value[b];
  const unsigned first = x && x->op ? x->op->kind : GS_OP_PLAIN,
                 second = y && y->op ? y->op->kind : GS_OP_PLAIN;
  const bool are_alike =
      x && y && x->src[GS_FIELD_V] == y->src[GS_FIELD_V] && x->src[GS_FIELD_RM] == y->src[GS_FIELD_RM];
  switch (v->op->kind) {
  case GS_OP_UNPACK_LOW:
  case GS_OP_UNPACK_HIGH:
    if (!are_alike || first != GS_OP_PICK_LOW || second != GS_OP_PICK_HIGH)
      return -1;
    return v->op->kind == GS_OP_UNPACK_LOW ? x->src[GS_FIELD_V] : x->src[GS_FIELD_RM];
  case GS_OP_PICK_LOW:
  case GS_OP_PICK_HIGH:
    if (!are_alike || first != GS_OP_UNPACK_LOW || second != GS_OP_UNPACK_HIGH)
      return -1;
    return v->op->kind == GS_OP_PICK_LOW ? x->src[GS_FIELD_V] : x->src[GS_FIELD_RM];
  case GS_OP_MASK_OF_ROW: return second == GS_OP_ROW_OF_MASK ? y->src[GS_FIELD_RM] : -1;
  default: return -1;
  }
}

/* The instruction's bytes, with holes filled, but for those that are filled where it is. */
static void fill_code(gs_strip_t *s, gs_strip_value_t *v, const gs_emitter_t *e, const gs_stencil_t *stencil,
                      size_t at, const uint64_t values[GS_HOLE_VALUES]) {
  const gs_op_t *op = v->op;
  memcpy(v->code, e->table->code + stencil->code + at, op->size);
  v->size = op->size;
  if (op->patch != GS_NO_PATCH && op->memory != GS_MEMORY_ROW) {
    const gs_patch_t *p = &e->table->patches[stencil->first_patch + op->patch];
    const uint64_t value = values[p->hole] + (uint64_t)(int64_t)p->addend;
    if (p->form == GS_PATCH_DISTANCE)
      v->pool = p;
    else
      memcpy(v->code + (p->at - at), &value, p->form == GS_PATCH_64 ? 8 : 4);
    v->pool_at = (uint8_t)(p->at - at);
    s->is_full |= p->form == GS_PATCH_DISTANCE && p->hole != GS_HOLE_POOL;
  }
  if (op->memory == GS_MEMORY_ROW)
    gs_strip_row_to_register(v);
  for (unsigned f = 0; f < GS_FIELDS; f++)
    if (op->role[f])
      gs_strip_set_register(v, f, 0);
}

static void read_registers(gs_strip_value_t *v, registers_t *r, int row) {
  const gs_op_t *op = v->op;
  for (unsigned f = 0; f < GS_FIELDS; f++)
    if (op->role[f] & GS_ROLE_READ)
      v->src[f] = f == GS_FIELD_RM && op->memory == GS_MEMORY_ROW ? (int16_t)row : *register_of(r, op, f);
  for (unsigned g = 0; g < 16; g++)
    if ((op->reads >> g & 1) && r->general[g] >= 0 && v->general_count < GS_STRIP_GENERALS)
      v->general[v->general_count++] = r->general[g];
  for (unsigned f = 0; f < GS_FIELDS; f++)
    if (op->role[f] & GS_ROLE_WRITE)
      v->role = op->role[f] & (GS_ROLE_VECTOR | GS_ROLE_MASK);
}

/* Of a fused sum a + b * c that has a NaN in place of b * c where that is one (isa/float.h), the host's own.
 * It is the same but where it is a NaN itself. Returns -1 if the value is something else. */
static int fused_of(const gs_strip_t *s, const gs_strip_value_t *v) {
  if (v->op->kind != GS_OP_MERGE)
    return -1;
  const int sum = v->src[v->op->is_vex ? GS_FIELD_V : GS_FIELD_REG], product = v->src[GS_FIELD_RM],
            mask = v->src[GS_FIELD_MASK];
  if (sum < 0 || product < 0 || mask < 0 || !s->value[sum].op || !s->value[product].op ||
      !s->value[mask].op || s->value[sum].op->kind != GS_OP_FMA ||
      s->value[product].op->kind != GS_OP_PRODUCT || s->value[mask].op->kind != GS_OP_UNORDERED)
    return -1;
  const int16_t *const of_sum = s->value[sum].src, *const of_product = s->value[product].src,
                       *const of_mask = s->value[mask].src;
  const bool is_fused = of_sum[GS_FIELD_V] == of_product[GS_FIELD_V] &&
                        of_sum[GS_FIELD_RM] == of_product[GS_FIELD_RM] && of_mask[GS_FIELD_V] == product &&
                        of_mask[GS_FIELD_RM] == product;
  return is_fused ? sum : -1;
}
/* Whether every lane has the same number, and no NaN: no double with such halves is one either. */
static bool is_known_number(const gs_strip_t *s, int value) {
  return value >= 0 && s->value[value].kind == GS_VALUE_CONSTANT &&
         (s->value[value].number & 0x7fffffff) <= 0x7f800000;
}
static int simplify_fused(gs_strip_t *s, const gs_strip_value_t *v) {
  const int sum = fused_of(s, v);
  if (sum < 0 || is_known_number(s, s->value[sum].src[GS_FIELD_REG]))
    return sum;
  if (!s->assumes || s->assumed_count == GS_STRIP_ASSUMED)
    return -1;
  s->assumed[s->assumed_count++] = (int16_t)sum;
  return sum;
}

/* The value that an instruction makes. */
static int value_of(gs_strip_t *s, gs_strip_value_t *v) {
  if (v->op->memory == GS_MEMORY_MASK)
    return load_mask(s, v);
  if (v->op->kind == GS_OP_COPY)
    return v->src[v->op->role[GS_FIELD_RM] & GS_ROLE_READ ? GS_FIELD_RM : GS_FIELD_REG];
  int simple = simplify(s, v);
  if (simple < 0)
    simple = simplify_number(s, v);
  if (simple < 0)
    simple = simplify_fused(s, v);
  return simple >= 0 ? simple : add_value_of(s, v);
}

static void add_op(gs_strip_t *s, gs_strip_value_t *v, registers_t *r, int row, int operand) {
  const gs_op_t *op = v->op;
  read_registers(v, r, operand);
  if (op->memory == GS_MEMORY_MASK && !v->role && !op->writes) {
    store_mask(s, v);
    return;
  }
  const int value = value_of(s, v);
  for (unsigned f = 0; f < GS_FIELDS; f++)
    if ((op->role[f] & GS_ROLE_WRITE) && f == GS_FIELD_RM && op->memory == GS_MEMORY_ROW)
      set_row(s, row, value);
    else if (op->role[f] & GS_ROLE_WRITE)
      *register_of(r, op, f) = (int16_t)value;
  for (unsigned g = 0; g < 16; g++)
    if (op->writes >> g & 1)
      r->general[g] = (int16_t)value;
}

void gs_strip_stencil(gs_strip_t *s, const gs_emitter_t *e, const gs_stencil_t *stencil, const gs_inst_t *in,
                      const uint64_t values[GS_HOLE_VALUES]) {
  registers_t r;
  memset(&r, -1, sizeof r);
  size_t at = 0;
  for (unsigned i = 0; i < stencil->op_count && !s->is_full; i++) {
    const gs_op_t *op = &e->table->ops[stencil->first_op + i];
    gs_strip_value_t v = no_value(GS_VALUE_OP);
    int row = -1, operand = -1;
    v.op = op;
    fill_code(s, &v, e, stencil, at, values);
    if (op->memory == GS_MEMORY_ROW) {
      const gs_patch_t *p = &e->table->patches[stencil->first_patch + op->patch];
      row = (int)((values[p->hole] + (uint64_t)(int64_t)p->addend) / sizeof(gs_row_t));
      if (op->role[GS_FIELD_RM] & GS_ROLE_READ)
        operand = operand_value(s, p, in, row);
    }
    add_op(s, &v, &r, row, operand);
    at += op->size;
  }
}

void gs_strip_load(gs_strip_t *s, const gs_emitter_t *e, const gs_stencil_t *stencil, const gs_inst_t *in,
                   const uint64_t values[GS_HOLE_VALUES], unsigned load) {
  s->load = (int)load;
  s->loads_fours = gs_type_dwords((gs_type_t)in->op->dst) == 4;
  gs_strip_stencil(s, e, stencil, in, values);
  s->load = -1;
}

void gs_strip_copy_row(gs_strip_t *s, unsigned row, unsigned to) {
  gs_strip_value_t v = no_value(GS_VALUE_STORE);
  v.number = to;
  v.src[GS_FIELD_RM] = (int16_t)row_value(s, (int)row);
  add_value_of(s, &v);
}

/* A mask that was stored from a general register would be looked for in memory. */
void gs_strip_copies_only(gs_strip_t *s) {
  for (unsigned i = 0; i < s->count; i++) {
    gs_strip_value_t *const v = &s->value[i];
    if (v->kind == GS_VALUE_STORE_MASK && v->src[GS_FIELD_REG] < 0)
      s->is_full = true;
    if (v->kind == GS_VALUE_STORE_MASK || (v->kind == GS_VALUE_STORE && v->number < GS_VGPRS))
      v->kind = GS_VALUE_NOTHING;
  }
}

/* Masks that come from general registers stay: they may have been looked for in memory. */
void gs_strip_live_only(gs_strip_t *s, const gs_live_set_t *live, unsigned lanes,
                        gs_strip_scalars_t *scalars) {
  for (unsigned i = 0; i < s->count; i++)
    if (s->value[i].kind == GS_VALUE_STORE && s->value[i].number < GS_VGPRS &&
        !gs_row_set_has(&live->rows, s->value[i].number))
      s->value[i].kind = GS_VALUE_NOTHING;
  for (unsigned i = 0; i < s->mask_count; i++) {
    const unsigned reg = (unsigned)((s->mask[i].at - offsetof(gs_wave_t, s)) / sizeof(uint32_t));
    const bool matters =
        gs_scalar_set_has(&live->scalars, reg) || (lanes > 32 && gs_scalar_set_has(&live->scalars, reg + 1));
    if (s->mask[i].store >= 0 && !matters) {
      s->value[s->mask[i].store].kind = GS_VALUE_NOTHING;
      gs_scalar_set_put(&scalars->masks, reg, 1, false);
    }
  }
}

/* ---- What is assumed ---- */

/* Values that are stored, or that those are made of. */
static void find_needed(const gs_strip_t *s, bool needed[GS_STRIP_VALUES]) {
  memset(needed, 0, GS_STRIP_VALUES * sizeof *needed);
  for (unsigned i = s->count; i-- > 0;) {
    const gs_strip_value_t *const v = &s->value[i];
    needed[i] |=
        v->kind == GS_VALUE_STORE || v->kind == GS_VALUE_STORE_MASK || v->kind == GS_VALUE_GUARD_MASK;
    for (unsigned f = 0; f < GS_FIELDS && needed[i]; f++)
      if (v->src[f] >= 0)
        needed[v->src[f]] = true;
    for (unsigned g = 0; g < v->general_count && needed[i]; g++)
      needed[v->general[g]] = true;
  }
}

/* Whether another such sum has the value as an operand: then that one is a NaN, too. */
static bool is_seen_in_another(const gs_strip_t *s, int value, const bool *needed) {
  for (unsigned i = 0; i < s->assumed_count; i++) {
    const int16_t *const src = s->value[s->assumed[i]].src;
    if (needed[s->assumed[i]] &&
        (src[GS_FIELD_REG] == value || src[GS_FIELD_V] == value || src[GS_FIELD_RM] == value))
      return true;
  }
  return false;
}

static void add_guards(gs_strip_t *s) {
  bool needed[GS_STRIP_VALUES];
  find_needed(s, needed);
  for (unsigned i = 0; i < s->assumed_count; i++) {
    const int value = s->assumed[i];
    s->is_guarded[value] = needed[value] && !is_seen_in_another(s, value, needed);
    s->guard_count += s->is_guarded[value];
  }
}

/* A general register has such a mask no longer than until it is stored. */
static bool stores_general(const gs_strip_t *s) {
  for (unsigned i = 0; i < s->count; i++)
    if (s->value[i].kind == GS_VALUE_STORE_MASK && s->value[i].src[GS_FIELD_REG] < 0)
      return true;
  return false;
}

bool gs_strip_assume(gs_strip_t *s) {
  const unsigned count = s->count;
  add_guards(s);
  s->assumes = s->guard_count != 0;
  if (!s->assumes)
    return true;
  if (stores_general(s))
    return false;
  const gs_strip_value_t guarded = no_value(GS_VALUE_GUARDED);
  (void)add_value_of(s, &guarded);
  for (unsigned i = 0; i < count && !s->is_full; i++) {
    const gs_strip_value_t v = s->value[i];
    if (v.kind != GS_VALUE_STORE && v.kind != GS_VALUE_STORE_MASK)
      continue;
    s->value[i].kind = GS_VALUE_NOTHING;
    (void)add_value_of(s, &v);
  }
  return !s->is_full;
}

void gs_strip_begin(gs_strip_t *s, const gs_stencil_table_t *table, bool assumes) {
  s->mask_role = table->strip_lanes == 8 ? GS_ROLE_VECTOR : GS_ROLE_MASK;
  s->assumes = assumes;
  s->assumed_count = s->guard_count = 0;
  s->guard = 0;
  s->load = -1;
  memset(s->is_guarded, 0, sizeof s->is_guarded);
  memset(s->row, -1, sizeof s->row);
  memset(s->row_store, -1, sizeof s->row_store);
  memset(s->hash, -1, sizeof s->hash);
  memset(s->pinned, -1, sizeof s->pinned);
  s->count = 0;
  s->mask_count = 0;
  s->is_full = false;
}

/* vpxor %xmm0, %xmm0, %xmm0; vpinsrw or vpinsrb $part, displacement(%rdi), %xmm0, %xmm0 for each; and vmovd
 * or vmovq %xmm0, displacement(%rdi). */
static void emit_join(gs_emitter_t *e, unsigned reg, unsigned lanes) {
  static const uint8_t clear[] = {0xc5, 0xf9, 0xef, 0xc0}, insert_word[] = {0xc5, 0xf9, 0xc4, 0x87},
                       insert_byte[] = {0xc4, 0xe3, 0x79, 0x20, 0x87};
  const uint8_t move[] = {0xc5, 0xf9, lanes > 32 ? 0xd6 : 0x7e, 0x87};
  const size_t at = offsetof(gs_wave_t, s) + sizeof(uint32_t) * reg, bytes = e->table->strip_lanes / 8;
  gs_emit_bytes(e, clear, sizeof clear);
  for (uint8_t part = 0; part < lanes / e->table->strip_lanes; part++) {
    if (bytes == 1)
      gs_emit_bytes(e, insert_byte, sizeof insert_byte);
    else
      gs_emit_bytes(e, insert_word, sizeof insert_word);
    gs_emit_32(e, at + part * bytes);
    gs_emit_bytes(e, &part, 1);
  }
  gs_emit_bytes(e, move, sizeof move);
  gs_emit_32(e, at);
}

void gs_strip_join_masks(const gs_strip_scalars_t *s, gs_emitter_t *e, unsigned lanes) {
  for (unsigned reg = 0; reg < GS_SGPRS; reg++)
    if (gs_scalar_set_has(&s->masks, reg))
      emit_join(e, reg, lanes);
}

/* movw or movb $0, displacement(%r15) for each mask. */
void gs_strip_idle(const gs_strip_scalars_t *s, gs_emitter_t *e) {
  static const uint8_t movw[] = {0x66, 0x41, 0xc7, 0x87}, movb[] = {0x41, 0xc6, 0x87}, zero[2] = {0};
  const size_t bytes = e->table->strip_lanes / 8;
  for (unsigned reg = 0; reg < GS_SGPRS; reg++) {
    if (!gs_scalar_set_has(&s->masks, reg))
      continue;
    if (bytes == 1)
      gs_emit_bytes(e, movb, sizeof movb);
    else
      gs_emit_bytes(e, movw, sizeof movw);
    gs_emit_32(e, offsetof(gs_wave_t, s) + sizeof(uint32_t) * reg);
    gs_emit_bytes(e, zero, bytes);
  }
}
