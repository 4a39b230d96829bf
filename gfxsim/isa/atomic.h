/* What the atomic instructions of global and buffer memory do to one item: host atomics, so that the host
 * program and other devices see them as such. Floating-point operations round to nearest even whatever MODE
 * says; f32 ones flush denormals before gfx942, and on gfx11 those that they read (RDNA3's manual, 13.2), on
 * f16, bf16 and f64 they keep them. Not here: LDS
 * (op_ds.c), which only one thread touches. */
#ifndef GFXSIM_ISA_ATOMIC_H
#define GFXSIM_ISA_ATOMIC_H

#include "isa/fp_atomic.h"
#include "isa/transfer.h"

#define GS_UNUSED __attribute__((unused))

/* Operations that the host has. */
#define GS_RMW_FETCH(name, bits, builtin)                                                                    \
  GS_UNUSED static uint##bits##_t gs_rmw_##name##bits(                                                       \
      uint64_t at, uint##bits##_t data, GS_UNUSED uint##bits##_t second, GS_UNUSED uint32_t mode) {          \
    return builtin((uint##bits##_t *)(uintptr_t)at, data, __ATOMIC_SEQ_CST);                                 \
  }
/* Others: `expr` makes the new value from the old one. */
#define GS_RMW_LOOP(name, bits, expr)                                                                        \
  GS_UNUSED static uint##bits##_t gs_rmw_##name##bits(                                                       \
      uint64_t at, uint##bits##_t data, GS_UNUSED uint##bits##_t second, GS_UNUSED uint32_t mode) {          \
    uint##bits##_t *item = (uint##bits##_t *)(uintptr_t)at;                                                  \
    uint##bits##_t old = __atomic_load_n(item, __ATOMIC_RELAXED), next;                                      \
    do                                                                                                       \
      next = (expr);                                                                                         \
    while (!__atomic_compare_exchange_n(item, &old, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));           \
    return old;                                                                                              \
  }
#define GS_RMW_BOTH(name, builtin)   GS_RMW_FETCH(name, 32, builtin) GS_RMW_FETCH(name, 64, builtin)
#define GS_RMW_LOOP_BOTH(name, expr) GS_RMW_LOOP(name, 32, expr) GS_RMW_LOOP(name, 64, expr)

GS_RMW_BOTH(swap, __atomic_exchange_n)
GS_RMW_BOTH(add, __atomic_fetch_add)
GS_RMW_BOTH(sub, __atomic_fetch_sub)
GS_RMW_BOTH(and, __atomic_fetch_and)
GS_RMW_BOTH(or, __atomic_fetch_or)
GS_RMW_BOTH(xor, __atomic_fetch_xor)
GS_RMW_LOOP_BOTH(umin, data < old ? data : old)
GS_RMW_LOOP_BOTH(umax, data > old ? data : old)
GS_RMW_LOOP_BOTH(inc, old >= data ? 0 : old + 1)
GS_RMW_LOOP_BOTH(dec, old == 0 || old > data ? data : old - 1)
GS_RMW_LOOP(smin, 32, (int32_t)data < (int32_t)old ? data : old)
GS_RMW_LOOP(smin, 64, (int64_t)data < (int64_t)old ? data : old)
GS_RMW_LOOP(smax, 32, (int32_t)data > (int32_t)old ? data : old)
GS_RMW_LOOP(smax, 64, (int64_t)data > (int64_t)old ? data : old)
GS_RMW_LOOP(add_f, 32, gs_fp_add32(old, data, 0))
GS_RMW_LOOP(add_kept_f, 32, gs_fp_add32(old, data, GS_FP_KEEP_DENORMALS))
GS_RMW_LOOP(add_denormal_f, 32, gs_fp_add32(old, data, GS_FP_KEEP_OUTPUTS))
GS_RMW_LOOP(pk_add_bf16_, 32, gs_fp_pk_add_bf16(old, data))
GS_RMW_LOOP(pk_add_f16_, 32, gs_fp_pk_add16(old, data))
GS_RMW_LOOP(add_f, 64, gs_fp_add64(old, data, GS_FP_KEEP_DENORMALS))
GS_RMW_LOOP(min_f, 64, gs_fp_min64(old, data, GS_FP_KEEP_DENORMALS))
GS_RMW_LOOP(max_f, 64, gs_fp_max64(old, data, GS_FP_KEEP_DENORMALS))

GS_RMW_LOOP(min_f, 32, gs_fp_min32(old, data, GS_FP_KEEP_DENORMALS))
GS_RMW_LOOP(max_f, 32, gs_fp_max32(old, data, GS_FP_KEEP_DENORMALS))
GS_RMW_LOOP(cmpswap_f, 32, gs_fp_equal32(old, second, GS_FP_KEEP_DENORMALS) ? data : old)
GS_RMW_LOOP(cmpswap_f, 64, gs_fp_equal64(old, second, GS_FP_KEEP_DENORMALS) ? data : old)
GS_RMW_LOOP(csub, 32, old < data ? 0 : old - data)

/* `data` is the new value, `second` what is expected. */
#define GS_RMW_CMPSWAP(bits)                                                                                 \
  GS_UNUSED static uint##bits##_t gs_rmw_cmpswap##bits(uint64_t at, uint##bits##_t data,                     \
                                                       uint##bits##_t second, GS_UNUSED uint32_t mode) {     \
    uint##bits##_t *item = (uint##bits##_t *)(uintptr_t)at;                                                  \
    __atomic_compare_exchange_n(item, &second, data, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                 \
    return second;                                                                                           \
  }
GS_RMW_CMPSWAP(32)
GS_RMW_CMPSWAP(64)

#endif
