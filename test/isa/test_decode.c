/* The decoder and the disassembler against LLVM's: for every opcode of every part, random operands and
 * modifiers, valid and invalid ones, are decoded and spelt by both. Also: no words whatever upset the
 * decoder.
 *
 * Not here: what instructions do, and the images of real programs (decode_compare.c).
 *
 * The number of encodings for each opcode and part is 200, or what the environment variable
 * DECODE_COMBINATIONS says; DECODE_SEED makes others, DECODE_PART is a pattern of the
 * parts, as in "*GFX1030*", and DECODE_LLVM_MC names another version of LLVM
 * than 16. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/align.h"
#include "isa/inst.h"
#include "llvm.h"
#include "llvm_text.h"
#include "random_code.h"

#ifndef ISA_LLVM_MC
#define ISA_LLVM_MC "llvm-mc-16"
#endif

enum { MISMATCHES_SHOWN = 4000 };

/* ---- LLVM's opinion ---- */

typedef struct sample {
  uint32_t words[4]; /* the last one is 0 */
  unsigned bytes;    /* how many of them are shown to LLVM */
} sample_t;

/* Each sample is followed by this instruction, so that the output shows where the next one starts. */
#define SENTINEL_BYTES       "[0x5a,0x5a,0x95,0xbf]"
#define SENTINEL_BYTES_GFX11 "[0x5a,0x5a,0xb9,0xbf]"
#define SENTINEL_TEXT        "s_decperflevel 0x5a5a"
/* What LLVM says of words that are no instruction. */
#define UNKNOWN_WORDS "warning: invalid instruction encoding"

/* A run of the disassembler: its output, and the places that it complains about, in order. */
typedef struct oracle {
  FILE *out, *err;          /* NULL if LLVM did not survive */
  unsigned long error_line; /* of the current complaint; 0 is none */
  bool error_of_alignment;  /* what it is about: vector registers with odd numbers */
} oracle_t;

static void oracle_next_error(oracle_t *o, const char *kind) {
  char text[1024];
  o->error_line = 0;
  while (fgets(text, sizeof text, o->err)) {
    const char *where = strchr(text, ':');
    if (where && strstr(text, kind) && sscanf(where, ":%lu:", &o->error_line) == 1) {
      o->error_of_alignment = strstr(text, "aligned") != NULL;
      return;
    }
  }
}

/* The next line of output without indentation and comment, or false at the end. */
static bool oracle_next_text(oracle_t *o, char text[TEXT_BYTES]) {
  char line[1024];
  while (fgets(line, sizeof line, o->out)) {
    const char *start = line + strspn(line, " \t");
    size_t length = strcspn(start, ";\n");
    while (length > 0 && (start[length - 1] == ' ' || start[length - 1] == '\t'))
      length--;
    if (length == 0 || *start == '.')
      continue;
    (void)snprintf(text, TEXT_BYTES, "%.*s", (int)length, start);
    return true;
  }
  return false;
}

/* LLVM's text of the next sample, which is in line `line`, or "" where it is no instruction. Returns whether
 * that was all there is to say, so that the instruction has as many bytes as LLVM was shown. */
static bool oracle_read(oracle_t *o, unsigned long line, char text[TEXT_BYTES]) {
  char here[TEXT_BYTES];
  unsigned instructions = 0, errors = 0;
  for (text[0] = '\0'; oracle_next_text(o, here) && strcmp(here, SENTINEL_TEXT) != 0; instructions++)
    if (instructions == 0)
      memcpy(text, here, sizeof here);
  for (; o->error_line == line; oracle_next_error(o, UNKNOWN_WORDS))
    errors++;
  return instructions + errors == 1;
}

static void write_samples(const char *path, gs_target_t target, const sample_t *samples, size_t count) {
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  for (size_t i = 0; i < count; i++) {
    for (unsigned b = 0; b < samples[i].bytes; b++)
      (void)fprintf(f, "%c0x%02x", b ? ',' : '[', samples[i].words[b / 4] >> (8 * (b % 4)) & 0xffu);
    (void)fprintf(f, "]\n%s\n", target & GS_GFX11 ? SENTINEL_BYTES_GFX11 : SENTINEL_BYTES);
  }
  assert_int_equal(fclose(f), 0);
}

/* The environment may name another version. */
static const char *llvm_mc(void) {
  const char *name = getenv("DECODE_LLVM_MC");
  return name ? name : ISA_LLVM_MC;
}

static unsigned long llvm_version(void) {
  const char *end = llvm_mc() + strlen(llvm_mc());
  while (end > llvm_mc() && end[-1] >= '0' && end[-1] <= '9')
    end--;
  return strtoul(end, NULL, 10);
}

/* How many bytes of what is no instruction LLVM is shown. 22 does not survive a literal that is cut off; 16
 * takes a literal where there can be none if it is there. */
static unsigned shown_of_unknown(void) {
  return llvm_version() > 16 ? sizeof((sample_t *)NULL)->words : 8;
}

/* Words that LLVM 22 does not survive: literals in VOP3, VOP3P, MUBUF and MTBUF of gfx9, which has none
 * there, and the permutation [3,3,3,3] in VOP3P. */
static bool upsets_llvm_22(gs_target_t target, const uint32_t *w) {
  const bool literal = (w[1] & 0x1ff) == 255 || (w[1] >> 9 & 0x1ff) == 255 || (w[1] >> 18 & 0x1ff) == 255;
  return llvm_version() >= 22 &&
         (((target & GS_GFX9) &&
           ((w[0] >> 26 == 0x34 && literal) || (w[0] >> 28 == 14 && w[1] >> 24 == 255))) ||
          ((w[0] >> 26 == 0x34 || w[0] >> 26 == 0x35) && (w[0] & 0x30000ffu) == 0xff) ||
          (w[0] >> 24 == 0xcc && (w[1] & 0x1ff) == 250 && (w[2] >> 8 & 0x1ff) == 0xff));
}

/* Words that LLVM 16 does not survive: SDWA selectors that do not exist. */
static bool upsets_llvm(gs_target_t target, const uint32_t *w) {
  const bool vop2 = !(w[0] >> 31), vop1 = vop2 && (w[0] >> 25 & 63) == 63,
             vopc = vop2 && (w[0] >> 25 & 63) == 62;
  if (!vop2 || (w[0] & 0x1ff) != 249)
    return upsets_llvm_22(target, w);
  return (w[1] >> 16 & 7) == 7 || (!vop1 && (w[1] >> 24 & 7) == 7) ||
         (!vopc && ((w[1] >> 8 & 7) == 7 || (w[1] >> 11 & 3) == 3));
}

/* What only later versions know, and what they know no more. */
static bool llvm_knows(gs_target_t target, const gs_opcode_t *op) {
  static const char *const later[] = {"v_mov_b16", "v_swap_b16", "v_dual_dot2acc_f32_bf16"};
  for (size_t i = 0; i < sizeof later / sizeof *later; i++)
    if ((target & GS_GFX11) && llvm_version() <= 16 && strcmp(op->name, later[i]) == 0)
      return false;
  if (llvm_version() > 16 && (target & GS_GFX11) && strncmp(op->name, "buffer_load_lds_", 16) == 0)
    return false;
  return !(target & GS_GFX10) || !strstr(op->name, "_format_d16_hi_x");
}

static bool has_no_meaning(uint32_t delay_alu) {
  return (delay_alu & 15) > 11 || (delay_alu >> 4 & 7) > 5 || (delay_alu >> 7 & 15) > 11 ||
         delay_alu >> 11 & 31;
}

/* What LLVM 16 does not take for gfx11: upper halves of registers, and matrices whose sum does not stay in
 * its registers. */
static bool newer_than_llvm(const gs_inst_t *inst, const char *text) {
  return !llvm_knows(GS_GFX1100, inst->op) || strstr(text, ".h") ||
         (inst->op->encoding == GS_ENC_VOPD && !llvm_knows(GS_GFX1100, gs_dual_opcode(inst))) ||
         strncmp(text, "v_dot2_f32_bf16_e64_dpp", 23) == 0 ||
         ((inst->op->flags & GS_OPF_WMMA) && inst->src[2].kind == GS_SRC_VGPR &&
          inst->src[2].reg != inst->dst);
}

/* Float constants of v_ldexp_f16 and v_cmp_class_f16, which LLVM 16 has as 32 bits, of v_cndmask_b16, which
 * it spells as integers, and of bf16. */
static bool other_constant(const uint32_t *w) {
  const uint32_t op = w[0] >> 16 & 0x3ff, code = w[1] >> 9 & 0x1ff;
  const bool shift_or_class = op == 315 || op == 125 || op == 253, choice = op == 605;
  return w[0] >> 26 == 0x35 && (((shift_or_class || choice) && code >= 240 && code < 256) ||
                                ((choice || op == 615) && ((w[1] & 0x1ff) >= 240 && (w[1] & 0x1ff) < 256)) ||
                                (op == 615 && (code >= 240 && code < 256)) ||
                                (op == 615 && (w[1] >> 18 & 0x1ff) >= 240 && (w[1] >> 18 & 0x1ff) < 256));
}

/* Matrices of gfx11: null as a factor, and as the sum a literal, which it spells in another way than
 * elsewhere, and apertures and flags. */
static bool lax_wmma(const uint32_t *w) {
  const uint32_t op = w[0] >> 16 & 0x7f;
  const bool vector = w[1] >> 8 & w[1] >> 17 & 1,
             special = (w[1] >> 18 & 0x1ff) >= 235 && (w[1] >> 18 & 0x1ff) <= 255 &&
                       ((w[1] >> 18 & 0x1ff) < 240 || (w[1] >> 18 & 0x1ff) > 248);
  return w[0] >> 24 == 0xcc && op >= 64 && op < 70 && (!vector || special);
}

/* The same of gfx11: caches by gfx10's numbers, null as a resource or address, half of v_fmac_f16, pairs in
 * wide waves, the offset of flat addresses, numbers in s_delay_alu that mean nothing, and second sources
 * beside DPP in VOP3, which must be vector registers. */
static bool lax_gfx11(gs_target_t target, const uint32_t *w) {
  const bool vop3 = w[0] >> 26 == 0x35 || w[0] >> 24 == 0xcc,
             dpp = (w[1] & 0x1ff) >= 233 && (w[1] & 0x1ff) <= 250;
  return (!(target & GS_WAVE32) && w[0] >> 26 == 0x32) || (w[0] & 0xfc031000u) == 0xdc001000u ||
         ((w[0] & 0xffff0000u) == 0xbf870000u && has_no_meaning(w[0])) ||
         (vop3 && dpp && !(w[1] >> 17 & 1)) || (w[0] >> 28 == 0xe && (w[1] >> 16 & 31) == 31) ||
         (w[0] & 0xfff00000u) == 0xe1c00000u || (w[0] >> 26 == 0x3d && (w[0] & 0x3f) == 62) ||
         ((w[0] & 0xff80f0ffu) == 0xbe80407cu) || (w[0] >> 16 == 0xd536 && (w[0] & 0x7800)) ||
         other_constant(w) || lax_wmma(w);
}

/* Where LLVM 16 takes any operand number for the vector register in its low bits: v_swap, v_accvgpr_mov and
 * v_accvgpr_read; number 113 of MUBUF, which is buffer_wbinvl1 in older families; and buffer_store_lds_dword,
 * buffer_wbinvl1 and buffer_wbinvl1_vol, of which gfx942 has none. */
static bool llvm_is_lax(gs_target_t target, const uint32_t *w) {
  if ((target & GS_GFX11) && lax_gfx11(target, w))
    return true;
  if (target == GS_GFX942 && w[0] >> 26 == 0x38 && (w[0] >> 18 & 0x7f) >= 61 && (w[0] >> 18 & 0x7f) <= 63)
    return true;
  if ((target & GS_GFX9) && (w[0] & 0xfdfc0000u) == 0xe1c40000u)
    return true;
  const uint32_t vop1 = w[0] & 0xfe01fe00u;
  if (!(target & GS_GFX9)) /* likewise, and the offset of flat addresses, of which one bit does not count */
    return ((vop1 == 0x7e00ca00u || vop1 == 0x7e00d000u || vop1 == 0x7e000400u || vop1 == 0x7e008600u ||
             vop1 == 0x7e008800u || vop1 == 0x7e009000u) &&
            !(w[0] & 0x100)) ||
           ((target & GS_GFX10) &&
            ((w[0] & 0xfc00c800u) == 0xdc000800u || (w[0] & 0xfff80000u) == 0xe0980000u)) ||
           (w[0] & 0xfffc0000u) == 0xe3c40000u;
  return (vop1 == 0x7e00a200u && !(w[0] & 0x100)) || (vop1 == 0x7e00a400u && !(w[0] & 0x100)) ||
         ((w[0] & 0xffff0000u) == 0xd3d80000u && !(w[1] & 0x100));
}

/* Whether operand `index` of the text (0 is the destination) is an aperture or flag. */
static bool operand_is_special(const char *text, unsigned index) {
  const char *p = strchr(text, ' ');
  while (p && index--)
    p = strstr(p + 1, ", ") ? strstr(p + 1, ", ") + 1 : NULL;
  return p && strncmp(p, " src_", 5) == 0 && strncmp(p, " src_lds_direct", 15) != 0;
}

/* Operands that can only be vector registers, but for which LLVM 16 accepts apertures and flags. */
static bool special_for_vector(gs_target_t target, const char *text) {
  const bool no_dst =
      (!(target & GS_GFX9) && strncmp(text, "v_cmpx", 6) == 0) || strncmp(text, "v_mfma_ld", 9) == 0;
  static const struct {
    const char *name;
    unsigned first, last;
  } operands[] = {{"v_smfmac", 1, 3},   {"v_readfirstlane", 1, 1}, {"v_readlane", 1, 1},
                  {"v_permlane", 1, 1}, {"v_movrels", 1, 1},       {"v_mfma_f", 1, 3},
                  {"v_mfma_i", 1, 3},   {"v_mqsad_u32", 3, 3},     {"v_", 0, 0}};
  for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
    for (unsigned k = operands[i].first; k <= operands[i].last && !no_dst; k++)
      if (strncmp(text, operands[i].name, strlen(operands[i].name)) == 0 && operand_is_special(text, k))
        return true;
  return false;
}

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}
static bool ends(const char *text, const char *with) {
  const size_t length = strlen(text);
  return length >= strlen(with) && strcmp(text + length - strlen(with), with) == 0;
}

/* Matrices in blocks with scales whose formats nobody has defined. */
static bool is_unknown_format(const char *text) {
  static const char *const fields[] = {" cbsz:", " blgp:"};
  for (size_t i = 0; i < 2; i++) {
    const char *const at = strstr(text, fields[i]);
    if (strstr(text, "_f8f6f4") && at && at[6] > '4')
      return true;
  }
  return false;
}

/* What LLVM 22 takes for instructions, and neither older versions nor gfxsim: EXEC and null as a carry,
 * literals beside DPP, subtractions that return nothing, clamp of what cannot overflow, signs and DPP of
 * packed integers and of what classes of floats are asked for. */
static bool llvm_22_is_lax(const char *text) {
  static const char *const no_clamp[] = {"v_alignb", "v_max_", "v_min_", "v_mul_lo", "v_lsh", "v_ashr"};
  const bool packed =
      (begins(text, "v_pk_") || begins(text, "v_dot2_")) && !strstr(text, "_f16") && !strstr(text, "_f32");
  const bool carry = begins(text, "v_cndmask_b") || strstr(text, "_co_") || ends(text, " null");
  bool lax =
      (carry && (strstr(text, ", exec") || strstr(text, " null"))) ||
      (strstr(text, "lit(") && (strstr(text, " dpp8:") || strstr(text, "_mask:"))) ||
      (strstr(text, "atomic_csub") && !strstr(text, " glc")) || (packed && strstr(text, " neg_")) ||
      (begins(text, "v_writelane") && strstr(text, "src_lds_direct")) || begins(text, "v_pk_fmac_f16_") ||
      (begins(text, "v_cvt_f64_") && strstr(text, "_dpp ")) || is_unknown_format(text) ||
      (strstr(text, "_class_f16") && (strstr(text, ", neg(") || strstr(text, ", -") || strstr(text, "|")));
  for (size_t i = 0; i < sizeof no_clamp / sizeof *no_clamp; i++)
    lax = lax || (begins(text, no_clamp[i]) && !strstr(text, "_f") && strstr(text, " clamp"));
  return lax;
}

/* What LLVM 22 does not take any more: clamp of integers in SDWA. Of loads to null it takes some, and of
 * v_fma_mixlo and v_fma_mixhi with DPP not those whose third dword looks like a bad operand. */
static bool llvm_22_is_strict(const char *text) {
  return (strstr(text, "_sdwa ") && strstr(text, " clamp ")) ||
         (begins(text, "v_fma_mix") && strstr(text, "_e64_dpp ")) ||
         (begins(text, "s_") && strstr(text, "load_") && strstr(text, " null, "));
}

/* Where LLVM 16 is wrong about these parts, or says so in its text: registers of other families, scalar
 * registers where only vector ones can be (and the like), permutations that a part does not have, flags as
 * destinations. Such words are no instruction. */
static bool llvm_errs(gs_target_t target, const char *text) {
  return strstr(text, "/*") || (strstr(text, "null") && (target & GS_GFX9)) ||
         ((target & GS_GFX11) &&
          (strstr(text, "src_vccz") || strstr(text, "src_execz") || strstr(text, "src_lds_direct"))) ||
         special_for_vector(target, text) || strcmp(text, "v_illegal") == 0;
}

/* Graphics instructions of later families are unknown here, and so are operands of interpolation that LLVM 16
 * takes. */
static bool is_graphics(const char *text) {
  return strncmp(text, "v_interp", 8) == 0 || strncmp(text, "image_", 6) == 0 ||
         strncmp(text, "exp ", 4) == 0 || strncmp(text, "lds_", 4) == 0 ||
         strcmp(text, "s_endpgm_ordered_ps_done") == 0;
}

/* ---- Comparison ---- */

typedef struct comparison {
  gs_target_t target;
  sample_t *samples;
  size_t count;
  unsigned mismatches;
  unsigned long known, unknown;     /* samples on which both agree */
  unsigned long *known_of;          /* the first, for each row */
  unsigned long assembled, refused; /* texts, see ask_assembler */
  unsigned long misaligned;         /* likewise, see judge_alignment */
  unsigned long lax, deadly;        /* samples, see judge_doubt and compare */
} comparison_t;

/* Files that LLVM reads and writes. */
typedef struct files {
  char directory[32], in[64], out[64], err[64];
} files_t;

static void files_open(files_t *f) {
  strcpy(f->directory, "/tmp/gfxsim-decode-XXXXXX");
  assert_non_null(mkdtemp(f->directory));
  (void)snprintf(f->in, sizeof f->in, "%s/in", f->directory);
  (void)snprintf(f->out, sizeof f->out, "%s/out", f->directory);
  (void)snprintf(f->err, sizeof f->err, "%s/err", f->directory);
}

static void files_close(const files_t *f) {
  (void)unlink(f->in);
  (void)unlink(f->out);
  (void)unlink(f->err);
  (void)rmdir(f->directory);
}

static const char *width_option(gs_target_t target) {
  return target & GS_GFX9     ? ""
         : target & GS_WAVE32 ? " -mattr=+wavefrontsize32"
                              : " -mattr=-wavefrontsize32,+wavefrontsize64";
}

/* Runs llvm-mc from `in` to `out` and `err`, and opens those. */
static oracle_t files_run(const files_t *f, gs_target_t target, const char *options) {
  char command[512];
  (void)snprintf(command, sizeof command, "%s %s -arch=amdgcn -mcpu=%s%s %s >%s 2>%s", llvm_mc(), options,
                 llvm_version() > 16 ? gs_target_name(target) : isa_llvm_cpu(target), width_option(target),
                 f->in, f->out, f->err);
  const int status = system(command);
  enum { SEGMENTATION_FAULT = (128 + 11) << 8, TRAP = (128 + 5) << 8, NO_INSTRUCTION = 1 << 8 };
  if ((status == SEGMENTATION_FAULT || status == TRAP) && llvm_version() > 16)
    return (oracle_t){.out = NULL};
  if (status != 0 && status != NO_INSTRUCTION)
    fail_msg("%s: status %d", command, status);
  const oracle_t oracle = {.out = fopen(f->out, "r"), .err = fopen(f->err, "r")};
  assert_non_null(oracle.out);
  assert_non_null(oracle.err);
  return oracle;
}

/* The next instruction that the assembler made: LLVM's own text, and the words. */
static size_t oracle_next_encoding(oracle_t *o, char text[TEXT_BYTES], uint32_t words[3]) {
  char line[1024];
  const char *bytes = NULL;
  while (!bytes && fgets(line, sizeof line, o->out))
    bytes = strstr(line, "; encoding: [");
  if (!bytes)
    return 0;
  const char *start = line + strspn(line, " \t"), *end = strchr(start, ';');
  while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  (void)snprintf(text, TEXT_BYTES, "%.*s", (int)(end - start), start);
  bytes = strchr(bytes, '[');
  size_t count = 0;
  unsigned byte;
  memset(words, 0, 3 * sizeof *words);
  for (; count < 12 && sscanf(bytes, "%*c0x%2x", &byte) == 1; bytes += 5)
    words[count / 4] |= (uint32_t)byte << (8 * (count % 4)), count++;
  return count / 4;
}

/* A sample on whose text LLVM's assembler is asked, too. */
typedef struct question {
  const sample_t *sample;
  char *text;  /* LLVM's; gfxsim's where LLVM's disassembler takes the words for no instruction */
  char *doubt; /* what differs; NULL if nothing */
} question_t;

static char *copy_of(const char *text) {
  char *const copy = strdup(text);
  assert_non_null(copy);
  return copy;
}

/* gfxsim's text. op_sel that LLVM 16 ignores, and later versions write as halves, is cut off. */
static void text_of(gs_target_t target, const gs_inst_t *inst, char *ours) {
  (void)gs_disassemble(target, inst, ours, TEXT_BYTES);
  if (target & GS_GFX11 && inst->op && inst->op->encoding != GS_ENC_VOP3P &&
      !(inst->op->flags & GS_OPF_OP_SEL))
    llvm_text_cut(ours, " op_sel:[", "]");
}

/* What the assembler makes of the text, which may be another encoding: again gfxsim's text must be LLVM's. */
static void compare_assembled(comparison_t *c, const uint32_t *words, size_t size, const char *theirs) {
  char ours[TEXT_BYTES];
  gs_inst_t inst;
  const bool known = gs_decode(c->target, words, size, &inst);
  text_of(c->target, &inst, ours);
  if (known && inst.size == 4 * size && llvm_text_same(ours, theirs))
    c->assembled++;
  else if (strstr(theirs, "lit(")) /* LLVM 22 lets two literals of 16 bits differ, and encodes one of them */
    c->refused++;
  else if (c->mismatches++ < MISMATCHES_SHOWN)
    print_error("%s assembled %08" PRIx32 " %08" PRIx32 ": '%s', LLVM: '%s'\n", gs_target_name(c->target),
                words[0], words[1], ours, theirs);
}

/* What differs counts, unless the version is lax about it: then its assembler refuses the text, or makes
 * other words of it, because the sample's have bits that the text does not show. Version 16 is taken at its
 * word. */
static void judge_doubt(comparison_t *c, const question_t *q, const uint32_t *words, size_t size) {
  if (llvm_version() > 16 && (size == 0 || memcmp(words, q->sample->words, 4 * size) != 0))
    c->lax++;
  else if (c->mismatches++ < MISMATCHES_SHOWN)
    print_error("%s %s\n", gs_target_name(c->target), q->doubt);
}

/* Words that gfxsim does not know because of odd registers: the assembler must refuse what the disassembler
 * says, and what it refuses for alignment must be such words. Returns whether that settles it. */
static bool judge_alignment(comparison_t *c, const question_t *q, bool refused, bool of_alignment) {
  const bool misaligned = gs_is_misaligned(c->target, q->sample->words, 3);
  if (misaligned && refused) {
    c->misaligned++;
    return true;
  }
  if (misaligned != of_alignment && c->mismatches++ < MISMATCHES_SHOWN)
    print_error("%s %08" PRIx32 " %08" PRIx32 ": '%s' is%s misaligned, LLVM's assembler %s it\n",
                gs_target_name(c->target), q->sample->words[0], q->sample->words[1], q->text,
                misaligned ? "" : " not", refused ? "refuses" : "takes");
  return false;
}

/* Assembles the questions' texts. A few are refused: operands that can be encoded, but not written. */
static void ask_assembler(comparison_t *c, const question_t *questions, size_t count) {
  files_t files;
  files_open(&files);
  FILE *f = fopen(files.in, "w");
  assert_non_null(f);
  for (size_t i = 0; i < count; i++)
    (void)fprintf(f, "%s\n", questions[i].text);
  assert_int_equal(fclose(f), 0);
  oracle_t oracle = files_run(&files, c->target, "-show-encoding");
  oracle_next_error(&oracle, ": error: ");
  for (size_t i = 0; i < count; i++) {
    const question_t *const q = &questions[i];
    char theirs[TEXT_BYTES];
    uint32_t words[3];
    const bool refused = oracle.error_line == i + 1, of_alignment = refused && oracle.error_of_alignment;
    const size_t size = refused ? 0 : oracle_next_encoding(&oracle, theirs, words);
    while (oracle.error_line == i + 1)
      oracle_next_error(&oracle, ": error: ");
    if (judge_alignment(c, q, refused, of_alignment))
      continue;
    if (q->doubt)
      judge_doubt(c, q, words, size);
    else if (refused)
      c->refused++;
    else
      compare_assembled(c, words, size, theirs);
  }
  (void)fclose(oracle.out);
  (void)fclose(oracle.err);
  files_close(&files);
}

/* Whether the field of a source that a VOP3 or VOP3P instruction does not have holds 128, which LLVM 23 puts
 * there. */
static bool has_spare_zero(const gs_inst_t *inst, const uint32_t words[2]) {
  enum { VOP3 = 0x35, VOP3P = 0xcc, FIELD = 0x1ff, ZERO = 128 };
  if (words[0] >> 26 != VOP3 && words[0] >> 24 != VOP3P)
    return false;
  for (unsigned i = 0; i < 3; i++)
    if (inst->op->src[i] == GS_T_NONE && (words[1] >> 9 * i & FIELD) == ZERO)
      return true;
  return false;
}

/* Whether there is something in a field that the instruction does not have, and that hardware of gfx11 was
 * seen not to look at: LLVM takes such words for none. */
static bool has_ignored_field(const gs_inst_t *inst, const uint32_t words[2]) {
  if (inst->op->encoding == GS_ENC_DS)
    return inst->op->dst == GS_T_NONE && words[1] >> 24;
  return inst->op->encoding == GS_ENC_VOPD &&
         ((inst->op->src[1] == GS_T_NONE && (words[0] >> 9 & 0xff)) ||
          (gs_dual_opcode(inst)->src[1] == GS_T_NONE && (words[1] >> 9 & 0xff)));
}

/* Compares what both make of the sample. Returns whether there is something to ask the assembler. */
static bool compare_one(comparison_t *c, const sample_t *s, char *theirs, bool same_size, question_t *q) {
  gs_inst_t inst;
  char ours[TEXT_BYTES] = "", doubt[3 * TEXT_BYTES];
  const bool known = gs_decode(c->target, s->words, 3, &inst);
  if (known)
    text_of(c->target, &inst, ours);
  if (begins(theirs, "v_interp_p")) /* which takes its factor from scalar registers, too */
    llvm_text_cut(theirs, "/*", "*/");
  if (llvm_errs(c->target, theirs) || (!(c->target & GS_GFX9) && !known && is_graphics(theirs)))
    theirs[0] = '\0';
  if (llvm_version() > 16 && !known && (llvm_22_is_lax(theirs) || llvm_22_is_strict(theirs)))
    theirs[0] = '\0';
  if (known && !*theirs &&
      (((c->target & GS_GFX11) && has_ignored_field(&inst, s->words)) ||
       (llvm_version() > 16 && llvm_22_is_strict(ours)) ||
       (llvm_version() < 23 && (has_spare_zero(&inst, s->words) || strstr(ours, ",vcc_lo"))))) {
    c->lax++;
    return false;
  }
  const bool no_dst = strncmp(theirs, "v_cmpx", 6) == 0 || inst.op == NULL;
  if (llvm_text_same(ours, theirs) &&
      (!known || (same_size && llvm_text_same_halves(&inst, theirs, !no_dst)))) {
    c->known += known;
    c->unknown += !known;
    if (known)
      c->known_of[inst.op - gs_opcodes]++;
    if (known && inst.op->encoding == GS_ENC_VOPD && gs_dual_opcode(&inst)->number > 15)
      c->known_of[gs_dual_opcode(&inst) - gs_opcodes]++;
    *q = (question_t){s, known ? copy_of(theirs) : NULL, NULL};
    return known;
  }
  (void)snprintf(doubt, sizeof doubt, "%08" PRIx32 " %08" PRIx32 " (%u bytes): '%s', LLVM: '%s'%s",
                 s->words[0], s->words[1], s->bytes, ours, theirs, same_size ? "" : " and more or less");
  *q = (question_t){s, copy_of(*theirs ? theirs : ours), copy_of(doubt)};
  return true;
}

/* Compares samples [first, first + count); in halves where LLVM does not survive some of them. */
static void compare(comparison_t *c, size_t first, size_t count) {
  files_t files;
  files_open(&files);
  write_samples(files.in, c->target, c->samples + first, count);
  oracle_t oracle = files_run(&files, c->target, "-disassemble");
  if (!oracle.out) {
    files_close(&files);
    c->deadly += count == 1;
    if (count > 1) {
      compare(c, first, count / 2);
      compare(c, first + count / 2, count - count / 2);
    }
    return;
  }
  question_t *questions = calloc(count, sizeof *questions);
  size_t asked = 0;
  assert_non_null(questions);
  oracle_next_error(&oracle, UNKNOWN_WORDS);
  for (size_t i = 0; i < count; i++) {
    char text[TEXT_BYTES];
    const bool same_size = oracle_read(&oracle, 2 * i + 1, text);
    asked += compare_one(c, &c->samples[first + i], text, same_size, &questions[asked]);
  }
  (void)fclose(oracle.out);
  (void)fclose(oracle.err);
  files_close(&files);
  ask_assembler(c, questions, asked);
  for (size_t i = 0; i < asked; i++) {
    free(questions[i].text);
    free(questions[i].doubt);
  }
  free(questions);
}

/* Encodings of each opcode in one run of LLVM. */
enum { COMBINATIONS_AT_ONCE = 200, STRAYS_AT_ONCE = 20000 };

static size_t number_from(const char *variable, size_t otherwise) {
  const char *text = getenv(variable);
  return text ? strtoul(text, NULL, 10) : otherwise;
}
static size_t combinations(void) {
  return number_from("DECODE_COMBINATIONS", COMBINATIONS_AT_ONCE);
}

static bool is_newer(gs_target_t target, const gs_inst_t *inst) {
  char text[TEXT_BYTES];
  if (llvm_version() > 16)
    return !llvm_knows(target, inst->op);
  if (!(target & GS_GFX11))
    return false;
  (void)gs_disassemble(target, inst, text, sizeof text);
  return newer_than_llvm(inst, text);
}

/* Fills samples with `each` encodings of each opcode of the part; at most a quarter of them are no
 * instructions, where enough instructions can be found. */
static size_t make_samples(random_t *r, gs_target_t target, size_t each, sample_t *samples) {
  size_t count = 0;
  for (size_t row = 0; row < gs_opcode_count; row++) {
    const gs_opcode_t *op = &gs_opcodes[row];
    if (!(op->targets & target) || (op->flags & GS_OPF_ILLEGAL) || !llvm_knows(target, op))
      continue;
    size_t unknown = 0;
    for (size_t i = 0, tries = 0; i < each; tries++) {
      sample_t *s = &samples[count];
      gs_inst_t inst;
      random_encoding(r, target, op, s->words);
      if (upsets_llvm(target, s->words) || llvm_is_lax(target, s->words))
        continue;
      s->bytes = gs_decode(target, s->words, 3, &inst) ? inst.size : shown_of_unknown();
      if (inst.op && (inst.op->flags & GS_OPF_ILLEGAL))
        continue;
      if (inst.op && is_newer(target, &inst))
        continue;
      if (!inst.op && 4 * unknown > each && tries < 50 * each)
        continue;
      unknown += !inst.op;
      i++;
      count++;
    }
  }
  return count;
}

/* Fills samples with words of all encodings, whatever the opcode: what no row knows must be unknown to LLVM
 * too. */
static size_t make_strays(random_t *r, gs_target_t target, size_t count, sample_t *samples) {
  static const struct {
    uint32_t mask, value;
  } gfx11[] =
      {
          {0x80000000, 0x00000000}, {0xfe000000, 0x7c000000}, {0xfe000000, 0x7e000000},
          {0xc0000000, 0x80000000}, {0xf0000000, 0xb0000000}, {0xff800000, 0xbe800000},
          {0xff800000, 0xbf000000}, {0xff800000, 0xbf800000}, {0xfc000000, 0xf4000000},
          {0xfc000000, 0xd4000000}, {0xff800000, 0xcc000000}, {0xfc000000, 0xd8000000},
          {0xfc000000, 0xdc000000}, {0xfc000000, 0xe0000000}, {0xfc000000, 0xe8000000},
          {0xfc000000, 0xc8000000},
      },
    gfx10[] =
        {
            {0x80000000, 0x00000000}, {0xfe000000, 0x7c000000}, {0xfe000000, 0x7e000000},
            {0xc0000000, 0x80000000}, {0xf0000000, 0xb0000000}, {0xff800000, 0xbe800000},
            {0xff800000, 0xbf000000}, {0xff800000, 0xbf800000}, {0xfc000000, 0xf4000000},
            {0xfc000000, 0xd4000000}, {0xff800000, 0xcc000000}, {0xfc000000, 0xd8000000},
            {0xfc000000, 0xdc000000}, {0xfc000000, 0xe0000000}, {0xfc000000, 0xe8000000},
        },
    gfx9[] = {
        {0x80000000, 0x00000000}, {0xfe000000, 0x7c000000}, {0xfe000000, 0x7e000000},
        {0xc0000000, 0x80000000}, {0xf0000000, 0xb0000000}, {0xff800000, 0xbe800000},
        {0xff800000, 0xbf000000}, {0xff800000, 0xbf800000}, {0xfc000000, 0xc0000000},
        {0xfc000000, 0xd0000000}, {0xff800000, 0xd3800000}, {0xfc000000, 0xd8000000},
        {0xfc000000, 0xdc000000}, {0xfc000000, 0xe0000000}, {0xfc000000, 0xe8000000},
        {0x00000000, 0x00000000},
    };
  for (size_t i = 0; i < count;) {
    sample_t *s = &samples[i];
    const bool old = target & GS_GFX9, newest = target & GS_GFX11;
    const size_t e = random_below(r, old      ? sizeof gfx9 / sizeof *gfx9
                                     : newest ? sizeof gfx11 / sizeof *gfx11
                                              : sizeof gfx10 / sizeof *gfx10);
    const uint32_t value = old ? gfx9[e].value : newest ? gfx11[e].value : gfx10[e].value;
    const uint32_t mask = old ? gfx9[e].mask : newest ? gfx11[e].mask : gfx10[e].mask;
    gs_inst_t inst;
    s->words[0] = value | (random_bits(r) & (random_one_in(r, 2) ? UINT32_MAX : 0xffff0000u) & ~mask);
    s->words[1] = random_one_in(r, 2) ? random_bits(r) : random_one_in(r, 2) ? random_bits(r) & 0x1ff : 0;
    if (upsets_llvm(target, s->words) || llvm_is_lax(target, s->words))
      continue;
    const bool known = gs_decode(target, s->words, 3, &inst);
    s->bytes = known ? inst.size : shown_of_unknown();
    i += !known || !((inst.op->flags & GS_OPF_ILLEGAL) || is_newer(target, &inst));
  }
  return count;
}

/* Fails when an opcode had no valid encoding among its samples, and says which had the fewest. */
static void report_least(const comparison_t *c) {
  size_t least = gs_opcode_count, opcodes = 0;
  for (size_t row = 0; row < gs_opcode_count; row++) {
    const gs_opcode_t *op = &gs_opcodes[row];
    if (!(op->targets & c->target) || (op->flags & GS_OPF_ILLEGAL) || !llvm_knows(c->target, op))
      continue;
    opcodes++;
    if (least == gs_opcode_count || c->known_of[row] < c->known_of[least])
      least = row;
  }
  print_message("%s: %zu opcodes, each with at least %lu valid encodings (%s)\n", gs_target_name(c->target),
                opcodes, c->known_of[least], gs_opcodes[least].name);
  assert_in_range(c->known_of[least], combinations() / 20, ULONG_MAX);
}

static void compare_opcodes(gs_target_t target) {
  const size_t most = gs_opcode_count * COMBINATIONS_AT_ONCE + STRAYS_AT_ONCE;
  comparison_t c = {.target = target,
                    .samples = calloc(most, sizeof *c.samples),
                    .known_of = calloc(gs_opcode_count, sizeof *c.known_of)};
  random_t r = {.state = UINT64_C(0x9e3779b97f4a7c15) * target + number_from("DECODE_SEED", 0)};
  assert_non_null(c.samples);
  assert_non_null(c.known_of);
  for (size_t left = combinations(); left > 0;) {
    const size_t each = left < COMBINATIONS_AT_ONCE ? left : COMBINATIONS_AT_ONCE;
    c.count = make_samples(&r, target, each, c.samples);
    c.count += make_strays(&r, target, STRAYS_AT_ONCE, c.samples + c.count);
    compare(&c, 0, c.count);
    left -= each;
  }
  free(c.samples);
  print_message(
      "%s: %lu instructions agree, %lu other words agree, %lu texts assemble to what reads the same, "
      "%lu are refused, %lu misaligned, %lu have bits without meaning to LLVM, %lu end it, %u differ\n",
      gs_target_name(target), c.known, c.unknown, c.assembled, c.refused, c.misaligned, c.lax, c.deadly,
      c.mismatches);
  report_least(&c);
  free(c.known_of);
  assert_int_equal(c.mismatches, 0);
  assert_in_range(c.refused, 0, c.known / 10);
  assert_true((c.misaligned > 0) == ((target & GS_CDNA2_4) != 0));
}

/* Whether the oracle knows the part at all: gfx1151 came with LLVM 17, gfx950 with 20. */
static bool llvm_knows_part(gs_target_t target) {
  return llvm_version() > 16 || !(target & (GS_GFX11_5 | GS_GFX950));
}

#define TEST(target, name, bit)                                                                              \
  static void test_##target(void **state) {                                                                  \
    (void)state;                                                                                             \
    if (llvm_knows_part(target))                                                                             \
      compare_opcodes(target);                                                                               \
  }
GS_TARGETS(TEST)
#undef TEST

/* ---- Anything ---- */

/* Each opcode is found by decoding something; numbers in between are no instructions for LLVM either. */
static void test_numbers(void **state) {
  (void)state;
  for (size_t t = 0; t < GS_TARGET_COUNT; t++) {
    random_t r = {.state = 17};
    for (size_t row = 0; row < gs_opcode_count; row++) {
      const gs_opcode_t *op = &gs_opcodes[row];
      bool found = !(op->targets & gs_targets[t]) || (op->flags & GS_OPF_ILLEGAL);
      const bool second = op->encoding == GS_ENC_VOPD && op->number > 15; /* only ever the second of a pair */
      for (unsigned i = 0; i < 2000 && !found; i++) {
        uint32_t w[3];
        gs_inst_t inst;
        random_encoding(&r, gs_targets[t], op, w);
        found = gs_decode(gs_targets[t], w, 3, &inst) && (second ? gs_dual_opcode(&inst) : inst.op) == op;
      }
      if (!found)
        fail_msg("%s of %s is never decoded", op->name, gs_target_name(gs_targets[t]));
    }
  }
}

static void test_order(void **state) {
  (void)state;
  for (size_t row = 1; row < gs_opcode_count; row++) {
    const gs_opcode_t *a = &gs_opcodes[row - 1], *b = &gs_opcodes[row];
    const bool ordered = a->encoding < b->encoding || (a->encoding == b->encoding && a->number <= b->number);
    const bool same = a->encoding == b->encoding && a->number == b->number;
    if (!ordered || (same && (a->targets & b->targets)))
      fail_msg("rows %s and %s are out of order", a->name, b->name);
  }
}

static void check_anything(gs_target_t target, const uint32_t *words, size_t count) {
  gs_inst_t inst;
  char text[TEXT_BYTES], small[8];
  const bool known = gs_decode(target, words, count, &inst);
  assert_true(known == (inst.op != NULL));
  assert_null(inst.fn);
  if (!known)
    assert_int_equal(inst.size, 4);
  else
    assert_in_range(inst.size, 4, 4 * count);
  const size_t length = gs_disassemble(target, &inst, text, sizeof text);
  assert_in_range(length, 1, sizeof text - 1);
  assert_int_equal(strlen(text), length);
  assert_int_equal(gs_disassemble(target, &inst, small, sizeof small), length);
  assert_int_equal(strncmp(small, text, sizeof small - 1), 0);
}

/* As LLVM 23 encodes what has fewer than three sources; and tuples of scalar registers that end in VCC, which
 * it was the first to have. Older ones, of which one is the oracle above, know 0 only, and no such tuples. */
static void test_spare_sources(void **state) {
  static const struct {
    gs_target_t target;
    uint32_t words[2];
    const char *text; /* NULL: no instruction */
  } rows[] = {
      {GS_GFX1030, {0xd6ff0004, 0x02020682}, "v_lshlrev_b64 v[4:5], 2, v[3:4]"},
      {GS_GFX1030_W32, {0xd5690001, 0x02020702}, "v_mul_lo_u32 v1, v2, v3"},
      {GS_GFX1030, {0xd7600001, 0x02010702}, "v_readlane_b32 s1, v2, 3"},
      {GS_GFX1100, {0xd73c0004, 0x02020682}, "v_lshlrev_b64 v[4:5], 2, v[3:4]"},
      {GS_GFX1100_W32, {0xd5850001, 0x02010102}, "v_cvt_f32_i32_e64 v1, v2"},
      {GS_GFX1100, {0xd5800000, 0x02010080}, "v_nop"},
      {GS_GFX1100_W32, {0xcc0a4001, 0x1a020702}, "v_pk_add_u16 v1, v2, v3"},
      {GS_GFX1100, {0xd73c0004, 0x02060682}, NULL}, /* the constant 1 */
      {GS_GFX942, {0xd2850001, 0x02020702}, NULL},
      {GS_GFX1030, {0xf4081a02, 0xfa000010}, "s_load_dwordx4 [s104,s105,vcc_lo,vcc_hi], s[4:5], 0x10"},
      {GS_GFX1100_W32, {0xf4081a02, 0xf8000010}, "s_load_b128 [s104,s105,vcc_lo,vcc_hi], s[4:5], 0x10"},
      {GS_GFX942, {0xc00a1a02, 0x00000010}, NULL},
      {GS_GFX1100, {0xd8000000, 0x0200010a}, "ds_add_u32 v10, v1"}, /* with v2 for a destination */
      {GS_GFX1100_W32, {0xd8400000, 0x0302010a}, "ds_cmpstore_b32 v10, v1, v2"},
      {GS_GFX1030, {0xd8000000, 0x0200010a}, NULL},
      {GS_GFX1100_W32, {0xca200500, 0x02000300}, "v_dual_mov_b32 v2, v0 :: v_dual_add_nc_u32 v1, v0, v1"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char text[TEXT_BYTES];
    gs_inst_t inst;
    const bool known = gs_decode(rows[i].target, rows[i].words, 2, &inst);
    assert_int_equal(known, rows[i].text != NULL);
    if (!known)
      continue;
    (void)gs_disassemble(rows[i].target, &inst, text, sizeof text);
    assert_true(llvm_text_same(text, rows[i].text));
  }
}

static void test_anything(void **state) {
  (void)state;
  random_t r = {.state = 4711};
  for (unsigned i = 0; i < 2000000; i++) {
    const uint32_t words[3] = {random_bits(&r), random_bits(&r), random_bits(&r)};
    check_anything(gs_targets[i % GS_TARGET_COUNT], words, i / GS_TARGET_COUNT % 4);
  }
}

int main(void) {
#define ROW(target, name, bit) cmocka_unit_test(test_##target),
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_numbers),
                                     cmocka_unit_test(test_spare_sources), cmocka_unit_test(test_anything),
                                     GS_TARGETS(ROW)};
#undef ROW
  if (getenv("DECODE_PART"))
    cmocka_set_test_filter(getenv("DECODE_PART"));
  return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
