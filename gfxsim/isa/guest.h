/* Single accesses to guest memory. Kernels share memory with the host program and with each other and may
 * race by design, so each access is one host access of its size, never torn, repeated or merged, and not one
 * that the thread sanitizer should see: it looks for races of the simulator. 16 bytes are one access, too,
 * which the processors that have AVX make atomic where it is aligned. Not here: which addresses are good
 * (memory.h), many at once (transfer.h). */
#ifndef GFXSIM_ISA_GUEST_H
#define GFXSIM_ISA_GUEST_H

#include <stdint.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GS_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define GS_THREAD_SANITIZER 1
#endif

/* Marks functions that touch guest memory. */
#ifdef GS_THREAD_SANITIZER
#define GS_GUEST __attribute__((noinline, unused, no_sanitize("thread")))
#else
#define GS_GUEST inline
#endif

/* Guest memory may hold anything at any alignment. */
typedef struct gs_guest16 {
  uint16_t value;
} __attribute__((packed, may_alias)) gs_guest16_t;
typedef struct gs_guest32 {
  uint32_t value;
} __attribute__((packed, may_alias)) gs_guest32_t;
typedef struct gs_guest64 {
  uint64_t value;
} __attribute__((packed, may_alias)) gs_guest64_t;

typedef uint32_t gs_dwords4_t __attribute__((vector_size(16)));
typedef struct gs_guest128 {
  gs_dwords4_t value;
} __attribute__((packed, may_alias)) gs_guest128_t;

static GS_GUEST uint8_t gs_guest_get8(uint64_t at) {
  return *(const volatile uint8_t *)(uintptr_t)at;
}
static GS_GUEST uint16_t gs_guest_get16(uint64_t at) {
  return ((const volatile gs_guest16_t *)(uintptr_t)at)->value;
}
static GS_GUEST uint32_t gs_guest_get32(uint64_t at) {
  return ((const volatile gs_guest32_t *)(uintptr_t)at)->value;
}
static GS_GUEST uint64_t gs_guest_get64(uint64_t at) {
  return ((const volatile gs_guest64_t *)(uintptr_t)at)->value;
}
static GS_GUEST gs_dwords4_t gs_guest_get128(uint64_t at) {
  return ((const volatile gs_guest128_t *)(uintptr_t)at)->value;
}
static GS_GUEST void gs_guest_put8(uint64_t at, uint8_t value) {
  *(volatile uint8_t *)(uintptr_t)at = value;
}
static GS_GUEST void gs_guest_put16(uint64_t at, uint16_t value) {
  ((volatile gs_guest16_t *)(uintptr_t)at)->value = value;
}
static GS_GUEST void gs_guest_put32(uint64_t at, uint32_t value) {
  ((volatile gs_guest32_t *)(uintptr_t)at)->value = value;
}
static GS_GUEST void gs_guest_put64(uint64_t at, uint64_t value) {
  ((volatile gs_guest64_t *)(uintptr_t)at)->value = value;
}
static GS_GUEST void gs_guest_put128(uint64_t at, gs_dwords4_t value) {
  ((volatile gs_guest128_t *)(uintptr_t)at)->value = value;
}

/* `n` (1 to 4) dwords that lie together: in one access, 3 in two. */
static inline void gs_guest_get_dwords(uint64_t at, unsigned n, uint32_t value[4]) {
  if (n == 4) {
    const gs_dwords4_t all = gs_guest_get128(at);
    memcpy(value, &all, sizeof all);
    return;
  }
  if (n >= 2) {
    const uint64_t pair = gs_guest_get64(at);
    memcpy(value, &pair, sizeof pair);
  }
  if (n != 2)
    value[n - 1] = gs_guest_get32(at + 4 * (n - 1));
}
static inline void gs_guest_put_dwords(uint64_t at, unsigned n, const uint32_t value[4]) {
  if (n == 4) {
    gs_guest_put128(at, (gs_dwords4_t){value[0], value[1], value[2], value[3]});
    return;
  }
  if (n >= 2)
    gs_guest_put64(at, value[0] | (uint64_t)value[1] << 32);
  if (n != 2)
    gs_guest_put32(at + 4 * (n - 1), value[n - 1]);
}

#endif
