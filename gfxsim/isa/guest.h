/* Single accesses to guest memory. Kernels share memory with the host program and with each other and may
 * race by design, so each access is one host access of its size, never torn, repeated or merged, and not one
 * that the thread sanitizer should see: it looks for races of the simulator. Not here: which addresses are
 * good (memory.h). */
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

/* Marks functions that touch guest memory. GS_GUEST_BLOCK marks pointers to many values that are accessed at
 * once: volatile where the compiler must not make a call of memcpy of it, which the sanitizer would see. */
#ifdef GS_THREAD_SANITIZER
#define GS_GUEST       __attribute__((noinline, unused, no_sanitize("thread")))
#define GS_GUEST_BLOCK volatile
#else
#define GS_GUEST inline
#define GS_GUEST_BLOCK
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

#endif
