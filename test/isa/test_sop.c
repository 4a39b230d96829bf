/* Scalar ALU instructions (SOP1, SOP2, SOPC, SOPK) against arithmetic done bit by bit or in wider integers.
 * Not here: branches, messages, hardware registers (test_sop_control.c). */
#include "harness.h"

#include <stdio.h>
#include <string.h>

__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;

/* What an instruction does, without registers: `a` and `b` are zero-extended, `d` is the old destination. */
typedef struct sop_in {
  uint64_t a, b, d;
  uint64_t exec;
  unsigned scc;
} sop_in_t;
typedef struct sop_out {
  uint64_t d;
  uint64_t exec;
  unsigned scc;
} sop_out_t;
typedef struct sop_row sop_row_t;
typedef sop_out_t sop_model_t(const sop_row_t *row, sop_in_t in);

/* How SCC is set. */
enum { KEEP, NONZERO, SPECIAL };

struct sop_row {
  const char *name;
  unsigned d_bits, a_bits, b_bits; /* 0: no such operand */
  unsigned scc;
  sop_model_t *model;
  unsigned parameter;
};

static unsigned bit(uint64_t value, unsigned i) {
  return (unsigned)(value >> i & 1);
}
static uint64_t cut(uint64_t value, unsigned bits) {
  return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}
/* The signed value of the low `bits` bits. */
static int128 as_signed(uint64_t value, unsigned bits) {
  const int128 v = (int128)cut(value, bits);
  return bit(value, bits - 1) ? v - ((int128)1 << bits) : v;
}
static uint64_t modulo(int128 value, unsigned bits) {
  const int128 m = (int128)1 << bits;
  return (uint64_t)(((value % m) + m) % m);
}
static sop_out_t out(sop_in_t in, uint64_t d, unsigned scc) {
  return (sop_out_t){d, in.exec, scc};
}

/* ---- Models: two sources ---- */

/* Bit i of the parameter is the result for bits a = i >> 1 and b = i & 1. */
static uint64_t truth(unsigned table, uint64_t a, uint64_t b, unsigned bits) {
  uint64_t d = 0;
  for (unsigned i = 0; i < bits; i++)
    d |= (uint64_t)(table >> (bit(a, i) * 2 + bit(b, i)) & 1) << i;
  return d;
}
static sop_out_t m_logic(const sop_row_t *row, sop_in_t in) {
  return out(in, truth(row->parameter, in.a, in.b, row->d_bits), 0);
}
static sop_out_t m_addu(const sop_row_t *row, sop_in_t in) {
  const uint128 sum = (uint128)in.a + in.b + (row->parameter ? in.scc : 0);
  return out(in, modulo((int128)sum, 32), sum > UINT32_MAX);
}
static sop_out_t m_subu(const sop_row_t *row, sop_in_t in) {
  const int128 difference = (int128)in.a - (int128)in.b - (row->parameter ? in.scc : 0);
  return out(in, modulo(difference, 32), difference < 0);
}
/* The parameter is the sign of b. */
static sop_out_t m_addi(const sop_row_t *row, sop_in_t in) {
  const int128 b = as_signed(in.b, 32), sum = as_signed(in.a, 32) + (row->parameter ? -b : b);
  return out(in, modulo(sum, 32), sum > INT32_MAX || sum < INT32_MIN);
}
enum { MIN_I, MIN_U, MAX_I, MAX_U };
static sop_out_t m_minmax(const sop_row_t *row, sop_in_t in) {
  const bool is_signed = row->parameter == MIN_I || row->parameter == MAX_I;
  const int128 a = is_signed ? as_signed(in.a, 32) : (int128)in.a,
               b = is_signed ? as_signed(in.b, 32) : (int128)in.b;
  const bool first = row->parameter == MIN_I || row->parameter == MIN_U ? a < b : a >= b;
  return out(in, first ? in.a : in.b, first);
}
static sop_out_t m_cselect(const sop_row_t *row, sop_in_t in) {
  (void)row;
  return out(in, in.scc ? in.a : in.b, 0);
}
enum { LEFT, RIGHT, ARITHMETIC };
static sop_out_t m_shift(const sop_row_t *row, sop_in_t in) {
  const unsigned n = (unsigned)(in.b % row->d_bits);
  uint64_t d = 0;
  for (unsigned i = 0; i < row->d_bits; i++) {
    const int from = row->parameter == LEFT ? (int)i - (int)n : (int)(i + n);
    unsigned value = 0;
    if (from >= 0 && from < (int)row->d_bits)
      value = bit(in.a, (unsigned)from);
    else if (row->parameter == ARITHMETIC)
      value = bit(in.a, row->d_bits - 1);
    d |= (uint64_t)value << i;
  }
  return out(in, d, 0);
}
static sop_out_t m_bfm(const sop_row_t *row, sop_in_t in) {
  const unsigned width = (unsigned)(in.a % row->d_bits), at = (unsigned)(in.b % row->d_bits);
  uint64_t d = 0;
  for (unsigned i = at; i < at + width && i < row->d_bits; i++)
    d |= UINT64_C(1) << i;
  return out(in, d, 0);
}
static sop_out_t m_bfe(const sop_row_t *row, sop_in_t in) {
  const unsigned at = (unsigned)(in.b % row->d_bits), width = (unsigned)(in.b >> 16 & 0x7f);
  const bool is_signed = row->parameter;
  uint64_t d = 0;
  for (unsigned i = 0; i < row->d_bits; i++) {
    unsigned from = at + (i < width ? i : width - 1); /* above the field: its last bit */
    if (from >= row->d_bits)
      from = row->d_bits - 1;
    const bool inside = i < width && at + i < row->d_bits;
    if (inside || (is_signed && width))
      d |= (uint64_t)bit(in.a, from) << i;
  }
  return out(in, d, 0);
}
enum { LOW, HIGH_U, HIGH_I };
static sop_out_t m_mul(const sop_row_t *row, sop_in_t in) {
  if (row->parameter == HIGH_U)
    return out(in, (uint64_t)(((uint128)in.a * in.b) >> 32), 0);
  const int128 product = as_signed(in.a, 32) * as_signed(in.b, 32);
  if (row->parameter == LOW)
    return out(in, modulo(product, 32), 0);
  const int128 unit = (int128)1 << 32;
  return out(in, modulo(product >= 0 ? product / unit : -((-product + unit - 1) / unit), 32), 0);
}
static sop_out_t m_absdiff(const sop_row_t *row, sop_in_t in) {
  (void)row;
  int128 d = as_signed(modulo(as_signed(in.a, 32) - as_signed(in.b, 32), 32), 32);
  if (d < 0)
    d = -d;
  return out(in, modulo(d, 32), 0);
}
static sop_out_t m_lshl_add(const sop_row_t *row, sop_in_t in) {
  const uint128 sum = (uint128)in.a * (1u << row->parameter) + in.b;
  return out(in, modulo((int128)sum, 32), sum > UINT32_MAX);
}
/* The parameter says which halves: a's in bit 0, b's in bit 1. */
static sop_out_t m_pack(const sop_row_t *row, sop_in_t in) {
  const uint64_t low = row->parameter & 1 ? in.a / 65536 : in.a % 65536;
  const uint64_t high = row->parameter & 2 ? in.b / 65536 : in.b % 65536;
  return out(in, high * 65536 + low, 0);
}

static const sop_row_t sop2_rows[] = {
    {"s_add_u32", 32, 32, 32, SPECIAL, m_addu, 0},
    {"s_sub_u32", 32, 32, 32, SPECIAL, m_subu, 0},
    {"s_add_i32", 32, 32, 32, SPECIAL, m_addi, 0},
    {"s_sub_i32", 32, 32, 32, SPECIAL, m_addi, 1},
    {"s_addc_u32", 32, 32, 32, SPECIAL, m_addu, 1},
    {"s_subb_u32", 32, 32, 32, SPECIAL, m_subu, 1},
    {"s_min_i32", 32, 32, 32, SPECIAL, m_minmax, MIN_I},
    {"s_min_u32", 32, 32, 32, SPECIAL, m_minmax, MIN_U},
    {"s_max_i32", 32, 32, 32, SPECIAL, m_minmax, MAX_I},
    {"s_max_u32", 32, 32, 32, SPECIAL, m_minmax, MAX_U},
    {"s_cselect_b32", 32, 32, 32, KEEP, m_cselect, 0},
    {"s_cselect_b64", 64, 64, 64, KEEP, m_cselect, 0},
    {"s_and_b32", 32, 32, 32, NONZERO, m_logic, 0x8},
    {"s_and_b64", 64, 64, 64, NONZERO, m_logic, 0x8},
    {"s_or_b32", 32, 32, 32, NONZERO, m_logic, 0xe},
    {"s_or_b64", 64, 64, 64, NONZERO, m_logic, 0xe},
    {"s_xor_b32", 32, 32, 32, NONZERO, m_logic, 0x6},
    {"s_xor_b64", 64, 64, 64, NONZERO, m_logic, 0x6},
    {"s_andn2_b32", 32, 32, 32, NONZERO, m_logic, 0x4},
    {"s_andn2_b64", 64, 64, 64, NONZERO, m_logic, 0x4},
    {"s_orn2_b32", 32, 32, 32, NONZERO, m_logic, 0xd},
    {"s_orn2_b64", 64, 64, 64, NONZERO, m_logic, 0xd},
    {"s_nand_b32", 32, 32, 32, NONZERO, m_logic, 0x7},
    {"s_nand_b64", 64, 64, 64, NONZERO, m_logic, 0x7},
    {"s_nor_b32", 32, 32, 32, NONZERO, m_logic, 0x1},
    {"s_nor_b64", 64, 64, 64, NONZERO, m_logic, 0x1},
    {"s_xnor_b32", 32, 32, 32, NONZERO, m_logic, 0x9},
    {"s_xnor_b64", 64, 64, 64, NONZERO, m_logic, 0x9},
    {"s_lshl_b32", 32, 32, 32, NONZERO, m_shift, LEFT},
    {"s_lshl_b64", 64, 64, 32, NONZERO, m_shift, LEFT},
    {"s_lshr_b32", 32, 32, 32, NONZERO, m_shift, RIGHT},
    {"s_lshr_b64", 64, 64, 32, NONZERO, m_shift, RIGHT},
    {"s_ashr_i32", 32, 32, 32, NONZERO, m_shift, ARITHMETIC},
    {"s_ashr_i64", 64, 64, 32, NONZERO, m_shift, ARITHMETIC},
    {"s_bfm_b32", 32, 32, 32, KEEP, m_bfm, 0},
    {"s_bfm_b64", 64, 32, 32, KEEP, m_bfm, 0},
    {"s_mul_i32", 32, 32, 32, KEEP, m_mul, LOW},
    {"s_bfe_u32", 32, 32, 32, NONZERO, m_bfe, 0},
    {"s_bfe_i32", 32, 32, 32, NONZERO, m_bfe, 1},
    {"s_bfe_u64", 64, 64, 32, NONZERO, m_bfe, 0},
    {"s_bfe_i64", 64, 64, 32, NONZERO, m_bfe, 1},
    {"s_absdiff_i32", 32, 32, 32, NONZERO, m_absdiff, 0},
    {"s_mul_hi_u32", 32, 32, 32, KEEP, m_mul, HIGH_U},
    {"s_mul_hi_i32", 32, 32, 32, KEEP, m_mul, HIGH_I},
    {"s_lshl1_add_u32", 32, 32, 32, SPECIAL, m_lshl_add, 1},
    {"s_lshl2_add_u32", 32, 32, 32, SPECIAL, m_lshl_add, 2},
    {"s_lshl3_add_u32", 32, 32, 32, SPECIAL, m_lshl_add, 3},
    {"s_lshl4_add_u32", 32, 32, 32, SPECIAL, m_lshl_add, 4},
    {"s_pack_ll_b32_b16", 32, 32, 32, KEEP, m_pack, 0},
    {"s_pack_lh_b32_b16", 32, 32, 32, KEEP, m_pack, 2},
    {"s_pack_hh_b32_b16", 32, 32, 32, KEEP, m_pack, 3},
};

/* ---- Models: one source ---- */

static sop_out_t m_mov(const sop_row_t *row, sop_in_t in) {
  (void)row;
  return out(in, in.a, 0);
}
static sop_out_t m_cmov(const sop_row_t *row, sop_in_t in) {
  (void)row;
  return out(in, in.scc ? in.a : in.d, 0);
}
static sop_out_t m_not(const sop_row_t *row, sop_in_t in) {
  return out(in, truth(0x3, in.a, 0, row->d_bits) & truth(0x1, in.a, 0, row->d_bits), 0);
}
static sop_out_t m_brev(const sop_row_t *row, sop_in_t in) {
  uint64_t d = 0;
  for (unsigned i = 0; i < row->d_bits; i++)
    d = d * 2 + bit(in.a, i);
  return out(in, d, 0);
}
/* The parameter is the value of the bits that count. */
static sop_out_t m_bcnt(const sop_row_t *row, sop_in_t in) {
  uint64_t d = 0;
  for (unsigned i = 0; i < row->a_bits; i++)
    d += bit(in.a, i) == row->parameter;
  return out(in, d, 0);
}
static sop_out_t m_ff(const sop_row_t *row, sop_in_t in) {
  for (unsigned i = 0; i < row->a_bits; i++)
    if (bit(in.a, i) == row->parameter)
      return out(in, i, 0);
  return out(in, UINT32_MAX, 0);
}
/* The parameter: 0 looks for a one, 1 for a bit that differs from the sign. */
static sop_out_t m_flbit(const sop_row_t *row, sop_in_t in) {
  const unsigned top = row->a_bits - 1, wanted = row->parameter ? !bit(in.a, top) : 1;
  for (unsigned i = 0; i <= top; i++)
    if (bit(in.a, top - i) == wanted)
      return out(in, i, 0);
  return out(in, UINT32_MAX, 0);
}
static sop_out_t m_sext(const sop_row_t *row, sop_in_t in) {
  return out(in, modulo(as_signed(in.a, row->parameter), 32), 0);
}
static sop_out_t m_bitset(const sop_row_t *row, sop_in_t in) {
  uint64_t d = 0;
  for (unsigned i = 0; i < row->d_bits; i++)
    d |= (uint64_t)(i == in.a % row->d_bits ? row->parameter : bit(in.d, i)) << i;
  return out(in, d, 0);
}
static sop_out_t m_wqm(const sop_row_t *row, sop_in_t in) {
  uint64_t d = 0;
  for (unsigned i = 0; i < row->d_bits; i++)
    for (unsigned k = 0; k < 4; k++)
      d |= (uint64_t)bit(in.a, i / 4 * 4 + k) << i;
  return out(in, d, 0);
}
static sop_out_t m_quadmask(const sop_row_t *row, sop_in_t in) {
  uint64_t d = 0;
  for (unsigned i = 0; i < row->d_bits; i++)
    d |= (uint64_t)bit(in.a, i) << i / 4;
  return out(in, d, 0);
}
static sop_out_t m_bitreplicate(const sop_row_t *row, sop_in_t in) {
  (void)row;
  uint64_t d = 0;
  for (unsigned i = 0; i < 64; i++)
    d |= (uint64_t)bit(in.a, i / 2) << i;
  return out(in, d, 0);
}
static sop_out_t m_abs(const sop_row_t *row, sop_in_t in) {
  (void)row;
  const int128 a = as_signed(in.a, 32);
  return out(in, modulo(a < 0 ? -a : a, 32), 0);
}
/* Truth tables of (s0, exec). */
static sop_out_t m_saveexec(const sop_row_t *row, sop_in_t in) {
  const uint64_t exec = truth(row->parameter, in.a, in.exec, 64);
  return (sop_out_t){in.exec, exec, exec != 0};
}
static sop_out_t m_wrexec(const sop_row_t *row, sop_in_t in) {
  const uint64_t exec = truth(row->parameter, in.a, in.exec, 64);
  return (sop_out_t){exec, exec, exec != 0};
}

static const sop_row_t sop1_rows[] = {
    {"s_mov_b32", 32, 32, 0, KEEP, m_mov, 0},
    {"s_mov_b64", 64, 64, 0, KEEP, m_mov, 0},
    {"s_cmov_b32", 32, 32, 0, KEEP, m_cmov, 0},
    {"s_cmov_b64", 64, 64, 0, KEEP, m_cmov, 0},
    {"s_not_b32", 32, 32, 0, NONZERO, m_not, 0},
    {"s_not_b64", 64, 64, 0, NONZERO, m_not, 0},
    {"s_wqm_b32", 32, 32, 0, NONZERO, m_wqm, 0},
    {"s_wqm_b64", 64, 64, 0, NONZERO, m_wqm, 0},
    {"s_brev_b32", 32, 32, 0, KEEP, m_brev, 0},
    {"s_brev_b64", 64, 64, 0, KEEP, m_brev, 0},
    {"s_bcnt0_i32_b32", 32, 32, 0, NONZERO, m_bcnt, 0},
    {"s_bcnt0_i32_b64", 32, 64, 0, NONZERO, m_bcnt, 0},
    {"s_bcnt1_i32_b32", 32, 32, 0, NONZERO, m_bcnt, 1},
    {"s_bcnt1_i32_b64", 32, 64, 0, NONZERO, m_bcnt, 1},
    {"s_ff0_i32_b32", 32, 32, 0, KEEP, m_ff, 0},
    {"s_ff0_i32_b64", 32, 64, 0, KEEP, m_ff, 0},
    {"s_ff1_i32_b32", 32, 32, 0, KEEP, m_ff, 1},
    {"s_ff1_i32_b64", 32, 64, 0, KEEP, m_ff, 1},
    {"s_flbit_i32_b32", 32, 32, 0, KEEP, m_flbit, 0},
    {"s_flbit_i32_b64", 32, 64, 0, KEEP, m_flbit, 0},
    {"s_flbit_i32", 32, 32, 0, KEEP, m_flbit, 1},
    {"s_flbit_i32_i64", 32, 64, 0, KEEP, m_flbit, 1},
    {"s_sext_i32_i8", 32, 32, 0, KEEP, m_sext, 8},
    {"s_sext_i32_i16", 32, 32, 0, KEEP, m_sext, 16},
    {"s_bitset0_b32", 32, 32, 0, KEEP, m_bitset, 0},
    {"s_bitset0_b64", 64, 32, 0, KEEP, m_bitset, 0},
    {"s_bitset1_b32", 32, 32, 0, KEEP, m_bitset, 1},
    {"s_bitset1_b64", 64, 32, 0, KEEP, m_bitset, 1},
    {"s_quadmask_b32", 32, 32, 0, NONZERO, m_quadmask, 0},
    {"s_quadmask_b64", 64, 64, 0, NONZERO, m_quadmask, 0},
    {"s_abs_i32", 32, 32, 0, NONZERO, m_abs, 0},
    {"s_bitreplicate_b64_b32", 64, 32, 0, KEEP, m_bitreplicate, 0},
    {"s_and_saveexec_b64", 64, 64, 0, SPECIAL, m_saveexec, 0x8},
    {"s_or_saveexec_b64", 64, 64, 0, SPECIAL, m_saveexec, 0xe},
    {"s_xor_saveexec_b64", 64, 64, 0, SPECIAL, m_saveexec, 0x6},
    {"s_andn2_saveexec_b64", 64, 64, 0, SPECIAL, m_saveexec, 0x4},
    {"s_orn2_saveexec_b64", 64, 64, 0, SPECIAL, m_saveexec, 0xd},
    {"s_nand_saveexec_b64", 64, 64, 0, SPECIAL, m_saveexec, 0x7},
    {"s_nor_saveexec_b64", 64, 64, 0, SPECIAL, m_saveexec, 0x1},
    {"s_xnor_saveexec_b64", 64, 64, 0, SPECIAL, m_saveexec, 0x9},
    {"s_andn1_saveexec_b64", 64, 64, 0, SPECIAL, m_saveexec, 0x2},
    {"s_orn1_saveexec_b64", 64, 64, 0, SPECIAL, m_saveexec, 0xb},
    {"s_andn1_wrexec_b64", 64, 64, 0, SPECIAL, m_wrexec, 0x2},
    {"s_andn2_wrexec_b64", 64, 64, 0, SPECIAL, m_wrexec, 0x4},
};

/* ---- Models: comparisons ---- */

enum { EQ, LG, GT, GE, LT, LE, UNSIGNED = 8 };
static sop_out_t m_cmp(const sop_row_t *row, sop_in_t in) {
  const bool is_signed = !(row->parameter & UNSIGNED);
  const int128 a = is_signed ? as_signed(in.a, row->a_bits) : (int128)in.a;
  const int128 b = is_signed ? as_signed(in.b, row->b_bits) : (int128)in.b;
  const bool results[] = {
      [EQ] = a == b, [LG] = a != b, [GT] = a > b, [GE] = a >= b, [LT] = a < b, [LE] = a <= b};
  return out(in, in.d, results[row->parameter & ~(unsigned)UNSIGNED]);
}
static sop_out_t m_bitcmp(const sop_row_t *row, sop_in_t in) {
  return out(in, in.d, bit(in.a, (unsigned)(in.b % row->a_bits)) == row->parameter);
}

static const sop_row_t sopc_rows[] = {
    {"s_cmp_eq_i32", 0, 32, 32, SPECIAL, m_cmp, EQ},
    {"s_cmp_lg_i32", 0, 32, 32, SPECIAL, m_cmp, LG},
    {"s_cmp_gt_i32", 0, 32, 32, SPECIAL, m_cmp, GT},
    {"s_cmp_ge_i32", 0, 32, 32, SPECIAL, m_cmp, GE},
    {"s_cmp_lt_i32", 0, 32, 32, SPECIAL, m_cmp, LT},
    {"s_cmp_le_i32", 0, 32, 32, SPECIAL, m_cmp, LE},
    {"s_cmp_eq_u32", 0, 32, 32, SPECIAL, m_cmp, EQ | UNSIGNED},
    {"s_cmp_lg_u32", 0, 32, 32, SPECIAL, m_cmp, LG | UNSIGNED},
    {"s_cmp_gt_u32", 0, 32, 32, SPECIAL, m_cmp, GT | UNSIGNED},
    {"s_cmp_ge_u32", 0, 32, 32, SPECIAL, m_cmp, GE | UNSIGNED},
    {"s_cmp_lt_u32", 0, 32, 32, SPECIAL, m_cmp, LT | UNSIGNED},
    {"s_cmp_le_u32", 0, 32, 32, SPECIAL, m_cmp, LE | UNSIGNED},
    {"s_cmp_eq_u64", 0, 64, 64, SPECIAL, m_cmp, EQ | UNSIGNED},
    {"s_cmp_lg_u64", 0, 64, 64, SPECIAL, m_cmp, LG | UNSIGNED},
    {"s_bitcmp0_b32", 0, 32, 32, SPECIAL, m_bitcmp, 0},
    {"s_bitcmp1_b32", 0, 32, 32, SPECIAL, m_bitcmp, 1},
    {"s_bitcmp0_b64", 0, 64, 32, SPECIAL, m_bitcmp, 0},
    {"s_bitcmp1_b64", 0, 64, 32, SPECIAL, m_bitcmp, 1},
};

/* The second source is the immediate. s_addk and s_mulk take their destination as the first. */
static sop_out_t m_addk(const sop_row_t *row, sop_in_t in) {
  const int128 sum = as_signed(in.d, 32) + as_signed(in.b, 16);
  (void)row;
  return out(in, modulo(sum, 32), sum > INT32_MAX || sum < INT32_MIN);
}
static sop_out_t m_mulk(const sop_row_t *row, sop_in_t in) {
  (void)row;
  return out(in, modulo(as_signed(in.d, 32) * as_signed(in.b, 16), 32), 0);
}
static sop_out_t m_movk(const sop_row_t *row, sop_in_t in) {
  return out(in, row->parameter && !in.scc ? in.d : modulo(as_signed(in.b, 16), 32), 0);
}
static const sop_row_t sopk_rows[] = {
    {"s_movk_i32", 32, 0, 16, KEEP, m_movk, 0},
    {"s_cmovk_i32", 32, 0, 16, KEEP, m_movk, 1},
    {"s_addk_i32", 32, 0, 16, SPECIAL, m_addk, 0},
    {"s_mulk_i32", 32, 0, 16, KEEP, m_mulk, 0},
    {"s_cmpk_eq_i32", 0, 32, 16, SPECIAL, m_cmp, EQ},
    {"s_cmpk_lg_i32", 0, 32, 16, SPECIAL, m_cmp, LG},
    {"s_cmpk_gt_i32", 0, 32, 16, SPECIAL, m_cmp, GT},
    {"s_cmpk_ge_i32", 0, 32, 16, SPECIAL, m_cmp, GE},
    {"s_cmpk_lt_i32", 0, 32, 16, SPECIAL, m_cmp, LT},
    {"s_cmpk_le_i32", 0, 32, 16, SPECIAL, m_cmp, LE},
    {"s_cmpk_eq_u32", 0, 32, 16, SPECIAL, m_cmp, EQ | UNSIGNED},
    {"s_cmpk_lg_u32", 0, 32, 16, SPECIAL, m_cmp, LG | UNSIGNED},
    {"s_cmpk_gt_u32", 0, 32, 16, SPECIAL, m_cmp, GT | UNSIGNED},
    {"s_cmpk_ge_u32", 0, 32, 16, SPECIAL, m_cmp, GE | UNSIGNED},
    {"s_cmpk_lt_u32", 0, 32, 16, SPECIAL, m_cmp, LT | UNSIGNED},
    {"s_cmpk_le_u32", 0, 32, 16, SPECIAL, m_cmp, LE | UNSIGNED},
};

/* ---- Running a row ---- */

enum { COUNT_SOP1 = sizeof sop1_rows / sizeof *sop1_rows };

/* Registers of the operands in most tests. */
enum { D = 10, A = 20, B = 30 };

static const char *reg(char text[16], unsigned number, unsigned bits) {
  if (bits == 64)
    (void)snprintf(text, 16, "s[%u:%u]", number, number + 1);
  else
    (void)snprintf(text, 16, "s%u", number);
  return text;
}

static void write_reg(isa_wave_t *t, unsigned number, unsigned bits, uint64_t value) {
  if (bits == 64)
    isa_set_s64(t, number, value);
  else if (bits)
    t->w.s.u32[number] = (uint32_t)value;
}
static uint64_t read_reg(const isa_wave_t *t, unsigned number, unsigned bits) {
  return bits == 64 ? isa_s64(t, number) : bits ? t->w.s.u32[number] : 0;
}

/* Runs the loaded program again on other values and compares with the model. `d`, `a`, `b` are the registers
 * that the program names; an operand that is none of them has the value in `in`. */
static void check(isa_wave_t *t, const sop_row_t *row, const char *text, unsigned d, sop_in_t in) {
  const gs_scalars_t before = t->w.s;
  in.exec = gs_exec(&t->w);
  in.scc = t->w.scc;
  in.d = read_reg(t, d, row->d_bits);
  const sop_out_t expected = row->model(row, in);
  const unsigned scc = row->scc == KEEP ? in.scc : row->scc == NONZERO ? expected.d != 0 : expected.scc;
  t->w.pc = ISA_CODE;
  (void)isa_resume(t);
  gs_scalars_t after = before;
  after.u64[GS_S_EXEC / 2] = expected.exec;
  if (row->d_bits)
    after.u32[d] = (uint32_t)expected.d;
  if (row->d_bits == 64)
    after.u32[d + 1] = (uint32_t)(expected.d >> 32);
  for (unsigned r = 0; r < GS_SGPRS; r++)
    if (t->w.s.u32[r] != after.u32[r])
      fail_msg("%s: a 0x%llx b 0x%llx d 0x%llx exec 0x%llx scc %u: s%u is 0x%08x, not 0x%08x", text,
               (unsigned long long)in.a, (unsigned long long)in.b, (unsigned long long)in.d,
               (unsigned long long)in.exec, in.scc, r, t->w.s.u32[r], after.u32[r]);
  if (t->w.scc != scc)
    fail_msg("%s: a 0x%llx b 0x%llx d 0x%llx scc %u: scc is %u, not %u", text, (unsigned long long)in.a,
             (unsigned long long)in.b, (unsigned long long)in.d, in.scc, t->w.scc, scc);
  assert_int_equal(t->w.pc, ISA_CODE + t->code_bytes);
}

static size_t edge_count(unsigned bits) {
  return bits == 64 ? isa_u64_edge_count + 8 : bits ? isa_u32_edge_count + 8 : 1;
}
/* An edge value, or beyond them a random one. */
static uint64_t edge(unsigned bits, size_t i, uint64_t *seed) {
  if (bits == 64)
    return i < isa_u64_edge_count ? isa_u64_edges[i] : isa_random(seed);
  return bits == 0 ? 0 : i < isa_u32_edge_count ? isa_u32_edges[i] : (uint32_t)isa_random(seed);
}

/* All pairs of edge values in registers of their own. */
static void check_edges(isa_wave_t *t, const sop_row_t *row, const char *text) {
  uint64_t seed = 1;
  (void)isa_run(t, text);
  for (size_t i = 0; i < edge_count(row->a_bits); i++)
    for (size_t k = 0; k < edge_count(row->b_bits); k++)
      for (unsigned scc = 0; scc < 2; scc++) {
        const sop_in_t in = {.a = edge(row->a_bits, i, &seed), .b = edge(row->b_bits, k, &seed)};
        write_reg(t, A, row->a_bits, in.a);
        write_reg(t, B, row->b_bits, in.b);
        write_reg(t, D, row->d_bits, isa_random(&seed));
        t->w.scc = scc;
        gs_set_exec(&t->w, k % 5 == 0 ? 0 : isa_random(&seed));
        check(t, row, text, D, in);
      }
}

static void row_text(char *text, size_t size, const sop_row_t *row, const char *d, const char *a,
                     const char *b) {
  (void)snprintf(text, size, "%s %s%s%s%s%s", row->name, row->d_bits ? d : "",
                 row->d_bits && (row->a_bits || row->b_bits) ? ", " : "", row->a_bits ? a : "",
                 row->a_bits && row->b_bits ? ", " : "", row->b_bits ? b : "");
}

typedef struct family {
  const sop_row_t *rows;
  size_t count;
} family_t;
#define FAMILY(rows)                                                                                         \
  { rows, sizeof rows / sizeof *rows }
static const family_t families[] = {FAMILY(sop1_rows), FAMILY(sop2_rows), FAMILY(sopc_rows)};
enum { FAMILIES = sizeof families / sizeof *families, MOST_ROWS = 256, TEXT = 96 };

/* One text per row of all families, by a format function; assembled at once. */
typedef struct texts {
  char text[MOST_ROWS][TEXT];
  const char *pointer[MOST_ROWS];
  const sop_row_t *row[MOST_ROWS];
  size_t count;
} texts_t;

/* Whether the part has the row: gfx11 lacks s_ff0. */
static bool part_has(void *const *state, const sop_row_t *row) {
  return !(isa_part(state) & GS_GFX11) || strncmp(row->name, "s_ff0", 5) != 0;
}

static void add_text(void *const *state, texts_t *texts, const sop_row_t *row, const char *d, const char *a,
                     const char *b) {
  if (!part_has(state, row))
    return;
  assert_true(texts->count < MOST_ROWS);
  row_text(texts->text[texts->count], TEXT, row, d, a, b);
  texts->pointer[texts->count] = texts->text[texts->count];
  texts->row[texts->count++] = row;
}

static void test_registers(void **state) {
  static texts_t texts;
  texts.count = 0;
  char d[16], a[16], b[16];
  for (size_t f = 0; f < FAMILIES; f++)
    for (size_t i = 0; i < families[f].count; i++) {
      const sop_row_t *const row = &families[f].rows[i];
      add_text(state, &texts, row, reg(d, D, row->d_bits), reg(a, A, row->a_bits), reg(b, B, row->b_bits));
    }
  isa_prepare(state, ISA_PART, texts.pointer, sizeof *texts.pointer, texts.count);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < texts.count; i++)
    check_edges(t, texts.row[i], texts.text[i]);
  isa_free(t);
}

/* Destination and sources in one register: all is read before anything is written. */
static void test_overlap(void **state) {
  static texts_t texts;
  texts.count = 0;
  for (size_t f = 0; f < FAMILIES; f++)
    for (size_t i = 0; i < families[f].count; i++) {
      const sop_row_t *const row = &families[f].rows[i];
      char d[16], a[16], b[16];
      add_text(state, &texts, row, reg(d, A, row->d_bits), reg(a, A, row->a_bits), reg(b, A, row->b_bits));
    }
  isa_prepare(state, ISA_PART, texts.pointer, sizeof *texts.pointer, texts.count);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < texts.count; i++) {
    const sop_row_t *const row = texts.row[i];
    (void)isa_run(t, texts.text[i]);
    for (size_t k = 0; k < isa_u64_edge_count; k++) {
      isa_set_s64(t, A, isa_u64_edges[k]);
      t->w.scc = k & 1;
      check(t, row, texts.text[i], A,
            (sop_in_t){.a = read_reg(t, A, row->a_bits), .b = read_reg(t, A, row->b_bits)});
    }
  }
  isa_free(t);
}

/* Constants and special registers as sources, by what they are worth in 32 and in 64 bits. */
typedef struct special {
  const char *text;
  uint64_t value32, value64;
} special_t;
static const special_t constants[] = {
    {"0", 0, 0},
    {"1", 1, 1},
    {"64", 64, 64},
    {"-1", UINT32_MAX, UINT64_MAX},
    {"-16", 0xfffffff0, UINT64_C(0xfffffffffffffff0)},
    {"0.5", 0x3f000000, UINT64_C(0x3fe0000000000000)},
    {"-0.5", 0xbf000000, UINT64_C(0xbfe0000000000000)},
    {"1.0", 0x3f800000, UINT64_C(0x3ff0000000000000)},
    {"-1.0", 0xbf800000, UINT64_C(0xbff0000000000000)},
    {"2.0", 0x40000000, UINT64_C(0x4000000000000000)},
    {"-2.0", 0xc0000000, UINT64_C(0xc000000000000000)},
    {"4.0", 0x40800000, UINT64_C(0x4010000000000000)},
    {"-4.0", 0xc0800000, UINT64_C(0xc010000000000000)},
    {"0.15915494309189532", 0x3e22f983, UINT64_C(0x3fc45f306dc9c882)},
    {"0x12345678", 0x12345678, 0x12345678},
    {"0x7fff", 0x7fff, 0x7fff},
    {"65", 65, 65},
};
enum { CONSTANTS = sizeof constants / sizeof *constants };

/* Every instruction with every constant as its first source, and as its second one. */
static void check_constants(void **state, bool second) {
  static texts_t texts[CONSTANTS];
  static const char *list[CONSTANTS * MOST_ROWS];
  size_t listed = 0;
  for (size_t c = 0; c < CONSTANTS; c++) {
    texts[c].count = 0;
    for (size_t f = 0; f < FAMILIES; f++)
      for (size_t i = 0; i < families[f].count; i++) {
        const sop_row_t *const row = &families[f].rows[i];
        char d[16], r[16];
        if (second && row->b_bits)
          add_text(state, &texts[c], row, reg(d, D, row->d_bits), reg(r, A, row->a_bits), constants[c].text);
        else if (!second)
          add_text(state, &texts[c], row, reg(d, D, row->d_bits), constants[c].text, reg(r, B, row->b_bits));
      }
    for (size_t i = 0; i < texts[c].count; i++)
      list[listed++] = texts[c].pointer[i];
  }
  isa_prepare(state, ISA_PART, list, sizeof *list, listed);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t c = 0; c < CONSTANTS; c++)
    for (size_t i = 0; i < texts[c].count; i++) {
      const sop_row_t *const row = texts[c].row[i];
      const uint64_t a = row->a_bits == 64 ? constants[c].value64 : constants[c].value32;
      const uint64_t b = row->b_bits == 64 ? constants[c].value64 : constants[c].value32;
      (void)isa_run(t, texts[c].text[i]);
      isa_reset(t, (unsigned)i);
      check(t, row, texts[c].text[i], D,
            (sop_in_t){.a = second ? read_reg(t, A, row->a_bits) : a,
                       .b = second ? b : read_reg(t, B, row->b_bits)});
    }
  isa_free(t);
}
static void test_constant_first(void **state) {
  check_constants(state, false);
}
static void test_constant_second(void **state) {
  check_constants(state, true);
}

static const struct {
  const char *text;
  unsigned bits;
  uint64_t value;
} specials[] = {
    {"s_mov_b64 s[10:11], src_shared_base", 64, UINT64_C(0x0001000000000000)},
    {"s_mov_b64 s[10:11], src_shared_limit", 64, UINT64_C(0x00010000ffffffff)},
    {"s_mov_b64 s[10:11], src_private_base", 64, UINT64_C(0x0002000000000000)},
    {"s_mov_b64 s[10:11], src_private_limit", 64, UINT64_C(0x00020000ffffffff)},
    {"s_mov_b64 s[10:11], src_pops_exiting_wave_id", 64, 0},
    {"s_mov_b32 s10, src_private_limit", 32, 0xffffffff},
    {"s_mov_b32 s10, m0", 32, 0x11111111},
    {"s_mov_b32 s10, vcc_lo", 32, 0x22222222},
    {"s_mov_b32 s10, vcc_hi", 32, 0x33333333},
    {"s_mov_b64 s[10:11], vcc", 64, UINT64_C(0x3333333322222222)},
    {"s_mov_b32 s10, exec_lo", 32, 0x44444444},
    {"s_mov_b32 s10, exec_hi", 32, 0x55555555},
    {"s_mov_b64 s[10:11], exec", 64, UINT64_C(0x5555555544444444)},
    {"s_mov_b64 s[10:11], flat_scratch", 64, UINT64_C(0x7777777766666666)},
    {"s_mov_b32 s10, flat_scratch_hi", 32, 0x77777777},
    {"s_mov_b64 s[10:11], xnack_mask", 64, UINT64_C(0x9999999988888888)},
    {"s_mov_b32 s10, src_vccz", 32, 0},
    {"s_mov_b32 s10, src_execz", 32, 0},
    {"s_mov_b32 s10, src_scc", 32, 1},
    {"s_mov_b64 vcc, 0\ns_mov_b32 s10, src_vccz", 32, 1},
    {"s_mov_b64 exec, 0\ns_mov_b32 s10, src_execz", 32, 1},
    {"s_mov_b32 vcc_lo, 0\ns_mov_b32 s10, src_vccz", 32, 0},
    {"s_cmp_lg_u32 0, 0\ns_mov_b32 s10, src_scc", 32, 0},
    {"s_add_u32 s10, src_scc, 5", 32, 6},
};
static void test_specials(void **state) {
  enum { COUNT = sizeof specials / sizeof *specials };
  isa_prepare(state, ISA_PART, &specials[0].text, sizeof *specials, COUNT);
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t k = 0; k < COUNT; k++) {
    t->w.scc = 1;
    t->w.s.u32[GS_S_M0] = 0x11111111;
    isa_set_s64(t, GS_S_VCC, UINT64_C(0x3333333322222222));
    isa_set_s64(t, GS_S_EXEC, UINT64_C(0x5555555544444444));
    isa_set_s64(t, GS_S_FLAT_SCRATCH, UINT64_C(0x7777777766666666));
    isa_set_s64(t, GS_S_XNACK_MASK, UINT64_C(0x9999999988888888));
    (void)isa_run(t, specials[k].text);
    if (read_reg(t, 10, specials[k].bits) != specials[k].value)
      fail_msg("%s: 0x%llx", specials[k].text, (unsigned long long)read_reg(t, 10, specials[k].bits));
    isa_assert_only_changed(t, "s[10:11] vcc exec scc");
  }
  isa_free(t);
}

/* Named registers as destinations. */
static void test_destinations(void **state) {
  static const struct {
    const char *text, *changed;
    unsigned reg;
    uint32_t value;
  } rows[] = {
      {"s_mov_b32 vcc_hi, 7", "s107", GS_S_VCC + 1, 7},
      {"s_mov_b32 exec_lo, 7", "s126", GS_S_EXEC, 7},
      {"s_mov_b32 m0, 7", "m0", GS_S_M0, 7},
      {"s_mov_b32 flat_scratch_lo, 7", "s102", GS_S_FLAT_SCRATCH, 7},
      {"s_mov_b32 xnack_mask_hi, 7", "s105", GS_S_XNACK_MASK + 1, 7},
      {"s_mov_b64 vcc, -1", "vcc", GS_S_VCC + 1, UINT32_MAX},
      {"s_mov_b64 exec, 5", "exec", GS_S_EXEC, 5},
      {"s_movk_i32 s101, -2", "s101", 101, 0xfffffffe},
  };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    isa_reset(t, 0);
    (void)isa_run(t, rows[i].text);
    assert_int_equal(t->w.s.u32[rows[i].reg], rows[i].value);
    isa_assert_only_changed(t, rows[i].changed);
  }
  /* Without privilege, a trap handler's temporaries keep what they hold. */
  isa_reset(t, 0);
  (void)isa_run(t,
                "s_mov_b32 ttmp3, 7\ns_mov_b64 ttmp[4:5], -1\ns_movk_i32 ttmp6, 1\ns_bitset1_b32 ttmp7, 3\n"
                "s_bitset0_b64 ttmp[8:9], 40\ns_addk_i32 ttmp10, 0");
  isa_assert_only_changed(t, "scc");
  isa_free(t);
}

/* EXEC itself as source and destination of the instructions that write it. */
static void test_exec_operand(void **state) {
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t i = 0; i < COUNT_SOP1; i++) {
    const sop_row_t *const row = &sop1_rows[i];
    if (row->model != m_saveexec)
      continue;
    char text[TEXT];
    (void)snprintf(text, sizeof text, "%s vcc, exec", row->name);
    for (size_t k = 0; k < isa_u64_edge_count; k++) {
      gs_set_exec(&t->w, isa_u64_edges[k]);
      (void)isa_run(t, text);
      const uint64_t expected = truth(row->parameter, isa_u64_edges[k], isa_u64_edges[k], 64);
      assert_true(gs_vcc(&t->w) == isa_u64_edges[k]);
      assert_true(gs_exec(&t->w) == expected);
      assert_int_equal(t->w.scc, expected != 0);
    }
  }
  isa_free(t);
}

/* ---- Immediates ---- */

static void test_immediates(void **state) {
  static const int immediates[] = {0, 1, 2, 100, 0x7ffe, 0x7fff, -1, -2, -100, -0x7fff, -0x8000};
  enum { COUNT = sizeof immediates / sizeof *immediates, ROWS = sizeof sopk_rows / sizeof *sopk_rows };
  isa_wave_t *const t = isa_new(state, ISA_PART);
  for (size_t k = 0; k < COUNT; k++) {
    static texts_t texts;
    texts.count = 0;
    for (size_t i = 0; i < ROWS; i++) {
      char d[16], a[16], immediate[16];
      /* Unsigned comparisons take the same bits as a number from 0 to 65535. */
      const bool is_unsigned = sopk_rows[i].model == m_cmp && sopk_rows[i].parameter & UNSIGNED;
      (void)snprintf(immediate, sizeof immediate, "%d", is_unsigned ? immediates[k] & 0xffff : immediates[k]);
      add_text(state, &texts, &sopk_rows[i], reg(d, D, 32), reg(a, A, 32), immediate);
    }
    isa_prepare(state, ISA_PART, texts.pointer, sizeof *texts.pointer, texts.count);
    for (size_t i = 0; i < texts.count; i++) {
      uint64_t seed = k;
      (void)isa_run(t, texts.text[i]);
      for (size_t e = 0; e < 2 * edge_count(32); e++) {
        const uint32_t value =
            e % 7 == 3 ? (uint32_t)(immediates[k] & 0xffff) : (uint32_t)edge(32, e / 2, &seed);
        t->w.s.u32[D] = t->w.s.u32[A] = value;
        t->w.scc = e & 1;
        check(t, texts.row[i], texts.text[i], D,
              (sop_in_t){.a = value, .b = (uint64_t)(immediates[k] & 0xffff)});
      }
    }
  }
  isa_free(t);
}
int main(void) {
  static const struct CMUnitTest tests[] = {
      isa_wide_part_test(test_registers),
      isa_wide_part_test(test_overlap),
      isa_wide_part_test(test_constant_first),
      isa_wide_part_test(test_constant_second),
      isa_part_test(test_specials),
      isa_part_test(test_destinations),
      isa_wide_part_test(test_exec_operand),
      isa_wide_part_test(test_immediates),
  };
  return isa_main(tests, sizeof tests / sizeof *tests);
}
