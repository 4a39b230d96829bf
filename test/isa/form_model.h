/* What the SDWA and DPP forms do to operands and results: bytes of registers for SDWA, lane numbers moved
 * about one by one for DPP. Not here: what instructions compute. */
#ifndef TEST_ISA_FORM_MODEL_H
#define TEST_ISA_FORM_MODEL_H

#include "harness.h"

#include <string.h>

/* ---- SDWA ---- */

enum { BYTE_0, BYTE_1, BYTE_2, BYTE_3, WORD_0, WORD_1, DWORD, SELECTIONS };
enum { UNUSED_PAD, UNUSED_SEXT, UNUSED_PRESERVE, UNUSED_KINDS };

static const char *const selection_names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                              "WORD_0", "WORD_1", "DWORD"};
static const char *const unused_names[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};

typedef struct sdwa {
  unsigned dst_sel, dst_unused, src_sel[2];
  bool sext[2];
} sdwa_t;

/* First byte and number of bytes of a selection. */
static inline unsigned first_byte(unsigned sel) {
  return sel < WORD_0 ? sel : sel == WORD_1 ? 2 : 0;
}
static inline unsigned byte_count(unsigned sel) {
  return sel < WORD_0 ? 1 : sel < DWORD ? 2 : 4;
}

/* The selected bytes of a value, with zeroes or copies of their sign above. */
static inline uint32_t sdwa_read(uint32_t value, unsigned sel, bool sext) {
  uint8_t bytes[4], result[4];
  memcpy(bytes, &value, 4);
  const unsigned first = first_byte(sel), n = byte_count(sel);
  const uint8_t fill = sext && bytes[first + n - 1] >= 0x80 ? 0xff : 0;
  for (unsigned i = 0; i < 4; i++)
    result[i] = i < n ? bytes[first + i] : fill;
  memcpy(&value, result, 4);
  return value;
}

/* The destination after `result` was written to it. */
static inline uint32_t sdwa_write(uint32_t old, uint32_t result, unsigned sel, unsigned unused) {
  uint8_t from[4], to[4];
  memcpy(from, &result, 4);
  memcpy(to, &old, 4);
  const unsigned first = first_byte(sel), n = byte_count(sel);
  for (unsigned i = 0; i < 4; i++) {
    if (i >= first && i < first + n)
      to[i] = from[i - first];
    else if (unused == UNUSED_PAD || (unused == UNUSED_SEXT && i < first))
      to[i] = 0;
    else if (unused == UNUSED_SEXT)
      to[i] = from[n - 1] >= 0x80 ? 0xff : 0;
  }
  memcpy(&old, to, 4);
  return old;
}

static inline sdwa_t nth_sdwa(unsigned n) {
  sdwa_t s;
  s.dst_sel = n % SELECTIONS, n /= SELECTIONS;
  s.src_sel[0] = n % SELECTIONS, n /= SELECTIONS;
  s.src_sel[1] = n % SELECTIONS, n /= SELECTIONS;
  s.dst_unused = n % UNUSED_KINDS, n /= UNUSED_KINDS;
  s.sext[0] = n % 2, n /= 2;
  s.sext[1] = n % 2;
  return s;
}
enum { SDWA_FORMS = SELECTIONS * SELECTIONS * SELECTIONS * UNUSED_KINDS * 4 };

/* ---- DPP ---- */

enum { NOBODY = -1, ROW = 16 };

/* Fills from[l] with the lane that lane l reads, by moving lane numbers about as the control says. Returns
 * whether the control exists. */
static inline bool move_lanes(unsigned control, int from[GS_LANES]) {
  const unsigned n = control & 15;
  int wave[GS_LANES + 2];
  for (int i = 0; i < GS_LANES + 2; i++)
    wave[i] = i - 1; /* wave[1 + l] is lane l; both ends are nobody */
  wave[GS_LANES + 1] = NOBODY;
  for (unsigned first = 0; first < GS_LANES; first += ROW) {
    int row[3 * ROW], *const to = &from[first];
    for (int i = 0; i < 3 * ROW; i++)
      row[i] = i >= ROW && i < 2 * ROW ? (int)first + i - ROW : NOBODY;
    for (unsigned i = 0; i < ROW; i++) {
      const unsigned l = first + i;
      if (control < 0x100)
        to[i] = (int)(first + i / 4 * 4 + (control >> (i % 4 * 2)) % 4);
      else if (control > 0x100 && control < 0x110) /* row_shl */
        to[i] = row[ROW + i + n];
      else if (control > 0x110 && control < 0x120) /* row_shr */
        to[i] = row[ROW + i - n];
      else if (control > 0x120 && control < 0x130) /* row_ror */
        to[(i + n) % ROW] = (int)l;
      else if (control == 0x130) /* wave_shl */
        to[i] = wave[1 + l + 1];
      else if (control == 0x134) /* wave_rol */
        to[i] = l == GS_LANES - 1 ? 0 : (int)l + 1;
      else if (control == 0x138) /* wave_shr */
        to[i] = wave[1 + l - 1];
      else if (control == 0x13c) /* wave_ror */
        to[i] = l == 0 ? GS_LANES - 1 : (int)l - 1;
      else if (control == 0x140) /* row_mirror */
        to[ROW - 1 - i] = (int)l;
      else if (control == 0x141) /* row_half_mirror */
        to[i / 8 * 8 + 7 - i % 8] = (int)l;
      else if (control == 0x142) /* row_bcast:15 */
        to[i] = first == 0 ? NOBODY : (int)first - 1;
      else if (control == 0x143) /* row_bcast:31 */
        to[i] = first < 32 ? NOBODY : 31;
      else if (control >= 0x150 && control < 0x160) /* row_newbcast, row_share */
        to[i] = (int)(first + n);
      else if (control >= 0x160 && control < 0x170) /* row_xmask */
        to[i ^ n] = (int)l;
      else
        return false;
    }
  }
  return true;
}

/* gfx90a has broadcasts within rows; gfx10 has them, too, but nothing that leaves a row. */
static inline bool has_control(void *const *state, unsigned control) {
  const gs_target_t part = isa_part(state);
  int from[GS_LANES];
  const bool exists = move_lanes(control, from),
             leaves = (control >= 0x130 && control < 0x140) || control > 0x141;
  return exists && (control >= 0x160   ? !(part & GS_GFX9)
                    : control >= 0x150 ? !(part & GS_GFX9) || (part & GS_CDNA2_4)
                                       : !leaves || (part & GS_GFX9));
}

typedef struct dpp {
  unsigned control, row_mask, bank_mask;
  bool bound_ctrl;
  bool fetch_inactive; /* since gfx10 */
} dpp_t;

/* The operand that DPP permutes: the second of integers' subrev, and of all shifts before gfx11. */
static inline unsigned dpp_operand(gs_target_t part, const char *name) {
  const bool subtracts = strstr(name, "subrev_") || strstr(name, "subbrev_");
  const bool shifts = strstr(name, "shlrev_") || strstr(name, "shrrev_");
  const bool is_float = strstr(name, "_f16") || strstr(name, "_f32");
  return (subtracts && !is_float) || (shifts && !(part & GS_GFX11));
}

/* What DPP does to an operand: whether the lane is written, and the value it gets. */
static inline bool dpp_read(const isa_wave_t *t, const dpp_t *d, unsigned reg, unsigned lane,
                            uint32_t *value) {
  const uint64_t exec = gs_exec(&t->before.w);
  int from[GS_LANES];
  assert_true(move_lanes(d->control, from));
  const int source = from[lane];
  const bool found = source != NOBODY && (d->fetch_inactive || (exec >> source & 1));
  *value = found ? t->before.v[reg].u32[source] : 0;
  return (exec >> lane & 1) && (d->row_mask >> lane / 16 & 1) && (d->bank_mask >> lane % 16 / 4 & 1) &&
         (found || d->bound_ctrl);
}

#endif
