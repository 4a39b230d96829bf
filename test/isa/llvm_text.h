/* Texts of instructions as gfxsim spells them, which is LLVM 16's way, and as another version of LLVM does:
 * where they mean the same. Not here: what the versions take for instructions (test_decode.c). */
#ifndef ISA_LLVM_TEXT_H
#define ISA_LLVM_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/inst.h"

enum { TEXT_BYTES = 256 };

/* Replaces what is in `text` by something of at most the same length, wherever it is. */
static inline void llvm_text_replace(char *text, const char *what, const char *with) {
  for (char *place = text; (place = strstr(place, what)) != NULL; place += strlen(with)) {
    memmove(place + strlen(with), place + strlen(what), strlen(place + strlen(what)) + 1);
    memcpy(place, with, strlen(with));
  }
}

/* A word of a text: what stands between blanks, commas and brackets. */
static inline size_t llvm_text_word(const char *text) {
  return strcspn(text, " ,|()[]:");
}

/* The bits of a constant as an integer or in each width of floats; those of a double are its upper ones. */
static inline size_t llvm_text_constant(const char *word, size_t length, uint32_t bits[3]) {
  static const struct {
    const char *text; /* the beginning of it: 1/(2*pi) has as many digits as the type wants */
    uint32_t bits[3];
  } floats[] = {
      {"0.5", {0x3800, 0x3f000000, 0x3fe00000}},        {"1.0", {0x3c00, 0x3f800000, 0x3ff00000}},
      {"2.0", {0x4000, 0x40000000, 0x40000000}},        {"4.0", {0x4400, 0x40800000, 0x40100000}},
      {"0.15915494", {0x3118, 0x3e22f983, 0x3fc45f30}}, {"0.1591", {0x3118, 0x3e22f983, 0x3fc45f30}}};
  static const uint32_t signs[3] = {0x8000, 0x80000000, 0x80000000};
  const bool negative = length && *word == '-';
  char *end;
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
    if (length > negative && strncmp(word + negative, floats[i].text, strlen(floats[i].text)) == 0) {
      for (size_t k = 0; k < 3; k++)
        bits[k] = floats[i].bits[k] ^ (negative ? signs[k] : 0);
      return 3;
    }
  bits[0] = (uint32_t)strtoll(word, &end, 0);
  return length && end == word + length;
}

/* Whether two words are constants of the same bits. In instructions of 16 bits, only those count. */
static inline bool llvm_text_same_constant(const char *a, size_t a_length, const char *b, size_t b_length,
                                           bool halves) {
  uint32_t of_a[3], of_b[3];
  const size_t m = llvm_text_constant(a, a_length, of_a), n = llvm_text_constant(b, b_length, of_b);
  for (size_t i = 0; i < m; i++)
    for (size_t k = 0; k < n; k++)
      if (of_a[i] == of_b[k] || (halves && (uint16_t)of_a[i] == (uint16_t)of_b[k]))
        return true;
  return false;
}

/* Removes from `text` what begins with `from`, up to and with `to`. */
static inline void llvm_text_cut(char *text, const char *from, const char *to) {
  char *const place = strstr(text, from), *const end = place ? strstr(place, to) : NULL;
  if (end)
    memmove(place, end + strlen(to), strlen(end + strlen(to)) + 1);
}

/* What versions after 16 call otherwise: `newer` becomes `older`, which is not longer. */
static inline void llvm_text_age(char *text) {
  static const struct {
    const char *newer, *older;
  } names[] = {
      {"v_cvt_pk_norm_", "v_cvt_pknorm_"},      {"c_f32_f16_e32 ", "c_f32_f16 "},
      {"c_i32_i8_e32 ", "c_i32_i8 "},           {"HW_REG_PERF_SNAPSHOT_DATA", "27"},
      {"{ dont_wait_export_ready: 0 }", "0x0"}, {"{ dont_wait_export_ready: 1 }", "0x1"},
      {"HW_REG_PERF_SNAPSHOT_PC_LO", "18"},     {"HW_REG_PERF_SNAPSHOT_PC_HI", "19"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    llvm_text_replace(text, names[i].newer, names[i].older);
  char *const wait = strstr(text, " wait_exp:0"); /* which 16 leaves away */
  if (wait)
    *wait = '\0';
}

/* Leaves only what both spell: 16 writes neither which halves of registers are meant nor op_sel where it does
 * not know that operands are halves (test_decode compares that by itself), no op_sel_hi of dot products with
 * DPP, and the patterns of ds_swizzle by number. The assembler shows the mask that comparisons with DPP write
 * twice. */
static inline void llvm_text_trim(char *ours, char *theirs) {
  if (strncmp(theirs, "v_cmp_", 6) == 0 && strstr(theirs, "vcc, vcc, ") && !strstr(ours, "vcc, vcc, "))
    llvm_text_replace(theirs, "vcc, vcc, ", "vcc, ");
  if (strncmp(theirs, "v_cmp_", 6) == 0 && strstr(theirs, "vcc_lo, vcc_lo, ") &&
      !strstr(ours, "vcc_lo, vcc_lo, "))
    llvm_text_replace(theirs, "vcc_lo, vcc_lo, ", "vcc_lo, ");
  if (strncmp(theirs, "v_", 2) == 0) {
    llvm_text_replace(theirs, ".l", "");
    llvm_text_replace(theirs, ".h", "");
    llvm_text_replace(ours, ".h", "");
  }
  /* 23 has the old names of gfx10 for products of signed numbers on gfx11. */
  if (strstr(ours, "_i32_iu") && !strstr(theirs, "_i32_iu")) {
    llvm_text_replace(ours, "_i32_iu", "_i32_i");
    llvm_text_replace(ours, " neg_lo:[1,1,0]", "");
  }
  if (!strstr(ours, " op_sel:["))
    llvm_text_cut(theirs, " op_sel:[", "]");
  if (strncmp(ours, "v_dot2_f32_", 11) == 0 && strstr(ours, "_e64_dpp")) {
    llvm_text_cut(ours, " op_sel_hi:[", "]");
    llvm_text_cut(theirs, " op_sel_hi:[", "]");
  }
  if (strncmp(ours, "s_sendmsg", 9) == 0 || strncmp(ours, "s_version", 9) == 0) /* names come and go */
    ours[9] = theirs[9] = '\0';
  char *const pattern = strstr(theirs, "offset:swizzle("), *const number = strstr(ours, "offset:");
  if (pattern && number && number[7] != 's')
    *pattern = *number = '\0';
}

/* Whether `theirs`, spelt by some version of LLVM, is what `ours` means. From 22 on, literals whose value an
 * inline constant has are marked, and packed halves have floats for constants. */
static inline bool llvm_text_same(const char *ours, const char *theirs) {
  char copies[2][TEXT_BYTES];
  (void)snprintf(copies[0], TEXT_BYTES, "%s", ours);
  (void)snprintf(copies[1], TEXT_BYTES, "%s", theirs);
  for (size_t i = 0; i < 2; i++)
    llvm_text_age(copies[i]);
  llvm_text_replace(copies[1], "lit(", "(");
  llvm_text_trim(copies[0], copies[1]);
  const char *a = copies[0], *b = copies[1];
  const bool halves = strstr(a, "16") || strncmp(a, "v_align", 7) == 0,
             marked = strstr(theirs, "lit(") != NULL;
  while (*a || *b) {
    if (marked && *b != *a && (*b == '(' || *b == ')')) { /* left of lit() */
      b++;
      continue;
    }
    const size_t m = llvm_text_word(a), n = llvm_text_word(b);
    if (!(m == n && strncmp(a, b, m) == 0) && !llvm_text_same_constant(a, m, b, n, halves))
      return false;
    a += m;
    b += n;
    if (marked && *b != *a && *b == ')')
      b++;
    if (*a != *b)
      return false;
    a += *a != '\0';
    b += *b != '\0';
  }
  return true;
}

/* Whether each register of which LLVM names a half is that half for gfxsim: operand `i` of the text, of which
 * the first is the destination if there is one. */
static inline bool llvm_text_same_halves(const gs_inst_t *inst, const char *theirs, bool has_dst) {
  const char *p = strchr(theirs, ' ');
  for (int i = has_dst ? -1 : 0; p && i < 3; i++) {
    const size_t length = strcspn(p + 1, ",");
    const char *const dot = memchr(p + 1, '.', length);
    if (dot && (dot[1] == 'h' || dot[1] == 'l') && memchr(p + 1, 'v', length)) {
      const bool high = i < 0 ? inst->dst_hi : (inst->src[i].mods & GS_MOD_HI) != 0;
      if (high != (dot[1] == 'h'))
        return false;
    }
    p = p[1 + length] ? p + 1 + length : NULL;
    p = p && p[1] == ' ' ? p + 1 : NULL;
  }
  return true;
}

#endif
