/* Integer arithmetic of one width (BITS: 8, 16, 32, 64) on random and edge operands, the device against the host:
 * + - * / % & | ^ ~ shifts, rotates, comparisons, popcount, clz, ctz, bswap, high halves, overflow checks, bit fields. */
#include "check.h"

#ifndef BITS
#define BITS 32
#endif
#define PASTE(a, b, c) PASTE_(a, b, c)
#define PASTE_(a, b, c) a##b##c
#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x

typedef PASTE(int, BITS, _t) s_t;
typedef PASTE(uint, BITS, _t) u_t;

enum { PAIRS = 4096, RESULTS = 48 };

static const char *const names[RESULTS] = {
    "add", "sub", "mul", "and", "or", "xor", "not", "neg", "sdiv", "srem", "udiv", "urem", "shl", "lshr", "ashr", "rotl",
    "rotr", "popcount", "clz", "ctz", "ffs", "parity", "bswap", "reverse", "slt", "ult", "sle", "ule", "eq", "smin", "smax",
    "umin", "umax", "abs", "absdiff", "smulhi", "umulhi", "uaddo", "saddo", "ssubo", "smulo", "umulo", "extract", "insert",
    "mad", "average", "select", "div by constants"};

/* Runs on both sides. Every result is cut to BITS bits. Division has no zero divisor and does not overflow. `ut` and `st`
 * are scratch of the caller's: locals whose address is taken would be shared between threads, see stack.c. */
#pragma omp declare target
static void __attribute__((noinline)) compute(u_t a, u_t b, u_t *ut, s_t *st, u_t *out) {
  s_t sa = (s_t)a, sb = (s_t)b;
  unsigned n = (unsigned)(b % BITS);
  u_t d = b == 0 ? (u_t)7 : b;
  s_t sd = (s_t)d;
  if (sd == -1 && sa == (s_t)((u_t)1 << (BITS - 1)))
    sd = 3;
  unsigned __int128 wide = (unsigned __int128)a * b;
  __int128 swide = (__int128)sa * sb;
  int k = 0;
  out[k++] = (u_t)(a + b);
  out[k++] = (u_t)(a - b);
  out[k++] = (u_t)((uint64_t)a * b);
  out[k++] = a & b;
  out[k++] = a | b;
  out[k++] = a ^ b;
  out[k++] = (u_t)~a;
  out[k++] = (u_t)(0 - a);
  out[k++] = (u_t)(sa / sd);
  out[k++] = (u_t)(sa % sd);
  out[k++] = (u_t)(a / d);
  out[k++] = (u_t)(a % d);
  out[k++] = (u_t)(a << n);
  out[k++] = (u_t)(a >> n);
  out[k++] = (u_t)(sa >> n);
  out[k++] = (u_t)(n == 0 ? a : (u_t)(a << n) | (u_t)(a >> (BITS - n)));
  out[k++] = (u_t)(n == 0 ? a : (u_t)(a >> n) | (u_t)(a << (BITS - n)));
  out[k++] = (u_t)__builtin_popcountll(a);
  out[k++] = a == 0 ? BITS : (u_t)(__builtin_clzll(a) - (64 - BITS));
  out[k++] = a == 0 ? BITS : (u_t)__builtin_ctzll(a);
  out[k++] = (u_t)__builtin_ffsll((long long)sa);
  out[k++] = (u_t)__builtin_parityll(a);
#if BITS == 64
  out[k++] = __builtin_bswap64(a);
  out[k++] = __builtin_bitreverse64(a);
#elif BITS == 32
  out[k++] = __builtin_bswap32(a);
  out[k++] = __builtin_bitreverse32(a);
#elif BITS == 16
  out[k++] = __builtin_bswap16(a);
  out[k++] = __builtin_bitreverse16(a);
#else
  out[k++] = a;
  out[k++] = __builtin_bitreverse8(a);
#endif
  out[k++] = sa < sb;
  out[k++] = a < b;
  out[k++] = sa <= sb;
  out[k++] = a <= b;
  out[k++] = a == b;
  out[k++] = (u_t)(sa < sb ? sa : sb);
  out[k++] = (u_t)(sa > sb ? sa : sb);
  out[k++] = a < b ? a : b;
  out[k++] = a > b ? a : b;
  out[k++] = (u_t)(sa < 0 ? 0 - a : a);
  out[k++] = (u_t)(a > b ? a - b : b - a);
  out[k++] = (u_t)(swide >> BITS);
  out[k++] = (u_t)(wide >> BITS);
  out[k++] = (u_t)(__builtin_add_overflow(a, b, ut) + 2 * (*ut & 1));
  out[k++] = (u_t)(__builtin_add_overflow(sa, sb, st) + 2 * (*st & 1));
  out[k++] = (u_t)(__builtin_sub_overflow(sa, sb, st) + 2 * (*st & 1));
#if BITS == 64
  /* The compiler's checked 64-bit signed product is a library call that the device does not have. */
  out[k++] = (u_t)(swide != (__int128)(s_t)swide);
  out[k++] = (u_t)(wide >> 64 != 0);
#else
  out[k++] = (u_t)(__builtin_mul_overflow(sa, sb, st) + 2 * (*st & 1));
  out[k++] = (u_t)(__builtin_mul_overflow(a, b, ut) + 2 * (*ut & 1));
#endif
  out[k++] = (u_t)((a >> (n / 2)) & (((u_t)1 << (BITS / 4)) - 1));
  out[k++] = (u_t)((a & (u_t) ~((u_t)0xf << (BITS / 4))) | (u_t)((b & 0xf) << (BITS / 4)));
  out[k++] = (u_t)((uint64_t)a * b + (a ^ b));
  out[k++] = (u_t)((a & b) + (u_t)((u_t)(a ^ b) >> 1));
  out[k++] = (a & 4) != 0 ? (u_t)(b + 1) : (u_t)(a - 1);
  out[k++] = (u_t)(sa / 7 + sa % 10 * 3 + (s_t)(a / 100) + (s_t)(a % 3) + sa / -4 + sa / 16);
}
#pragma omp end declare target

static u_t edge(uint64_t r) {
  static const u_t edges[] = {0, 1, 2, (u_t)-1, (u_t)-2, (u_t)1 << (BITS - 1), ((u_t)1 << (BITS - 1)) - 1,
                              ((u_t)1 << (BITS / 2)), ((u_t)1 << (BITS / 2)) - 1, 10};
  return edges[r % (sizeof edges / sizeof edges[0])];
}

int main(void) {
  static u_t a[PAIRS], b[PAIRS], out[PAIRS][RESULTS];
  uint64_t seed = 88172645463325252u + BITS;
  for (int i = 0; i < PAIRS; i++) {
    uint64_t r = check_random(&seed), x = check_random(&seed), y = check_random(&seed);
    a[i] = r % 8 == 0 ? edge(x) : (u_t)(x >> (r >> 8) % 64);
    b[i] = r % 8 <= 1 ? edge(y) : (u_t)(y >> (r >> 16) % 64);
  }
#pragma omp target teams distribute parallel for map(to : a, b) map(from : out)
  for (int i = 0; i < PAIRS; i++) {
    u_t ut;
    s_t st;
    compute(a[i], b[i], &ut, &st, out[i]);
  }
  for (int i = 0; i < PAIRS; i++) {
    u_t want[RESULTS], ut;
    s_t st;
    compute(a[i], b[i], &ut, &st, want);
    for (int k = 0; k < RESULTS; k++) {
      if (out[i][k] != want[k] && check_state.messages < CHECK_MAX_MESSAGES)
        fprintf(stderr, "a = 0x%llx, b = 0x%llx: ", (unsigned long long)a[i], (unsigned long long)b[i]);
      check_int(names[k], i, (long long)out[i][k], (long long)want[k]);
    }
  }
  return check_done("int_arith " TEXT(BITS));
}
