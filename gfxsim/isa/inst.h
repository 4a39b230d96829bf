/* The decoded instruction: the seam between encodings (decode.c, below) and everything that looks at
 * instructions (execution, disassembly, traces, above). Nothing above this header knows bit positions of an
 * encoding. Not here: what instructions do (op_*.c), and the tables of opcodes (ops.def). */
#ifndef GFXSIM_ISA_INST_H
#define GFXSIM_ISA_INST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/target.h"

struct gs_wave;
struct gs_inst;

/* Executes one instruction for one wave. The program counter already points to the next instruction. */
typedef void gs_op_fn_t(struct gs_wave *wave, const struct gs_inst *inst);

typedef enum gs_encoding {
  GS_ENC_SOP1,
  GS_ENC_SOP2,
  GS_ENC_SOPK,
  GS_ENC_SOPC,
  GS_ENC_SOPP,
  GS_ENC_SMEM,
  GS_ENC_VOP1, /* these three also exist in VOP3, SDWA and DPP form; one row in ops.def serves all forms */
  GS_ENC_VOP2,
  GS_ENC_VOPC,
  GS_ENC_VOP3,
  GS_ENC_VOP3P,
  GS_ENC_VINTERP, /* interpolation of gfx11: arithmetic on registers */
  GS_ENC_VOPD,    /* pairs of gfx11: one row for each part, by its number */
  GS_ENC_DS,
  GS_ENC_FLAT,
  GS_ENC_GLOBAL,
  GS_ENC_SCRATCH,
  GS_ENC_MUBUF,
  GS_ENC_MTBUF,
  GS_ENC_VINTRP, /* interpolation before gfx11; from here on graphics only: never executable */
  GS_ENC_MIMG,
  GS_ENC_EXP,
  GS_ENC_COUNT
} gs_encoding_t;

/* The form in which an instruction was encoded, for the disassembler's suffix and for traces. */
typedef enum gs_form { GS_FORM_NATIVE, GS_FORM_VOP3, GS_FORM_SDWA, GS_FORM_DPP } gs_form_t;

/* What an operand holds: decides its width in registers and how a constant is expanded.
 * A line per width. */
/* clang-format off */
typedef enum gs_type {
  GS_T_NONE,
  GS_T_B16, GS_T_I16, GS_T_U16, GS_T_F16, GS_T_BF16,
  GS_T_V2B16, GS_T_V2F16, GS_T_V2BF16, /* two 16-bit values in one register */
  GS_T_B32, GS_T_I32, GS_T_U32, GS_T_F32,
  GS_T_MIX, /* a float, or one half of a register, by op_sel_hi (v_fma_mix_f32 and friends) */
  GS_T_B64, GS_T_I64, GS_T_U64, GS_T_F64,
  GS_T_V2B32, GS_T_V2F32, /* two 32-bit values in a register pair */
  GS_T_MASK, /* one bit per lane: 64-bit scalar */
  GS_T_B96, GS_T_B128, GS_T_B192, GS_T_B256, GS_T_B512, GS_T_B1024,
  GS_T_F64X4,  /* four doubles: accumulators of v_mfma_f64_16x16x4f64 */
  GS_T_PROBE,  /* number in the data field of s_atc_probe */
  GS_T_LANE,   /* scalar lane number of v_readlane and v_writelane */
  GS_T_SIMM16, /* 16-bit immediate of SOPK and SOPP */
  GS_T_HWREG,  /* hwreg(id, offset, size) in the 16-bit immediate */
  GS_T_BRANCH, /* signed dword offset in the 16-bit immediate */
  GS_T_K32,    /* 32-bit literal that follows the instruction (v_madmk_f32 etc.) */
  GS_T_COUNT
} gs_type_t;
/* clang-format on */

/* Number of 32-bit registers that an operand of this type occupies (0 for immediates). */
unsigned gs_type_dwords(gs_type_t type);

struct gs_inst;
/* The same of source `i` of an instruction: of factors whose format the instruction itself says, those that
 * it takes. */
unsigned gs_source_dwords(const struct gs_inst *inst, unsigned i);

/* Properties of an opcode that the decoder, the disassembler and the tests need. */
enum {
  GS_OPF_SCALAR_DST = 1 << 0, /* VOP1/VOP3 whose destination is scalar: v_readfirstlane, v_readlane */
  GS_OPF_SDST = 1 << 1,       /* VOP2/VOP3 with a carry or mask output besides vdst (VCC in the VOP2 form) */
  GS_OPF_VCC_IN = 1 << 2,     /* VOP2 that reads a mask: VCC in the VOP2 form, src2 in the VOP3 form */
  GS_OPF_ACC_DST = 1 << 3,    /* reads its destination as an operand too (mac, fmac, dot2c, ...) */
  GS_OPF_CMPX = 1 << 4,       /* VOPC that also writes EXEC */
  GS_OPF_STORE = 1 << 5,      /* memory: no destination unless returned */
  GS_OPF_ATOMIC = 1 << 6,     /* memory: returns the old value when glc is set (DS: GS_OPF_RTN) */
  GS_OPF_RTN = 1 << 7,        /* DS atomic with return */
  GS_OPF_D16_LO = 1 << 8,     /* loads the low half; the high one stays, or is 0 */
  GS_OPF_D16_HI = 1 << 9,     /* loads or stores the high half */
  GS_OPF_PRESERVE_HI = 1 << 10, /* 16-bit result that keeps bits 31:16 of the destination */
  GS_OPF_ILLEGAL = 1 << 11,     /* known by name, not executable in a compute shader: decodes, then faults */
  GS_OPF_NO_SDWA = 1 << 12,
  GS_OPF_NO_DPP = 1 << 13,
  GS_OPF_NO_VOP3 = 1 << 14,
  GS_OPF_TWO_ADDR = 1 << 15,   /* DS with two 8-bit offsets */
  GS_OPF_D16 = 1 << 16,        /* formatted access to halves, packed two to a register */
  GS_OPF_MFMA = 1 << 17,       /* matrix instruction: cbsz, abid and blgp instead of op_sel and neg */
  GS_OPF_CLAMP = 1 << 18,      /* the VOP3 form may clamp (the SDWA form always may) */
  GS_OPF_OMOD = 1 << 19,       /* the VOP3 form may scale its result (the SDWA form, if that is a float) */
  GS_OPF_OP_SEL = 1 << 20,     /* the VOP3 form selects halves of 16-bit operands */
  GS_OPF_LOOSE_MODS = 1 << 21, /* neg and abs bits may be set, without effect */
  GS_OPF_LDS = 1 << 22,        /* memory: may move data to or from LDS instead of a register */
  GS_OPF_GDS = 1 << 23,        /* DS: only for the global data share */
  GS_OPF_NO_GDS = 1 << 24,     /* DS: never for the global data share */
  GS_OPF_ACC_FILE = 1 << 25,   /* the destination is an accumulation register */
  GS_OPF_REG_SRC = 1 << 26,    /* the source cannot be a constant */
  GS_OPF_NO_RTN = 1 << 27,     /* memory atomic that cannot return the old value */
  GS_OPF_TO_LDS = 1 << 28,     /* memory: loads to LDS, and has no destination */
  GS_OPF_SPARSE = 1 << 29,     /* matrix instruction that adds to D, and whose third source is an index */
  GS_OPF_SRC_SEL = 1 << 30,    /* the SDWA form selects a part of the source, and nothing else */
  /* Of VOP3P, so that it can have the bit of GS_OPF_TO_LDS: matrix instruction of gfx11, whose neg says what
   * is signed, or what changes signs. */
  GS_OPF_WMMA = 1 << 28,
  /* Of VOP2 and VOP3, so that it can have the bit of GS_OPF_GDS: the sequencer exchanges the sources of what
   * is reversed, and DPP permutes the one that is then the first. */
  GS_OPF_REVERSED = 1 << 23,
};

/* One row of ops.def. Immutable. */
typedef struct gs_opcode {
  const char *name; /* mnemonic without encoding suffix, as LLVM prints it */
  uint8_t encoding; /* gs_encoding_t */
  uint16_t targets; /* set of gs_target_t */
  uint16_t number;  /* opcode within the encoding */
  uint32_t flags;   /* GS_OPF_* */
  uint8_t dst;      /* gs_type_t */
  uint8_t src[3];   /* gs_type_t */
} gs_opcode_t;

/* Where a source operand comes from. */
typedef enum gs_src_kind {
  GS_SRC_NONE,
  GS_SRC_VGPR,    /* vector register `reg`; accumulation registers are 256 and up */
  GS_SRC_SGPR,    /* scalar register by its operand number 0..127: SGPRs, VCC, M0, EXEC, ... */
  GS_SRC_CONST,   /* inline constant or literal, expanded in `value` */
  GS_SRC_SPECIAL, /* computed at execution: operand number in `reg` (apertures, VCCZ, EXECZ, SCC, LDS_DIRECT)
                   */
} gs_src_kind_t;

enum {
  GS_MOD_NEG = 1,
  GS_MOD_ABS = 2,
  GS_MOD_SEXT = 4,  /* SDWA: sign-extend the selected part */
  GS_MOD_HI = 8,    /* op_sel of a 16-bit source: take bits 31:16 */
  GS_MOD_SDWA = 16, /* select by inst->sdwa.src_sel */
  GS_MOD_DPP = 32,  /* permute lanes by inst->dpp */
};

/* A source operand. A plain one has mods == 0.
 * Constants are expanded for the operand's type: integers are sign-extended to 32 or 64 bits. Floats are
 * doubles for 64-bit types, halves (with zeroes above) for F16 and V2F16 (twice on gfx11, but for VOP3P),
 * else floats, for 16-bit integers too; V2F32 and V2B32 have them in the low dword. A literal is the high
 * dword of a double and is sign-extended for I64. */
typedef struct gs_src {
  uint64_t value; /* GS_SRC_CONST: bits as the operand's type wants them (32-bit types in the low half) */
  uint16_t reg;   /* register or operand number; of constants the operand number too, 255 for a literal */
  uint8_t kind;   /* gs_src_kind_t */
  uint8_t mods;   /* GS_MOD_* */
} gs_src_t;

/* dpp.ctrl of DPP8, whose lane numbers are in imm1. */
enum { GS_DPP_EIGHT = 0x200 };

/* SDWA selectors. */
enum { GS_SEL_BYTE0, GS_SEL_BYTE1, GS_SEL_BYTE2, GS_SEL_BYTE3, GS_SEL_WORD0, GS_SEL_WORD1, GS_SEL_DWORD };
enum { GS_UNUSED_PAD, GS_UNUSED_SEXT, GS_UNUSED_PRESERVE };

/* First bit and number of bits of a selection. */
typedef struct gs_field {
  uint8_t shift, bits;
} gs_field_t;

static inline gs_field_t gs_sdwa_field(unsigned sel) {
  static const gs_field_t fields[] = {
      [GS_SEL_BYTE0] = {0, 8},  [GS_SEL_BYTE1] = {8, 8},   [GS_SEL_BYTE2] = {16, 8}, [GS_SEL_BYTE3] = {24, 8},
      [GS_SEL_WORD0] = {0, 16}, [GS_SEL_WORD1] = {16, 16}, [GS_SEL_DWORD] = {0, 32},
  };
  return fields[sel < sizeof fields / sizeof fields[0] ? sel : GS_SEL_DWORD];
}

/* A decoded instruction. Which operands mean what, by encoding:
 *   SOP*, VOP*     dst, src[0..2] as in the ISA text; sdst = carry or mask output (comparisons have it in dst
 * as well) SOPK           comparisons and s_setreg have no dst; their register is src[0]. imm = immediate;
 * the literal of s_setreg_imm32 is src[0] SOPC           s_set_gpr_idx_on: imm = the four enable bits v_madmk
 * src[1] is the literal; v_madak: src[2] SMEM           dst = sdata, src[0] = sbase, src[1] = scalar offset
 * (or NONE), imm = byte offset DS             dst = vdst, src[0] = addr, src[1] = data0, src[2] = data1, imm
 * = offset (TWO_ADDR: offset0, imm1) FLAT & co.     dst = vdst, src[0] = vaddr, src[1] = data, src[2] = saddr
 * (or NONE), imm = offset MUBUF, MTBUF   dst = vdata (source of stores and atomics too), src[0] = vaddr (or
 * NONE), src[1] = srsrc, src[2] = soffset, imm = offset
 *   v_bitop3       imm = the truth table: bit 4 * a + 2 * b + c
 *   VINTERP        as VOP3; imm = exports that may be outstanding
 *   VOPD           op, dst = first part's; sdst = second part's dst, gs_dual_opcode its row; src[0], src[1] =
 * first sources of the parts, imm, imm1 (low byte) = numbers of the vector registers that are their second
 * ones; src[2] = literal of either */
typedef struct gs_inst {
  /* What most handlers look at, in one cache line. */
  _Alignas(64) gs_op_fn_t *fn;
  gs_src_t src[3];
  uint16_t dst;   /* VGPR number (AGPRs from 256), or scalar operand number */
  uint16_t sdst;  /* scalar operand number of the mask or carry output */
  uint8_t size;   /* bytes: 4, 8 or 12 */
  uint8_t form;   /* gs_form_t */
  bool plain_dst; /* no omod, clamp, SDWA selection, DPP, dst_hi or PRESERVE_HI: the result goes to dst as it
                     is */
  bool cmpx;      /* GS_OPF_CMPX: a comparison that also writes EXEC */

  const gs_opcode_t *op; /* NULL for words that are no instruction */
  int32_t imm;           /* immediate or offset, sign- or zero-extended as the opcode wants it */
  uint32_t imm1;    /* DS: second offset; MTBUF: format (dfmt | nfmt << 4 | number in later families << 8);
                       DPP8: lane numbers of three bits; SOPP: s_waitcnt's vm; VOPD: see there */
  uint32_t word[2]; /* the first two dwords, as found */
  uint8_t omod;     /* 0 none, 1 *2, 2 *4, 3 /2 */
  bool clamp;
  bool dst_hi; /* op_sel of a 16-bit destination: write bits 31:16, keep 15:0 */
  bool glc, slc, dlc, scc, lds, gds, tfe, offen, idxen, nv;
  bool has_imm; /* SMEM: has an immediate offset, perhaps beside a scalar one */
  /* VOP3P, one bit per source; for MIX operands neg_hi is abs. Sources have no mods there. In VOP3, op_sel as
   * encoded and neg_lo for integer sources whose neg bit is set, which matters to nobody but the
   * disassembler. */
  uint8_t op_sel, op_sel_hi, neg_lo, neg_hi;
  uint8_t cbsz, abid, blgp; /* MFMA */
  struct {
    uint16_t ctrl;
    uint8_t row_mask, bank_mask;
    bool bound_ctrl;     /* lanes without a source read 0 instead of keeping their destination */
    bool fetch_inactive; /* lanes that are not active are sources too */
  } dpp;
  struct {
    uint8_t dst_sel, dst_unused, src_sel[2];
  } sdwa;
} gs_inst_t;
static_assert(offsetof(gs_inst_t, op) == 64 && sizeof(gs_inst_t) == 128,
              "instructions are laid out for cache lines");

/* Decodes the instruction in words[0..count), at most 3 of which are looked at. Always fills `inst`: words
 * that are no instruction of the target, or are cut off, give op = NULL, fn = NULL and size 4. `fn` is left
 * NULL; see ops.h. Pure; thread-safe. Returns whether the instruction is known. */
bool gs_decode(gs_target_t target, const uint32_t *words, size_t count, gs_inst_t *inst);

/* Writes the instruction as LLVM's assembler spells it into text[0..size) (always terminated). Pure;
 * thread-safe. Returns the length that the whole text has. */
size_t gs_disassemble(gs_target_t target, const gs_inst_t *inst, char *text, size_t size);

/* Later families than gfx9 have one number for data format and number format of buffers: both, as
 * dfmt | nfmt << 4, or 0 for numbers without format. Pure; thread-safe. */
unsigned gs_format_of_unified(gs_target_t target, unsigned number);

/* How many accesses of each kind an instruction lets be outstanding. gfx9 counts stores as vm. */
typedef struct gs_wait_counts {
  uint8_t vm, exp, lgkm, vs; /* as the ISA text has them: vector memory, exports, scalars and LDS, stores */
} gs_wait_counts_t;
/* The greatest numbers of the target, with which nothing is waited for. Pure; thread-safe. */
gs_wait_counts_t gs_wait_counts_none(gs_target_t target);
/* What s_waitcnt with this immediate waits for. Pure; thread-safe. */
gs_wait_counts_t gs_wait_counts_of(gs_target_t target, uint32_t imm);

/* Whether the modifiers of an opcode are the bits of a truth table, which is in `imm` then: v_bitop3. */
static inline bool gs_is_truth_table(const gs_opcode_t *op) {
  return op->encoding == GS_ENC_VOP3 && (op->number == 563 || op->number == 564);
}

/* All rows of ops.def, in order. */
extern const gs_opcode_t gs_opcodes[];
extern const size_t gs_opcode_count;

/* The second part of a VOPD instruction. */
static inline const gs_opcode_t *gs_dual_opcode(const gs_inst_t *inst) {
  return &gs_opcodes[inst->imm1 >> 8];
}

#endif
