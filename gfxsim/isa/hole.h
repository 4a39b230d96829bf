/* What stencils have in place of the registers and constants of an instruction: holes, which are filled when
 * code is translated. Each is the address of a symbol that nobody defines, and whose name says what belongs
 * there; the compiler leaves a relocation for it, which mkstencils turns into a patch. A register number in a
 * stencil says which operand it is (GS_HOLE_SRC0 and so on, plus the register of a pair), and the accessors
 * here put a hole where those of isa/wave.h have a number. Not here: making stencils (stencil.h). */
#ifndef GFXSIM_ISA_HOLE_H
#define GFXSIM_ISA_HOLE_H

/* Scalar instructions and what goes with them may have scalar registers in the host's, which takes a compiler
 * that leaves those alone. */
#if !defined(__clang__) && (defined(GS_STENCIL_ANY) || defined(GS_STENCIL_DEAD) || defined(GS_STENCIL_ONE))
#define GS_STENCIL_CACHED
#endif

enum { GS_HOLE_SRC0 = 0x1000, GS_HOLE_SRC1 = 0x2000, GS_HOLE_SRC2 = 0x3000, GS_HOLE_DST = 0x4000 };
enum { GS_HOLE_SDST = 0x5000, GS_HOLE_SHIFT = 12, GS_HOLE_NEXT = 0xfff };

#define GS_IN_STENCIL static inline __attribute__((always_inline, unused))

/* Called where a stencil would need what is no hole: mkstencils refuses it by this name. */
void gs_stencil_cannot(void);

/* One statement for each operand; `do_one` takes the operand's name in holes. */
#define GS_HOLE_SWITCH(reg, do_one)                                                                          \
  switch ((reg) >> GS_HOLE_SHIFT) {                                                                          \
  case 1: do_one("src0"); break;                                                                             \
  case 2: do_one("src1"); break;                                                                             \
  case 3: do_one("src2"); break;                                                                             \
  case 4: do_one("dst"); break;                                                                              \
  case 5: do_one("sdst"); break;                                                                             \
  default: gs_stencil_cannot(); __builtin_unreachable();                                                     \
  }

/* Numbers that are known when code is translated. */
#define GS_HOLE_64(name)                                                                                     \
  __extension__({                                                                                            \
    uint64_t gs_number;                                                                                      \
    __asm__("movabsq $gs_hole_" #name ", %0" : "=r"(gs_number));                                             \
    gs_number;                                                                                               \
  })
#define GS_HOLE_32(name)                                                                                     \
  __extension__({                                                                                            \
    uint32_t gs_number;                                                                                      \
    __asm__("movl $gs_hole_" #name ", %0" : "=r"(gs_number));                                                \
    gs_number;                                                                                               \
  })

/* One of 32 bits that is used as one of 64. */
#define GS_HOLE_INDEX(name)                                                                                  \
  __extension__({                                                                                            \
    uint64_t gs_number;                                                                                      \
    __asm__("movl $gs_hole_" #name ", %k0" : "=r"(gs_number));                                               \
    gs_number;                                                                                               \
  })

/* The constant that operand `i` is, and the instruction's immediate. */
GS_IN_STENCIL uint64_t gs_constant(const gs_inst_t *in, unsigned i) {
  (void)in;
  switch (i) {
  case 0: return GS_HOLE_64(value_src0);
  case 1: return GS_HOLE_64(value_src1);
  default: return GS_HOLE_64(value_src2);
  }
}
GS_IN_STENCIL uint32_t gs_constant32(const gs_inst_t *in, unsigned i) {
  (void)in;
  switch (i) {
  case 0: return GS_HOLE_32(value_src0);
  case 1: return GS_HOLE_32(value_src1);
  default: return GS_HOLE_32(value_src2);
  }
}
/* How operand `i` is changed by its modifiers: which bits it keeps, which it flips, and how far it is shifted
 * down before. */
typedef struct gs_change {
  uint32_t keep, flip, shift;
} gs_change_t;
GS_IN_STENCIL gs_change_t gs_change(unsigned i) {
  switch (i) {
  case 0: return (gs_change_t){GS_HOLE_32(keep_src0), GS_HOLE_32(flip_src0), GS_HOLE_32(shift_src0)};
  case 1: return (gs_change_t){GS_HOLE_32(keep_src1), GS_HOLE_32(flip_src1), GS_HOLE_32(shift_src1)};
  default: return (gs_change_t){GS_HOLE_32(keep_src2), GS_HOLE_32(flip_src2), GS_HOLE_32(shift_src2)};
  }
}
GS_IN_STENCIL int32_t gs_immediate(const gs_inst_t *in) {
  (void)in;
  return (int32_t)GS_HOLE_32(imm);
}
/* With its sign, added to an address. */
GS_IN_STENCIL uint64_t gs_plus_immediate(uint64_t address) {
  uint64_t sum;
  __asm__("leaq gs_hole_imm(%1), %0" : "=r"(sum) : "r"(address));
  return sum;
}
/* One or two dwords so far from `base` and `delta`, in one access. Address arithmetic is part of the load:
 * who walks a list waits for the sum of both. */
GS_IN_STENCIL uint64_t gs_guest_fetch(uint64_t delta, uint64_t base, unsigned dwords) {
  uint64_t value;
  if (dwords == 2)
    __asm__ volatile("movq gs_hole_imm(%1,%2), %0" : "=r"(value) : "r"(delta), "r"(base) : "memory");
  else
    __asm__ volatile("movl gs_hole_imm(%1,%2), %k0" : "=r"(value) : "r"(delta), "r"(base) : "memory");
  return value;
}
GS_IN_STENCIL uint32_t gs_immediate1(const gs_inst_t *in) {
  (void)in;
  return GS_HOLE_32(imm1);
}

/* Sixteen lanes at a time, or eight: stencils of strips (translate/strip.h). The rows of these lanes, and the
 * scalar registers' bits of them, are at addresses that two registers of the host hold. Registers of the wave
 * are symbols' addresses, so that each access has its register's place as displacement. */
#if !defined(__clang__) && (defined(GS_STENCIL_STRIP) || defined(GS_STENCIL_CACHED))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
register char *gs_strip_rows __asm__("r14");
register char *gs_strip_masks __asm__("r15");
/* One lane: its place in the first row is where strips have their rows, and EXEC, which is its bit, is where
 * they have masks. */
#define gs_one_bit_of_exec ((uint64_t)(uintptr_t)gs_strip_masks)
#pragma GCC diagnostic pop
#endif

#if defined(GS_STENCIL_STRIP)
#if GS_WIDTH == 16
typedef uint16_t gs_strip_bits_t;
#else
typedef uint8_t gs_strip_bits_t;
#endif
#endif

#if defined(GS_STENCIL_STRIP) || defined(GS_STENCIL_ONE)

#define GS_STRIP_HOLES(kind)                                                                                 \
  extern const char gs_hole_##kind##_src0[], gs_hole_##kind##_src1[], gs_hole_##kind##_src2[],               \
      gs_hole_##kind##_dst[], gs_hole_##kind##_sdst[];                                                       \
  GS_IN_STENCIL uintptr_t gs_strip_##kind(unsigned reg) {                                                    \
    switch (reg >> GS_HOLE_SHIFT) {                                                                          \
    case 1: return (uintptr_t)gs_hole_##kind##_src0;                                                         \
    case 2: return (uintptr_t)gs_hole_##kind##_src1;                                                         \
    case 3: return (uintptr_t)gs_hole_##kind##_src2;                                                         \
    case 4: return (uintptr_t)gs_hole_##kind##_dst;                                                          \
    case 5: return (uintptr_t)gs_hole_##kind##_sdst;                                                         \
    default: gs_stencil_cannot(); __builtin_unreachable();                                                   \
    }                                                                                                        \
  }
GS_STRIP_HOLES(row)
#ifdef GS_STENCIL_STRIP
GS_STRIP_HOLES(sgpr)
#endif
#undef GS_STRIP_HOLES

GS_IN_STENCIL gs_row_t *gs_row(const gs_wave_t *w, unsigned reg) {
  (void)w;
  return (gs_row_t *)(void *)(gs_strip_rows + gs_strip_row(reg)) + (reg & GS_HOLE_NEXT);
}
#ifdef GS_STENCIL_STRIP
/* The lanes' bits of a mask. Parts of registers are written, and read as such right behind it. */
GS_IN_STENCIL uint64_t gs_read_mask(const gs_wave_t *w, unsigned reg) {
  (void)w;
  return *(const volatile gs_strip_bits_t *)(gs_strip_masks + gs_strip_sgpr(reg));
}
GS_IN_STENCIL void gs_write_mask(gs_wave_t *w, unsigned reg, uint64_t mask) {
  (void)w;
  *(volatile gs_strip_bits_t *)(gs_strip_masks + gs_strip_sgpr(reg)) = (gs_strip_bits_t)mask;
}
#endif
#else
/* The row of a vector register. Where the rows are does not change: no store makes the compiler look again.
 */
GS_IN_STENCIL gs_row_t *gs_row(const gs_wave_t *w, unsigned reg) {
  gs_row_t *row, *rows;
  __asm__("movq %c1(%2), %0" : "=r"(rows) : "i"(offsetof(gs_wave_t, v)), "r"(w));
#define GS_HOLE_ROW(operand) __asm__("lea gs_hole_row_" operand "(%1), %0" : "=r"(row) : "r"(rows))
  GS_HOLE_SWITCH(reg, GS_HOLE_ROW)
#undef GS_HOLE_ROW
  return row + (reg & GS_HOLE_NEXT);
}
#endif

/* Where scalar registers are, for whoever writes several of them and reads none. */
GS_IN_STENCIL uint32_t *gs_sgprs(gs_wave_t *w, unsigned reg) {
  uint32_t *first;
#define GS_HOLE_SGPRS(operand) __asm__("lea gs_hole_sgpr_" operand "(%1), %0" : "=r"(first) : "r"(w))
  GS_HOLE_SWITCH(reg, GS_HOLE_SGPRS)
#undef GS_HOLE_SGPRS
  return first;
}

/* Scalar registers and SCC. The statements say that they read or change any of them. Where the host's
 * registers may stand in for them (translate/cache.h), each is a move that has the same size with a register
 * in place of memory: a prefix that is not needed otherwise, opcode, ModRM, and the displacement from %rdi.
 */
#ifdef GS_STENCIL_CACHED
#define GS_SCALAR_MOVE "{rex} movl "
#define GS_SCALAR_BASE "D"
#else
#define GS_SCALAR_MOVE "movl "
#define GS_SCALAR_BASE "r"
#endif
GS_IN_STENCIL uint32_t gs_read_sgpr32(const gs_wave_t *w, unsigned reg) {
  uint32_t value;
#define GS_HOLE_READ(operand)                                                                                \
  __asm__(GS_SCALAR_MOVE "gs_hole_sgpr_" operand "(%1), %0" : "=r"(value) : GS_SCALAR_BASE(w), "m"(w->s))
#define GS_HOLE_READ_NEXT(operand)                                                                           \
  __asm__(GS_SCALAR_MOVE "gs_hole_sgpr_" operand "+4(%1), %0" : "=r"(value) : GS_SCALAR_BASE(w), "m"(w->s))
  if (reg & GS_HOLE_NEXT) {
    GS_HOLE_SWITCH(reg, GS_HOLE_READ_NEXT)
  } else {
    GS_HOLE_SWITCH(reg, GS_HOLE_READ)
  }
#undef GS_HOLE_READ
#undef GS_HOLE_READ_NEXT
  return value;
}
GS_IN_STENCIL void gs_write_sgpr32(gs_wave_t *w, unsigned reg, uint32_t value) {
#define GS_HOLE_WRITE(operand)                                                                               \
  __asm__(GS_SCALAR_MOVE "%1, gs_hole_sgpr_" operand "(%2)" : "+m"(w->s) : "r"(value), GS_SCALAR_BASE(w))
#define GS_HOLE_WRITE_NEXT(operand)                                                                          \
  __asm__(GS_SCALAR_MOVE "%1, gs_hole_sgpr_" operand "+4(%2)" : "+m"(w->s) : "r"(value), GS_SCALAR_BASE(w))
  if (reg & GS_HOLE_NEXT) {
    GS_HOLE_SWITCH(reg, GS_HOLE_WRITE_NEXT)
  } else {
    GS_HOLE_SWITCH(reg, GS_HOLE_WRITE)
  }
#undef GS_HOLE_WRITE
#undef GS_HOLE_WRITE_NEXT
}
/* Pairs begin with an operand's own register. Where all of it goes through memory, they are read by halves:
 * these may have been written one by one, just before. */
#ifdef GS_STENCIL_CACHED
GS_IN_STENCIL uint64_t gs_read_sgpr64(const gs_wave_t *w, unsigned reg) {
  uint64_t value;
#define GS_HOLE_READ(operand)                                                                                \
  __asm__("movq gs_hole_sgpr_" operand "(%1), %0" : "=r"(value) : GS_SCALAR_BASE(w), "m"(w->s))
  GS_HOLE_SWITCH(reg, GS_HOLE_READ)
#undef GS_HOLE_READ
  return value;
}
GS_IN_STENCIL void gs_write_sgpr64(gs_wave_t *w, unsigned reg, uint64_t value){
#define GS_HOLE_WRITE(operand)                                                                               \
  __asm__("movq %1, gs_hole_sgpr_" operand "(%2)" : "+m"(w->s) : "r"(value), GS_SCALAR_BASE(w))
    GS_HOLE_SWITCH(reg, GS_HOLE_WRITE)
#undef GS_HOLE_WRITE
} GS_IN_STENCIL uint32_t gs_read_scc(const gs_wave_t *w) {
  uint32_t value;
  __asm__(GS_SCALAR_MOVE "gs_hole_scc(%1), %0" : "=r"(value) : GS_SCALAR_BASE(w), "m"(w->scc));
  return value;
}
/* Of GS_STENCIL_DEAD nobody reads what is written. */
GS_IN_STENCIL void gs_write_scc(gs_wave_t *w, uint32_t scc) {
#ifdef GS_STENCIL_DEAD
  (void)w;
  (void)scc;
#else
  __asm__(GS_SCALAR_MOVE "%1, gs_hole_scc(%2)" : "+m"(w->scc) : "r"(scc), GS_SCALAR_BASE(w));
#endif
}
#else
GS_IN_STENCIL uint64_t gs_read_sgpr64(const gs_wave_t *w, unsigned reg) {
  return gs_read_sgpr32(w, reg) | (uint64_t)gs_read_sgpr32(w, reg + 1) << 32;
}
GS_IN_STENCIL void gs_write_sgpr64(gs_wave_t *w, unsigned reg, uint64_t value){
#define GS_HOLE_WRITE(operand)                                                                               \
  __asm__("movq %1, gs_hole_sgpr_" operand "(%2)" : "+m"(w->s) : "r"(value), "r"(w))
    GS_HOLE_SWITCH(reg, GS_HOLE_WRITE)
#undef GS_HOLE_WRITE
} GS_IN_STENCIL uint32_t gs_read_scc(const gs_wave_t *w) {
  return w->scc;
}
GS_IN_STENCIL void gs_write_scc(gs_wave_t *w, uint32_t scc) {
  w->scc = scc;
}
#endif

/* A pair with a fixed place, which masks of lanes are written to as a whole. */
GS_IN_STENCIL uint64_t gs_read_pair(const gs_wave_t *w, unsigned reg) {
  return w->s.u64[reg / 2];
}

#endif
