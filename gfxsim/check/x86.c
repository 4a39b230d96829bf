/* See x86.h. Opcodes by map; what is no row of a table here has no operand in memory that is known. */
#include "check/x86.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* How many bytes an operand has. */
typedef enum width {
  W_NONE,
  W_1,
  W_2,
  W_4,
  W_8,
  W_10,
  W_16,
  W_OP,     /* 2, 4 or 8, by prefixes */
  W_WIDE,   /* 4 or 8 */
  W_VECTOR, /* 16 to 64 */
  W_HALF,   /* half of that */
  W_SCALAR, /* the same, but for 4 and 8 by the prefixes f3 and f2 */
  W_FLOAT,  /* 4, or 8 by the prefix 66 */
} width_t;

enum { R = 1, W = 2, RW = 3 };

typedef struct row {
  uint8_t first, last; /* opcodes */
  uint8_t action, width;
} row_t;

/* One byte. Groups, by the operand of ModRM that is no register, come first: see group_of. */
static const row_t one[] = {
    {0x63, 0x63, R, W_4},  {0x69, 0x69, R, W_OP},  {0x6b, 0x6b, R, W_OP},  {0x84, 0x84, R, W_1},
    {0x85, 0x85, R, W_OP}, {0x86, 0x86, RW, W_1},  {0x87, 0x87, RW, W_OP}, {0x88, 0x88, W, W_1},
    {0x89, 0x89, W, W_OP}, {0x8a, 0x8a, R, W_1},   {0x8b, 0x8b, R, W_OP},  {0x8f, 0x8f, W, W_8},
    {0xc0, 0xc0, RW, W_1}, {0xc1, 0xc1, RW, W_OP}, {0xc6, 0xc6, W, W_1},   {0xc7, 0xc7, W, W_OP},
    {0xd0, 0xd0, RW, W_1}, {0xd1, 0xd1, RW, W_OP}, {0xd2, 0xd2, RW, W_1},  {0xd3, 0xd3, RW, W_OP},
};

/* Behind 0f. */
static const row_t two[] = {
    {0x10, 0x10, R, W_SCALAR}, {0x11, 0x11, W, W_SCALAR}, {0x13, 0x13, W, W_8},
    {0x14, 0x15, R, W_VECTOR}, {0x17, 0x17, W, W_8},      {0x28, 0x28, R, W_VECTOR},
    {0x29, 0x29, W, W_VECTOR}, {0x2b, 0x2b, W, W_SCALAR}, {0x2e, 0x2f, R, W_FLOAT},
    {0x40, 0x4f, R, W_OP},     {0x51, 0x53, R, W_SCALAR}, {0x54, 0x57, R, W_VECTOR},
    {0x58, 0x59, R, W_SCALAR}, {0x5b, 0x5b, R, W_VECTOR}, {0x5c, 0x5f, R, W_SCALAR},
    {0x60, 0x6d, R, W_VECTOR}, {0x6e, 0x6e, R, W_WIDE},   {0x6f, 0x6f, R, W_VECTOR},
    {0x70, 0x70, R, W_VECTOR}, {0x74, 0x76, R, W_VECTOR}, {0x7c, 0x7d, R, W_VECTOR},
    {0x7f, 0x7f, W, W_VECTOR}, {0x90, 0x9f, W, W_1},      {0xa3, 0xa3, R, W_OP},
    {0xa4, 0xa5, RW, W_OP},    {0xac, 0xad, RW, W_OP},    {0xaf, 0xaf, R, W_OP},
    {0xb0, 0xb0, RW, W_1},     {0xb1, 0xb1, RW, W_OP},    {0xb6, 0xb6, R, W_1},
    {0xb7, 0xb7, R, W_2},      {0xb8, 0xb8, R, W_OP},     {0xbc, 0xbd, R, W_OP},
    {0xbe, 0xbe, R, W_1},      {0xbf, 0xbf, R, W_2},      {0xc0, 0xc0, RW, W_1},
    {0xc1, 0xc1, RW, W_OP},    {0xc2, 0xc2, R, W_SCALAR}, {0xc3, 0xc3, W, W_WIDE},
    {0xc4, 0xc4, R, W_2},      {0xc6, 0xc6, R, W_VECTOR}, {0xd0, 0xd5, R, W_VECTOR},
    {0xd6, 0xd6, W, W_8},      {0xd8, 0xe5, R, W_VECTOR}, {0xe7, 0xe7, W, W_VECTOR},
    {0xe8, 0xef, R, W_VECTOR}, {0xf0, 0xf0, R, W_VECTOR}, {0xf1, 0xf6, R, W_VECTOR},
    {0xf8, 0xfe, R, W_VECTOR},
};

/* Behind 0f 38. */
static const row_t three[] = {
    {0x00, 0x0b, R, W_VECTOR}, {0x16, 0x17, R, W_VECTOR}, {0x18, 0x18, R, W_4},      {0x19, 0x19, R, W_8},
    {0x1a, 0x1a, R, W_16},     {0x1c, 0x1e, R, W_VECTOR}, {0x20, 0x20, R, W_HALF},   {0x23, 0x23, R, W_HALF},
    {0x25, 0x25, R, W_HALF},   {0x28, 0x2b, R, W_VECTOR}, {0x30, 0x30, R, W_HALF},   {0x33, 0x33, R, W_HALF},
    {0x35, 0x35, R, W_HALF},   {0x36, 0x40, R, W_VECTOR}, {0x45, 0x47, R, W_VECTOR}, {0x58, 0x58, R, W_4},
    {0x59, 0x59, R, W_8},      {0x5a, 0x5a, R, W_16},     {0x75, 0x77, R, W_VECTOR}, {0x78, 0x78, R, W_1},
    {0x79, 0x79, R, W_2},      {0x7d, 0x7f, R, W_VECTOR}, {0xdb, 0xdf, R, W_VECTOR},
};

/* Behind 0f 3a. */
static const row_t fourth[] = {
    {0x00, 0x06, R, W_VECTOR}, {0x08, 0x09, R, W_VECTOR}, {0x0a, 0x0a, R, W_4},
    {0x0b, 0x0b, R, W_8},      {0x0c, 0x0f, R, W_VECTOR}, {0x14, 0x14, W, W_1},
    {0x15, 0x15, W, W_2},      {0x16, 0x16, W, W_WIDE},   {0x17, 0x17, W, W_4},
    {0x18, 0x18, R, W_16},     {0x19, 0x19, W, W_16},     {0x1e, 0x1f, R, W_VECTOR},
    {0x20, 0x20, R, W_1},      {0x21, 0x21, R, W_4},      {0x22, 0x22, R, W_WIDE},
    {0x25, 0x25, R, W_VECTOR}, {0x38, 0x38, R, W_16},     {0x39, 0x39, W, W_16},
    {0x3e, 0x3f, R, W_VECTOR}, {0x40, 0x42, R, W_VECTOR}, {0x44, 0x44, R, W_VECTOR},
    {0x46, 0x46, R, W_VECTOR}, {0x4a, 0x4c, R, W_VECTOR}, {0x60, 0x63, R, W_16},
};

static const struct {
  const row_t *row;
  size_t count;
} maps[] = {{one, sizeof one / sizeof *one},
            {two, sizeof two / sizeof *two},
            {three, sizeof three / sizeof *three},
            {fourth, sizeof fourth / sizeof *fourth}};

/* Floating point on the stack: by opcode (from d8 on) and the group's number. */
static const uint8_t x87[8][8][2] = {
    {{R, W_4}, {R, W_4}, {R, W_4}, {R, W_4}, {R, W_4}, {R, W_4}, {R, W_4}, {R, W_4}},
    {{R, W_4}, {0, 0}, {W, W_4}, {W, W_4}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
    {{R, W_4}, {R, W_4}, {R, W_4}, {R, W_4}, {R, W_4}, {R, W_4}, {R, W_4}, {R, W_4}},
    {{R, W_4}, {W, W_4}, {W, W_4}, {W, W_4}, {0, 0}, {R, W_10}, {0, 0}, {W, W_10}},
    {{R, W_8}, {R, W_8}, {R, W_8}, {R, W_8}, {R, W_8}, {R, W_8}, {R, W_8}, {R, W_8}},
    {{R, W_8}, {W, W_8}, {W, W_8}, {W, W_8}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
    {{R, W_2}, {R, W_2}, {R, W_2}, {R, W_2}, {R, W_2}, {R, W_2}, {R, W_2}, {R, W_2}},
    {{R, W_2}, {W, W_2}, {W, W_2}, {W, W_2}, {0, 0}, {R, W_8}, {0, 0}, {W, W_8}},
};

typedef struct inst {
  const uint8_t *at, *end;
  bool operand_16, vex, evex, wide, elsewhere; /* elsewhere: another segment, or short addresses */
  uint8_t repeat;                              /* f2, f3, or 0 */
  uint8_t reg, index, base;                    /* upper bits of register numbers, of a prefix */
  uint8_t map, opcode;
  unsigned vector; /* bytes */
} inst_t;

static uint8_t next(inst_t *in) {
  return in->at < in->end ? *in->at++ : 0;
}

static void read_legacy(inst_t *in) {
  for (; in->at < in->end; in->at++) {
    switch (*in->at) {
    case 0x66: in->operand_16 = true; break;
    case 0xf2:
    case 0xf3: in->repeat = *in->at; break;
    case 0x64:
    case 0x65:
    case 0x67: in->elsewhere = true; break;
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0xf0: break;
    default: return;
    }
  }
}

static void take_mandatory(inst_t *in, unsigned pp) {
  in->operand_16 = pp == 1;
  in->repeat = pp == 2 ? 0xf3 : pp == 3 ? 0xf2 : 0;
}

static void read_vex(inst_t *in, bool is_long) {
  uint8_t byte = next(in);
  in->vex = true;
  in->map = 1;
  if (is_long) {
    in->index = byte & 0x40 ? 0 : 8;
    in->base = byte & 0x20 ? 0 : 8;
    in->map = byte & 31;
    byte = next(in);
    in->wide = byte & 0x80;
  }
  in->vector = byte & 4 ? 32 : 16;
  take_mandatory(in, byte & 3);
}

static void read_evex(inst_t *in) {
  const uint8_t first = next(in), second = next(in), third = next(in);
  in->vex = in->evex = true;
  in->index = first & 0x40 ? 0 : 8;
  in->base = first & 0x20 ? 0 : 8;
  in->map = first & 7;
  in->wide = second & 0x80;
  in->vector = 16u << (third >> 5 & 3);
  take_mandatory(in, second & 3);
  in->elsewhere |= third & 0x17; /* masked lanes are not accessed, and one element may stand for all */
}

static void read_prefixes(inst_t *in) {
  read_legacy(in);
  in->vector = 16;
  const uint8_t byte = next(in);
  if ((byte & 0xf0) == 0x40) {
    in->wide = byte & 8;
    in->index = byte & 2 ? 8 : 0;
    in->base = byte & 1 ? 8 : 0;
    in->opcode = next(in);
  } else {
    in->opcode = byte;
  }
  if (byte == 0xc4 || byte == 0xc5)
    read_vex(in, byte == 0xc4);
  else if (byte == 0x62)
    read_evex(in);
  if (in->vex) {
    in->opcode = next(in);
  } else if (in->opcode == 0x0f) {
    in->map = 1;
    in->opcode = next(in);
    if (in->opcode == 0x38 || in->opcode == 0x3a) {
      in->map = in->opcode == 0x38 ? 2 : 3;
      in->opcode = next(in);
    }
  }
}

/* On the older registers of 64 bits. */
static bool is_mmx(const inst_t *in) {
  const bool has_both = in->map > 1 || (in->map == 1 && in->opcode >= 0x60 && in->opcode != 0xc6);
  return has_both && !in->vex && !in->operand_16 && !in->repeat;
}

static unsigned bytes_of(const inst_t *in, unsigned width) {
  static const uint8_t fixed[] = {
      [W_NONE] = 0, [W_1] = 1, [W_2] = 2, [W_4] = 4, [W_8] = 8, [W_10] = 10, [W_16] = 16};
  switch ((width_t)width) {
  case W_OP: return in->wide ? 8 : in->operand_16 ? 2 : 4;
  case W_WIDE: return in->wide ? 8 : 4;
  case W_VECTOR: return is_mmx(in) ? 8 : in->vector;
  case W_HALF: return in->vector / 2;
  case W_SCALAR: return in->repeat == 0xf3 ? 4 : in->repeat == 0xf2 ? 8 : in->vector;
  case W_FLOAT: return in->operand_16 ? 8 : 4;
  default: return fixed[width];
  }
}

/* What the group's member does with its operand. False for those that are in no group. */
static bool group_of(const inst_t *in, unsigned member, row_t *row) {
  const uint8_t op = in->opcode, size = op & 1 ? W_OP : W_1;
  if (in->map || in->vex)
    return false;
  if (op < 0x40 && (op & 7) < 4)
    *row = (row_t){op, op, (op & 7) > 1 || op >= 0x38 ? R : RW, size};
  else if (op == 0x80 || op == 0x81 || op == 0x83)
    *row = (row_t){op, op, member == 7 ? R : RW, size};
  else if (op == 0xf6 || op == 0xf7)
    *row = (row_t){op, op, member == 2 || member == 3 ? RW : R, size};
  else if (op == 0xfe || op == 0xff)
    *row = (row_t){op, op, member < 2 ? RW : 0, size};
  else if (op >= 0xd8 && op <= 0xdf)
    *row = (row_t){op, op, x87[op - 0xd8][member][0], x87[op - 0xd8][member][1]};
  else
    return false;
  return true;
}

/* Behind 0f, where a prefix changes what is read or done. */
static bool special_of_two(const inst_t *in, unsigned member, row_t *row) {
  const uint8_t repeat = in->repeat;
  switch (in->opcode) {
  case 0x12:
    *row = (row_t){.action = R, .width = repeat == 0xf3 || (repeat && in->vector > 16) ? W_VECTOR : W_8};
    return true;
  case 0x16: *row = (row_t){.action = R, .width = repeat ? W_VECTOR : W_8}; return true;
  case 0x2a: *row = (row_t){.action = repeat ? R : 0, .width = W_WIDE}; return true;
  case 0x2c:
  case 0x2d: *row = (row_t){.action = repeat ? R : 0, .width = W_SCALAR}; return true;
  case 0x5a: *row = (row_t){.action = R, .width = repeat || in->operand_16 ? W_SCALAR : W_HALF}; return true;
  case 0x7e: *row = repeat == 0xf3 ? (row_t){0, 0, R, W_8} : (row_t){0, 0, W, W_WIDE}; return true;
  case 0xba: *row = (row_t){.action = member < 4 ? 0 : member == 4 ? R : RW, .width = W_OP}; return true;
  case 0xd1:
  case 0xd2:
  case 0xd3:
  case 0xe1:
  case 0xe2:
  case 0xf1:
  case 0xf2:
  case 0xf3: /* shifts, by a number of one operand for all elements */
    *row = (row_t){.action = R, .width = is_mmx(in) ? W_8 : W_16};
    return true;
  case 0xe6:
    *row = (row_t){.action = R, .width = repeat == 0xf3 && !(in->evex && in->wide) ? W_HALF : W_VECTOR};
    return true;
  default:
    /* Of masks, in place of setcc; and of mmx, which reads half. */
    return (in->vex && in->opcode >= 0x90 && in->opcode <= 0x9f) ||
           (is_mmx(in) && in->opcode >= 0x60 && in->opcode <= 0x62);
  }
}

/* Behind 0f 38: fused sums, and general registers. */
static bool special_of_three(const inst_t *in, row_t *row) {
  const unsigned low = in->opcode & 15, high = in->opcode >> 4;
  if (in->evex && in->repeat) /* narrowed stores, sums of four */
    return true;
  if (in->vex && (high == 9 || high == 10 || high == 11) && low >= 6) {
    *row = (row_t){.action = R, .width = low >= 8 && low & 1 ? W_WIDE : W_VECTOR};
    return true;
  }
  if (in->vex && (in->opcode == 0xf2 || in->opcode == 0xf3 || (in->opcode >= 0xf5 && in->opcode <= 0xf7))) {
    *row = (row_t){.action = R, .width = W_WIDE};
    return true;
  }
  if (in->vex || (in->opcode & 0xfe) != 0xf0)
    return false;
  *row = in->repeat ? (row_t){.action = R, .width = in->opcode == 0xf0 ? W_1 : W_OP}
                    : (row_t){.action = in->opcode == 0xf0 ? R : W, .width = W_OP};
  return true;
}

/* What the opcode does with its operand in memory; action 0: nothing that is known. */
static row_t find_row(const inst_t *in, unsigned member) {
  row_t row = {0};
  if (group_of(in, member, &row) || in->map >= sizeof maps / sizeof *maps || (in->vex && !in->map))
    return row;
  if ((in->map == 1 && special_of_two(in, member, &row)) || (in->map == 2 && special_of_three(in, &row)))
    return row;
  if (in->map == 3 && in->evex && !in->operand_16) /* halves */
    return row;
  if (in->map == 3 && in->vex && in->opcode == 0xf0)
    return (row_t){.action = R, .width = W_WIDE};
  for (size_t i = 0; i < maps[in->map].count; i++)
    if (in->opcode >= maps[in->map].row[i].first && in->opcode <= maps[in->map].row[i].last)
      return maps[in->map].row[i];
  return row;
}

/* Of the registers' numbers in instructions. */
static uint64_t value_of(const greg_t *regs, unsigned number) {
  static const int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                 REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return (uint64_t)regs[places[number]];
}

static uint64_t read_offset(inst_t *in, unsigned mode, unsigned bytes) {
  int32_t offset = 0;
  if (mode == 1)
    return (uint64_t)(int64_t)(int8_t)next(in) * (in->evex ? bytes : 1); /* in units of the operand */
  if (mode == 2 && in->end - in->at >= 4)
    memcpy(&offset, in->at, 4);
  return (uint64_t)(int64_t)offset;
}

static uint64_t find_address(inst_t *in, unsigned modrm, uint64_t after, const greg_t *regs, unsigned bytes) {
  unsigned mode = modrm >> 6, base = modrm & 7;
  uint64_t address = 0;
  if (mode == 0 && base == 5)
    return after + read_offset(in, 2, bytes);
  if (base == 4) {
    const uint8_t sib = next(in);
    const unsigned index = (sib >> 3 & 7) | in->index;
    base = sib & 7;
    if (index != 4)
      address = value_of(regs, index) << (sib >> 6);
    if (mode == 0 && base == 5)
      return address + read_offset(in, 2, bytes);
  }
  return address + value_of(regs, base | in->base) + read_offset(in, mode, bytes);
}

/* movs, cmps, stos, lods, scas. */
static unsigned strings(const inst_t *in, const greg_t *regs, gs_host_access_t *out) {
  const unsigned bytes = bytes_of(in, in->opcode & 1 ? W_OP : W_1);
  const gs_host_access_t from = {(uint64_t)regs[REG_RSI], bytes, true, false};
  const gs_host_access_t to = {(uint64_t)regs[REG_RDI], bytes, true, false};
  unsigned count = 0;
  if (in->repeat && !regs[REG_RCX])
    return 0;
  switch (in->opcode & 0xfe) {
  case 0xa4: out[count++] = from; /* fall through */
  case 0xaa:
    out[count] = to;
    out[count].reads = false;
    out[count++].writes = true;
    return count;
  case 0xa6: out[count++] = from; /* fall through */
  case 0xae: out[count++] = to; return count;
  default: out[count++] = from; return count;
  }
}

unsigned gs_x86_accesses(const uint8_t *code, unsigned length, uint64_t pc, const greg_t *regs,
                         gs_host_access_t out[GS_HOST_ACCESSES]) {
  inst_t in = {.at = code, .end = code + length};
  read_prefixes(&in);
  if (in.elsewhere)
    return 0;
  if (!in.map && !in.vex && in.opcode >= 0xa4 && in.opcode <= 0xaf && (in.opcode & 0xfe) != 0xa8)
    return strings(&in, regs, out);
  if (in.at >= in.end)
    return 0;
  const uint8_t modrm = next(&in);
  const row_t row = find_row(&in, modrm >> 3 & 7);
  const unsigned bytes = bytes_of(&in, row.width);
  if (modrm >> 6 == 3 || !row.action)
    return 0;
  *out = (gs_host_access_t){find_address(&in, modrm, pc + length, regs, bytes), bytes, row.action & R,
                            row.action & W};
  return 1;
}
