/* Integer code as programs write it: hashes, checksums, random number generators, primes, big numbers, bit boards,
 * conversions between widths, uniform and divergent variants of the same computation. */
#include "check.h"

#pragma omp declare target
static uint32_t crc32(const unsigned char *data, int n) {
  uint32_t crc = 0xffffffff;
  for (int i = 0; i < n; i++) {
    crc ^= data[i];
    for (int k = 0; k < 8; k++)
      crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

static uint64_t fnv(const unsigned char *data, int n) {
  uint64_t h = 0xcbf29ce484222325u;
  for (int i = 0; i < n; i++)
    h = (h ^ data[i]) * 0x100000001b3u;
  return h;
}

static uint32_t adler(const unsigned char *data, int n) {
  uint32_t a = 1, b = 0;
  for (int i = 0; i < n; i++) {
    a = (a + data[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

static uint32_t rotate_right(uint32_t x, int n) {
  return x >> n | x << (32 - n);
}

static const uint32_t sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static const uint32_t sha_start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* One block of SHA-256, from the standard starting value. `w` is 64 words of scratch: arrays in device functions would be
 * shared between threads, see stack.c. */
static void sha256_block(const unsigned char *block, uint32_t *w, uint32_t *out) {
  for (int i = 0; i < 16; i++)
    w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
           block[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    uint32_t s0 = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3;
    uint32_t s1 = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  const uint32_t *s = sha_start;
  uint32_t a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
  for (int i = 0; i < 64; i++) {
    uint32_t s1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + sha_k[i] + w[i];
    uint32_t s0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  out[0] = s[0] + a;
  out[1] = s[1] + b;
  out[2] = s[2] + c;
  out[3] = s[3] + d;
  out[4] = s[4] + e;
  out[5] = s[5] + f;
  out[6] = s[6] + g;
  out[7] = s[7] + h;
}

static uint64_t power_modulo(uint64_t base, uint64_t exponent, uint64_t modulus) {
  uint64_t result = 1;
  base %= modulus;
  while (exponent != 0) {
    if (exponent & 1)
      result = (uint64_t)((unsigned __int128)result * base >> 3) ^ result * base % modulus;
    base = base * base % modulus;
    exponent >>= 1;
  }
  return result;
}

static int prime(unsigned n) {
  if (n < 2)
    return 0;
  for (unsigned d = 2; d * d <= n; d++)
    if (n % d == 0)
      return 0;
  return 1;
}

static int collatz(uint64_t n) {
  int steps = 0;
  while (n != 1) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    steps++;
  }
  return steps;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t t = a % b;
    a = b;
    b = t;
  }
  return a;
}

/* A 256-bit product of two 128-bit numbers in 32-bit digits; folded. */
typedef struct digits {
  uint32_t x[4], y[4], p[8];
} digits_t;

static uint32_t big_product(digits_t *digits, uint32_t seed) {
  uint32_t *x = digits->x, *y = digits->y, *p = digits->p;
  for (int i = 0; i < 8; i++)
    p[i] = 0;
  for (int i = 0; i < 4; i++) {
    x[i] = seed = seed * 1664525u + 1013904223u;
    y[i] = seed = seed * 1664525u + 1013904223u;
  }
  for (int i = 0; i < 4; i++) {
    uint64_t carry = 0;
    for (int j = 0; j < 4; j++) {
      carry += (uint64_t)x[i] * y[j] + p[i + j];
      p[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    p[i + 4] = (uint32_t)carry;
  }
  uint32_t fold = 0;
  for (int i = 0; i < 8; i++)
    fold = fold * 33 ^ p[i];
  return fold;
}

/* Widths by turns: every value is cut and extended as C says. */
static int64_t widths(int64_t v) {
  int8_t b = (int8_t)v;
  uint8_t ub = (uint8_t)v;
  int16_t h = (int16_t)(v >> 3);
  uint16_t uh = (uint16_t)(v >> 5);
  int32_t w = (int32_t)(v >> 7);
  uint32_t uw = (uint32_t)(v >> 9);
  int64_t r = b * 3 + ub - h * uh;
  r ^= (int64_t)w * uw;
  r += (uint8_t)(b * b) + (int16_t)(h * 7) - (uint16_t)(uh << 3) + (int8_t)(ub + 100);
  r -= (int64_t)(b << 8) / (ub | 1) + h % (int16_t)(uh | 1);
  r ^= (int64_t)((uint64_t)uw << 32 | (uint32_t)w);
  return r;
}

/* Places n queens, iteratively, on a stack of the caller's. */
static int queens(unsigned (*stack)[10], int n) {
  int count = 0, depth = 0;
  unsigned all = (1u << n) - 1;
  stack[0][0] = stack[1][0] = stack[2][0] = 0;
  stack[3][0] = all;
  while (depth >= 0) {
    unsigned free_places = stack[3][depth];
    if (free_places == 0) {
      depth--;
      continue;
    }
    unsigned bit = free_places & (0u - free_places);
    stack[3][depth] ^= bit;
    if (depth == n - 1) {
      count++;
      continue;
    }
    unsigned c = stack[0][depth] | bit, l = (stack[1][depth] | bit) << 1, r = (stack[2][depth] | bit) >> 1;
    depth++;
    stack[0][depth] = c;
    stack[1][depth] = l;
    stack[2][depth] = r;
    stack[3][depth] = all & ~(c | l | r);
  }
  return count;
}
#pragma omp end declare target

enum { N = 200, BYTES = 64 };

static unsigned char text[N][BYTES];

static void digests(void) {
  static uint32_t crc[N], adl[N], sha[N][8];
  static uint64_t hash[N];
#pragma omp target teams distribute parallel for map(to : text) map(from : crc, adl, sha, hash)
  for (int i = 0; i < N; i++) {
    crc[i] = crc32(text[i], i % BYTES + 1);
    adl[i] = adler(text[i], BYTES);
    hash[i] = fnv(text[i], BYTES - i % 7);
    uint32_t scratch[64];
    sha256_block(text[i], scratch, sha[i]);
  }
  for (int i = 0; i < N; i++) {
    uint32_t want[8], scratch[64];
    sha256_block(text[i], scratch, want);
    check_int("crc32", i, crc[i], crc32(text[i], i % BYTES + 1));
    check_int("adler", i, adl[i], adler(text[i], BYTES));
    check_int("fnv", i, (long long)hash[i], (long long)fnv(text[i], BYTES - i % 7));
    for (int k = 0; k < 8; k++)
      check_int("sha256", i * 8 + k, sha[i][k], want[k]);
  }
}

static void numbers(void) {
  static int primes[2000], steps[N];
  static uint64_t powers[N], divisors[N];
  static uint32_t products[N];
  static int64_t cut[N];
  int boards[9];
#pragma omp target teams distribute parallel for map(from : primes)
  for (int i = 0; i < 2000; i++)
    primes[i] = prime((unsigned)i);
#pragma omp target teams distribute parallel for map(from : steps, powers, divisors, products, cut)
  for (int i = 0; i < N; i++) {
    uint64_t r = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    steps[i] = collatz((uint64_t)i + 1);
    powers[i] = power_modulo(r >> 40, (uint64_t)i * 12345, 1000003);
    divisors[i] = greatest_divisor(r >> 3, (uint64_t)(i + 3) * 720720);
    digits_t digits;
    products[i] = big_product(&digits, (uint32_t)i);
    cut[i] = widths((int64_t)r);
  }
#pragma omp target teams distribute parallel for map(from : boards)
  for (int n = 1; n < 9; n++) {
    unsigned places[4][10];
    boards[n] = queens(places, n);
  }
  for (int i = 0; i < 2000; i++)
    check_int("prime", i, primes[i], prime((unsigned)i));
  for (int i = 0; i < N; i++) {
    uint64_t r = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u;
    check_int("collatz", i, steps[i], collatz((uint64_t)i + 1));
    check_int("power", i, (long long)powers[i], (long long)power_modulo(r >> 40, (uint64_t)i * 12345, 1000003));
    check_int("divisor", i, (long long)divisors[i], (long long)greatest_divisor(r >> 3, (uint64_t)(i + 3) * 720720));
    digits_t digits;
    check_int("big product", i, products[i], big_product(&digits, (uint32_t)i));
    check_int("widths", i, cut[i], widths((int64_t)r));
  }
  for (int n = 1; n < 9; n++) {
    unsigned places[4][10];
    check_int("queens", n, boards[n], queens(places, n));
  }
}

/* One thread alone: addresses and conditions are uniform, so the compiler uses the scalar unit. */
static void uniform(void) {
  uint32_t crc = 0;
  uint64_t sum = 0;
  int64_t cut = 0;
#pragma omp target map(to : text) map(from : crc, sum, cut)
  {
    crc = crc32(text[0], BYTES);
    sum = 0;
    cut = 0;
    for (int i = 1; i < 60; i++) {
      sum += greatest_divisor((uint64_t)i * 360360, (uint64_t)(100 - i) * 5040) << (i % 32);
      sum ^= (uint64_t)collatz((uint64_t)i * 3) * 0x100000001b3u;
      cut = cut * 31 + widths((int64_t)sum);
    }
  }
  uint64_t want = 0;
  int64_t want_cut = 0;
  for (int i = 1; i < 60; i++) {
    want += greatest_divisor((uint64_t)i * 360360, (uint64_t)(100 - i) * 5040) << (i % 32);
    want ^= (uint64_t)collatz((uint64_t)i * 3) * 0x100000001b3u;
    want_cut = (int64_t)((uint64_t)want_cut * 31 + (uint64_t)widths((int64_t)want));
  }
  check_int("uniform crc", 0, crc, crc32(text[0], BYTES));
  check_int("uniform sum", 0, (long long)sum, (long long)want);
  check_int("uniform widths", 0, cut, want_cut);
}

int main(void) {
  uint64_t seed = 31337;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < BYTES; k++)
      text[i][k] = (unsigned char)(check_random(&seed) >> 33);
  digests();
  numbers();
  uniform();
  return check_done("int_mix");
}
