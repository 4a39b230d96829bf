/* See random_code.h: for every encoding of every family, fields filled by chance.
 * Not here: which opcodes, and what is done with them. */
#include "random_code.h"

#include <string.h>

/* Bits that are more often all clear than not. */
static uint32_t rare_bits(random_t *r, unsigned width) {
  return random_one_in(r, 3) ? random_below(r, 1u << width) : 0;
}

static uint32_t number(random_t *r) {
  static const uint32_t special[] = {0,          1,          64,         65,         0xffffffff, 0xfffffff0,
                                     0xffffffef, 0x3f800000, 0x3e22f983, 0x80000000, 0x3c00,     0xbc00,
                                     0x3118,     0xfff0,     0x13c00,    0xc0800000, 0x3ff00000, 0x40};
  return random_one_in(r, 2) ? random_bits(r) : special[random_below(r, sizeof special / sizeof *special)];
}

/* Operand numbers: mostly what exists. */
enum { FEW_QUADS = 8, FEW_VECTORS = 16 };

static uint32_t scalar_register(random_t *r) {
  static const uint8_t special[] = {100, 101, 102, 103, 104, 105, 106, 106,
                                    107, 108, 120, 123, 124, 126, 126, 127};
  switch (random_below(r, 8)) {
  case 0: return random_below(r, 128);
  case 1: return special[random_below(r, sizeof special)];
  default:
    return random_below(r, r->few ? FEW_QUADS : 26) * 4 + (random_one_in(r, 4) ? random_below(r, 4) : 0);
  }
}
static uint32_t scalar_operand(random_t *r) {
  switch (random_below(r, 8)) {
  case 0: return random_below(r, 256);
  case 1: return 255;
  case 2: return 128 + random_below(r, 81);
  case 3: return 240 + random_below(r, 9);
  case 4: return 235 + random_below(r, 20);
  default: return scalar_register(r);
  }
}
static uint32_t vector_register(random_t *r) {
  if (r->few && !random_one_in(r, 16))
    return random_below(r, FEW_VECTORS);
  const uint32_t number = random_one_in(r, 8) ? 224 + random_below(r, 32) : random_below(r, 224);
  return random_one_in(r, 2) ? number
                             : number & ~1u; /* where several registers must begin on gfx90a and gfx942 */
}
static uint32_t vector_operand(random_t *r) {
  return random_one_in(r, 3) ? scalar_operand(r) : 256 + vector_register(r);
}

static void random_sdwa(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  w[0] = (w[0] & ~0x1ffu) | 249;
  w[1] = random_one_in(r, 4) ? scalar_operand(r) | 1u << 23 : vector_register(r);
  w[1] |= random_below(r, 7) << 16 | (random_one_in(r, 2) ? 0u : rare_bits(r, 3) << 19);
  if (op->encoding == GS_ENC_VOPC)
    w[1] |= random_one_in(r, 2) ? 0x8000u | scalar_register(r) << 8 : 0;
  else
    w[1] |= random_below(r, 7) << 8 | random_below(r, 3) << 11 | rare_bits(r, 3) << 13;
  if (op->encoding != GS_ENC_VOP1)
    w[1] |= random_below(r, 7) << 24 | (random_one_in(r, 2) ? 0u : rare_bits(r, 3) << 27) |
            (uint32_t)random_one_in(r, 4) << 31;
}

static void random_dpp(random_t *r, uint32_t w[3]) {
  static const uint16_t controls[] = {0x101, 0x10f, 0x111, 0x11f, 0x121, 0x12f, 0x130, 0x134, 0x138,
                                      0x13c, 0x140, 0x141, 0x142, 0x143, 0x150, 0x155, 0x15f};
  w[0] = (w[0] & ~0x1ffu) | 250;
  const uint32_t control = random_one_in(r, 2) ? random_below(r, 256)
                           : random_one_in(r, 8)
                               ? random_below(r, 512)
                               : controls[random_below(r, sizeof controls / sizeof *controls)];
  w[1] = vector_register(r) | control << 8 | (uint32_t)random_one_in(r, 2) << 19 | rare_bits(r, 4) << 20 |
         random_below(r, 256) << 24;
}

static unsigned used_sources(const gs_opcode_t *op) {
  unsigned count = 0;
  while (count < 3 && op->src[count] != GS_T_NONE)
    count++;
  return count;
}

/* Matrices in blocks with scales: most words with formats for cbsz and blgp, no abid, and even registers. */
static void random_blocks(random_t *r, uint32_t w[3]) {
  enum { FORMATS = 5, COUNT = 256, FACTOR = 8 };
  if (random_one_in(r, 4))
    return;
  w[0] = (w[0] & ~0x7f01u) | random_below(r, FORMATS) << 8;
  w[1] = (w[1] & ~0xe003ffffu) | random_below(r, FORMATS) << 29;
  for (unsigned i = 0; i < 2; i++)
    w[1] |= (COUNT + 2 * random_below(r, (COUNT - FACTOR) / 2 + 1)) << (9 * i);
  w[1] &= ~(w[1] >> 26 & 1 ? 1u << 18 : 0);
}

/* VOP3 and VOP3P share their layout. Operands that must be scalar are tried as such more often. */
static void random_vop3(random_t *r, const gs_opcode_t *op, uint32_t w[3], uint32_t base, uint32_t opcode) {
  w[0] = base | opcode << 16 | vector_register(r);
  if (op->encoding == GS_ENC_VOPC || (op->flags & GS_OPF_SCALAR_DST))
    w[0] = base | opcode << 16 | (random_one_in(r, 16) ? random_below(r, 256) : scalar_register(r));
  if (op->dst == GS_T_NONE)
    w[0] = base | opcode << 16;
  for (unsigned i = 0; i < used_sources(op); i++) {
    const bool scalar = op->src[i] == GS_T_MASK || op->src[i] == GS_T_LANE;
    const uint32_t code = scalar && !random_one_in(r, 4) ? scalar_operand(r) : vector_operand(r);
    if (i < 2)
      w[i / 2 + 1] |= code << (9 * i);
    else
      w[1] |= code << 18;
  }
  if (op->flags & GS_OPF_SDST)
    w[0] |= scalar_register(r) << 8 | (uint32_t)random_one_in(r, 4) << 15;
  else if (op->encoding == GS_ENC_VOP3P || (op->flags & GS_OPF_OP_SEL))
    w[0] |= rare_bits(r, 3) << 8 | random_below(r, 16) << 11 | (uint32_t)random_one_in(r, 4) << 15;
  else
    w[0] |= rare_bits(r, 3) << 8 | (uint32_t)random_one_in(r, 4) << 15;
  w[1] |= rare_bits(r, 2) << 27 | rare_bits(r, 3) << 29;
  if (op->encoding == GS_ENC_VOP3P && random_one_in(r, 2)) { /* as most have them */
    w[0] = (w[0] & ~0x7f00u) | 0x4000;
    w[1] = (w[1] & ~0xf8000000u) | 0x18000000;
  }
  if (op->flags & GS_OPF_MFMA && op->src[0] == GS_T_B256 && op->src[1] == GS_T_B256)
    random_blocks(r, w);
}

/* VOP1 and VOP2 have literals behind 8 bytes on later families, and DPP8. */
static void random_vop(random_t *r, const gs_opcode_t *op, bool gfx9, uint32_t w[3]) {
  const uint32_t n = op->number;
  uint32_t vop3 = n;
  w[0] = vector_operand(r);
  w[1] = number(r);
  if (op->encoding == GS_ENC_VOP1) {
    w[0] |= 0x7e000000u | n << 9;
    vop3 += gfx9 ? 320 : 384;
    if (op->dst != GS_T_NONE)
      w[0] |= ((op->flags & GS_OPF_SCALAR_DST) ? scalar_register(r) : vector_register(r)) << 17;
  } else if (op->encoding == GS_ENC_VOP2) {
    w[0] |= n << 25 | vector_register(r) << 17 | vector_register(r) << 9;
    vop3 += 256;
  } else {
    w[0] |= 0x7c000000u | n << 17 | vector_register(r) << 9;
  }
  switch (random_below(r, 4)) {
  case 0: random_sdwa(r, op, w); break;
  case 1:
    random_dpp(r, w);
    if (!gfx9 && random_one_in(r, 2)) {
      w[0] = (w[0] & ~0x1ffu) | (233 + random_below(r, 2));
      w[1] = vector_register(r) | random_bits(r) << 8;
    } else if (!gfx9 && random_one_in(r, 2)) {
      w[1] = (w[1] & ~0x1ff00u) | (0x150 + random_below(r, 32)) << 8 | random_below(r, 2) << 18;
    }
    break;
  case 2:
    if (op->flags & GS_OPF_NO_VOP3)
      break;
    memset(w, 0, 3 * sizeof *w);
    random_vop3(r, op, w, gfx9 ? 0xd0000000u : 0xd4000000u, vop3);
    w[2] = number(r);
    break;
  default: break;
  }
}

static void random_sop(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  const uint32_t n = op->number, sdst = op->dst == GS_T_NONE ? 0 : scalar_register(r) << 16;
  w[1] = number(r);
  switch (op->encoding) {
  case GS_ENC_SOP1:
    w[0] = 0xbe800000u | n << 8 | sdst | (op->src[0] == GS_T_NONE ? 0 : scalar_operand(r));
    break;
  case GS_ENC_SOP2: w[0] = 0x80000000u | n << 23 | sdst | scalar_operand(r) << 8 | scalar_operand(r); break;
  case GS_ENC_SOPC: w[0] = 0xbf000000u | n << 16 | scalar_operand(r) << 8 | scalar_operand(r); break;
  case GS_ENC_SOPK:
    w[0] = 0xb0000000u | n << 23 | (op->src[0] == GS_T_K32 ? 0 : scalar_register(r) << 16) |
           random_below(r, 0x10000);
    break;
  default:
    w[0] = 0xbf800000u | n << 16;
    if (op->src[0] != GS_T_NONE)
      w[0] |= random_one_in(r, 2) ? random_below(r, 256) : random_below(r, 0x10000);
    break;
  }
}

static void random_smem(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  w[0] = 0xc0000000u | (uint32_t)op->number << 18 | scalar_register(r) << 6 | scalar_register(r) >> 1 |
         random_below(r, 16) << 14;
  w[1] = random_one_in(r, 2) ? random_bits(r) : scalar_register(r) | scalar_register(r) << 25;
}

static void random_ds(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  w[0] = 0xd8000000u | (uint32_t)op->number << 17 |
         (random_one_in(r, 4) ? random_below(r, 4) * 0x4000 : random_below(r, 0x10000)) |
         (uint32_t)((op->flags & GS_OPF_GDS) || random_one_in(r, 8)) << 16 |
         (uint32_t)random_one_in(r, 4) << 25;
  for (unsigned i = 0; i < 3; i++)
    if (op->src[i] != GS_T_NONE)
      w[1] |= vector_register(r) << (8 * i);
  if (op->dst != GS_T_NONE)
    w[1] |= vector_register(r) << 24;
}

static void random_flat(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  const uint32_t segment = op->encoding == GS_ENC_FLAT ? 0 : op->encoding == GS_ENC_SCRATCH ? 1 : 2;
  w[0] = 0xdc000000u | (uint32_t)op->number << 18 | segment << 14 | random_below(r, 0x2000) |
         (uint32_t)random_one_in(r, 8) << 13 | random_below(r, 4) << 16 | (uint32_t)random_one_in(r, 4) << 25;
  w[1] = vector_register(r) | vector_register(r) << 8 | vector_register(r) << 24 |
         (uint32_t)random_one_in(r, 4) << 23;
  if (segment)
    w[1] |= (random_one_in(r, 2) ? 0x7f : scalar_register(r)) << 16;
}

static void random_buffer(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  w[0] = (uint32_t)(op->encoding == GS_ENC_MUBUF
                        ? 0xe0000000u | (uint32_t)op->number << 18
                        : 0xe8000000u | (uint32_t)op->number << 15 | random_below(r, 128) << 19);
  if (op->src[1] == GS_T_NONE) {
    w[0] |= rare_bits(r, 18);
    w[1] = random_one_in(r, 2) ? random_bits(r) : 0;
    return;
  }
  w[0] |= random_below(r, 0x4000) | (uint32_t)random_one_in(r, 3) << 14;
  if (op->encoding == GS_ENC_MUBUF)
    w[0] |= (uint32_t)random_one_in(r, 4) << 15 |
            (uint32_t)(op->dst == GS_T_NONE || random_one_in(r, 4)) << 16 |
            (uint32_t)random_one_in(r, 4) << 17;
  w[1] = vector_register(r) | vector_register(r) << 8 | random_below(r, 32) << 16 | rare_bits(r, 3) << 21 |
         scalar_operand(r) << 24;
}

/* The memory instructions of later families. */
static void random_smem_gfx10(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  w[0] = 0xf4000000u | (uint32_t)op->number << 18 | scalar_register(r) << 6 | scalar_register(r) >> 1 |
         (uint32_t)random_one_in(r, 4) << 16 | (uint32_t)random_one_in(r, 4) << 14;
  w[1] = (random_one_in(r, 2) ? random_below(r, 1u << 21) : 0) |
         (random_one_in(r, 2) ? 125 : scalar_register(r)) << 25;
}
static void random_ds_gfx10(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  random_ds(r, op, w);
  w[0] = 0xd8000000u | (uint32_t)op->number << 18 | (w[0] & 0xffff) |
         (uint32_t)((op->flags & GS_OPF_GDS) || random_one_in(r, 8)) << 17;
}
static void random_flat_gfx10(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  const uint32_t segment = op->encoding == GS_ENC_FLAT ? 0 : op->encoding == GS_ENC_SCRATCH ? 1 : 2;
  w[0] = 0xdc000000u | (uint32_t)op->number << 18 | segment << 14 | random_below(r, 0x1000) |
         (uint32_t)random_one_in(r, 4) << 12 | random_below(r, 4) << 16;
  w[1] = vector_register(r) | vector_register(r) << 8 | vector_register(r) << 24;
  w[1] |= (segment == 0 || random_one_in(r, 2) ? 125 : random_one_in(r, 4) ? 0x7f : scalar_register(r)) << 16;
}
static void random_buffer_gfx10(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  const uint32_t n = op->number;
  w[0] = (uint32_t)(op->encoding == GS_ENC_MUBUF ? 0xe0000000u | (n & 127) << 18 | n >> 7 << 25
                                                 : 0xe8000000u | (n & 7) << 16 | random_below(r, 128) << 19);
  if (op->src[1] == GS_T_NONE)
    return;
  w[0] |= random_below(r, 0x4000) | (uint32_t)random_one_in(r, 3) << 14 | (uint32_t)random_one_in(r, 4) << 15;
  w[1] = vector_register(r) | vector_register(r) << 8 | random_below(r, 32) << 16 |
         (uint32_t)random_one_in(r, 4) << 22 | scalar_operand(r) << 24;
  if (op->encoding == GS_ENC_MTBUF)
    w[1] |= n >> 3 << 21;
}

static void random_any_gfx10(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  switch (op->encoding) {
  case GS_ENC_SMEM: random_smem_gfx10(r, op, w); break;
  case GS_ENC_VOP1:
  case GS_ENC_VOP2:
  case GS_ENC_VOPC: random_vop(r, op, false, w); break;
  case GS_ENC_VOP3: random_vop3(r, op, w, 0xd4000000u, op->number); break;
  case GS_ENC_VOP3P: random_vop3(r, op, w, 0xcc000000u, op->number); break;
  case GS_ENC_DS: random_ds_gfx10(r, op, w); break;
  case GS_ENC_FLAT:
  case GS_ENC_GLOBAL:
  case GS_ENC_SCRATCH: random_flat_gfx10(r, op, w); break;
  case GS_ENC_MUBUF:
  case GS_ENC_MTBUF: random_buffer_gfx10(r, op, w); break;
  default: random_sop(r, op, w); break;
  }
  if (op->encoding == GS_ENC_VOP3 || op->encoding == GS_ENC_VOP3P)
    w[2] = number(r);
}

/* gfx11 has other places for most bits, DPP in VOP3, and pairs. */
static void random_smem_gfx11(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  w[0] = 0xf4000000u | (uint32_t)op->number << 18 | scalar_register(r) << 6 | scalar_register(r) >> 1 |
         (uint32_t)random_one_in(r, 4) << 14 | (uint32_t)random_one_in(r, 4) << 13;
  w[1] = (random_one_in(r, 2) ? random_below(r, 1u << 21) : 0) |
         (random_one_in(r, 2) ? 124 : scalar_register(r)) << 25;
}
static void random_flat_gfx11(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  const uint32_t segment = op->encoding == GS_ENC_FLAT ? 0 : op->encoding == GS_ENC_SCRATCH ? 1 : 2;
  w[0] = 0xdc000000u | (uint32_t)op->number << 18 | segment << 16 | random_below(r, 0x2000) |
         (uint32_t)random_one_in(r, 4) << 13 | random_below(r, 4) << 14;
  w[1] = vector_register(r) | vector_register(r) << 8 | vector_register(r) << 24;
  w[1] |= (segment == 0 || random_one_in(r, 2) ? 124 : scalar_register(r)) << 16 |
          (segment == 1 ? random_below(r, 2) << 23 : 0);
}
static void random_buffer_gfx11(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  const uint32_t n = op->number;
  w[0] = (uint32_t)(op->encoding == GS_ENC_MUBUF ? 0xe0000000u | n << 18
                                                 : 0xe8000000u | n << 15 | random_below(r, 128) << 19);
  if (op->src[1] == GS_T_NONE)
    return;
  w[0] |= random_below(r, 0x1000) | rare_bits(r, 3) << 12;
  w[1] = vector_register(r) | vector_register(r) << 8 | random_below(r, 32) << 16 |
         (uint32_t)random_one_in(r, 4) << 21 | random_below(r, 4) << 22 | scalar_operand(r) << 24;
}
static void random_vopd(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  const bool second = op->number > 15;
  const uint32_t x = second ? random_below(r, 13) : op->number, y = second ? op->number : random_below(r, 19);
  enum { MOV = 8 };
  w[0] = 0xc8000000u | x << 22 | y << 17 | (x == MOV ? 0 : vector_register(r)) << 9 | vector_operand(r);
  w[1] = vector_register(r) << 24 | vector_register(r) >> 1 << 17 | (y == MOV ? 0 : vector_register(r)) << 9 |
         vector_operand(r);
  w[2] = number(r);
}
/* Fields that matrices have no use for are as the assembler has them. */
static void random_wmma(random_t *r, uint32_t w[3]) {
  const uint32_t dst = random_below(r, 248);
  w[0] = (w[0] & ~0xffu & ~(random_one_in(r, 8) ? 0 : 0x3800u)) | 0x4000u | dst;
  w[1] |= 3u << 27 | 1u << 17 | 1u << 8;
  w[1] = (w[1] & ~(0x1ffu << 18)) | (random_one_in(r, 2) ? 256 + dst : 128 + random_below(r, 128)) << 18;
}
/* Now and then with a DPP dword behind. */
static void random_vop3_dpp(random_t *r, uint32_t w[3]) {
  if (!random_one_in(r, 3))
    return;
  w[1] = (w[1] & ~0x3ffffu) | vector_operand(r) << 9;
  if (random_one_in(r, 2)) {
    w[1] |= 233 + random_below(r, 2);
    w[2] = vector_register(r) | random_bits(r) << 8;
  } else {
    w[1] |= 250;
    w[2] = vector_register(r) | random_below(r, random_one_in(r, 4) ? 0x170 : 0x100) << 8 |
           rare_bits(r, 2) << 18 | random_bits(r) << 24;
  }
}

/* Sources are vector registers; the second one may be scalar. */
static void random_vinterp(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  w[0] = 0xcd000000u | (uint32_t)op->number << 16 | random_below(r, 8) << 8 | vector_register(r) |
         (uint32_t)random_one_in(r, 4) << 15;
  if (op->flags & GS_OPF_OP_SEL)
    w[0] |= random_below(r, 16) << 11;
  w[1] = (256 + vector_register(r)) | (256 + vector_register(r)) << 18 | rare_bits(r, 3) << 29 |
         (random_one_in(r, 4) ? vector_operand(r) : 256 + vector_register(r)) << 9;
}

static void random_any_gfx11(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  switch (op->encoding) {
  case GS_ENC_SMEM: random_smem_gfx11(r, op, w); break;
  case GS_ENC_VOP1:
  case GS_ENC_VOP2:
  case GS_ENC_VOPC: random_vop(r, op, false, w); break;
  case GS_ENC_VOP3: random_vop3(r, op, w, 0xd4000000u, op->number); break;
  case GS_ENC_VOP3P: random_vop3(r, op, w, 0xcc000000u, op->number); break;
  case GS_ENC_VINTERP: random_vinterp(r, op, w); break;
  case GS_ENC_VOPD: random_vopd(r, op, w); return;
  case GS_ENC_DS: random_ds_gfx10(r, op, w); break;
  case GS_ENC_FLAT:
  case GS_ENC_GLOBAL:
  case GS_ENC_SCRATCH: random_flat_gfx11(r, op, w); break;
  case GS_ENC_MUBUF:
  case GS_ENC_MTBUF: random_buffer_gfx11(r, op, w); break;
  default: random_sop(r, op, w); break;
  }
  if (op->encoding == GS_ENC_VOP3 || op->encoding == GS_ENC_VOP3P)
    w[2] = number(r);
  if (op->flags & GS_OPF_WMMA)
    random_wmma(r, w);
  else if (w[0] >> 26 == 0x35 || w[0] >> 24 == 0xcc)
    random_vop3_dpp(r, w);
}

static void random_any_gfx9(random_t *r, const gs_opcode_t *op, uint32_t w[3]) {
  switch (op->encoding) {
  case GS_ENC_SOP1:
  case GS_ENC_SOP2:
  case GS_ENC_SOPK:
  case GS_ENC_SOPC:
  case GS_ENC_SOPP: random_sop(r, op, w); break;
  case GS_ENC_SMEM: random_smem(r, op, w); break;
  case GS_ENC_VOP1:
  case GS_ENC_VOP2:
  case GS_ENC_VOPC: random_vop(r, op, true, w); break;
  case GS_ENC_VOP3: random_vop3(r, op, w, 0xd0000000u, op->number); break;
  case GS_ENC_VOP3P: random_vop3(r, op, w, 0xd3800000u, op->number); break;
  case GS_ENC_DS: random_ds(r, op, w); break;
  case GS_ENC_FLAT:
  case GS_ENC_GLOBAL:
  case GS_ENC_SCRATCH: random_flat(r, op, w); break;
  default: random_buffer(r, op, w); break;
  }
}

void random_encoding(random_t *r, gs_target_t target, const gs_opcode_t *op, uint32_t w[3]) {
  memset(w, 0, 3 * sizeof *w);
  if (target & GS_GFX9)
    random_any_gfx9(r, op, w);
  else if (target & GS_GFX10)
    random_any_gfx10(r, op, w);
  else
    random_any_gfx11(r, op, w);
  if (random_one_in(r, 8)) {
    const uint32_t position = random_below(r, 64);
    w[position / 32] ^= 1u << (position % 32);
  }
}
