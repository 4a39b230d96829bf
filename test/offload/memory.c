/* Memory accesses of all sizes and alignments: bytes, shorts, packed structs, bit fields, unions, unaligned words, memcpy,
 * memset and memmove, copies of large structs, strings, in global, team-local and private memory; allocators. */
#include "check.h"

enum { N = 600 };

#pragma pack(push, 1)
typedef struct packed {
  char a;
  short b;
  char c;
  int d;
  char e;
  long f;
  double g;
} packed_t;
#pragma pack(pop)

typedef struct fields {
  unsigned a : 3;
  int b : 7;
  unsigned long c : 37;
  signed char d;
  unsigned e : 1, f : 12;
} fields_t;

typedef union mix {
  double d;
  uint64_t u;
  uint32_t w[2];
  uint16_t h[4];
  uint8_t b[8];
} mix_t;

typedef struct large {
  int id;
  double payload[40];
  char name[13];
} large_t;

#pragma omp declare target
static uint64_t through_union(mix_t *m, double d) {
  m->d = d;
  m->w[0] ^= m->w[1];
  m->h[1] = (uint16_t)(m->h[1] + m->h[2]);
  m->b[7] = (uint8_t)(m->b[7] ^ m->b[0]);
  return m->u + m->b[3] * 3u;
}

static void pack(packed_t *p, int i) {
  p->a = (char)i;
  p->b = (short)(i * -3);
  p->c = (char)(i >> 1);
  p->d = i * 1000003;
  p->e = (char)~i;
  p->f = (long)i << 33;
  p->g = i * 0.125;
}

static int length_of(const char *s) {
  int n = 0;
  while (s[n] != '\0')
    n++;
  return n;
}
#pragma omp end declare target

static void packed(void) {
  static packed_t p[N];
  static long sums[N];
#pragma omp target teams distribute parallel for map(from : p, sums)
  for (int i = 0; i < N; i++) {
    pack(&p[i], i);
    sums[i] = p[i].a + p[i].b + p[i].c + p[i].d + p[i].e + p[i].f + (long)p[i].g;
  }
  for (int i = 0; i < N; i++) {
    packed_t w;
    pack(&w, i);
    check_int("packed bytes", i, memcmp(&w, &p[i], sizeof w), 0);
    check_int("packed sum", i, sums[i], w.a + w.b + w.c + w.d + w.e + w.f + (long)w.g);
  }
}

static void bit_fields(void) {
  static fields_t f[N];
  static long out[N];
  memset(f, 0, sizeof f);
#pragma omp target teams distribute parallel for map(tofrom : f) map(from : out)
  for (int i = 0; i < N; i++) {
    f[i].a = (unsigned)i & 7;
    f[i].b = i % 100 - 50;
    f[i].c = (unsigned long)i * 123456789u;
    f[i].d = (signed char)-i;
    f[i].e ^= 1;
    f[i].f = (unsigned)i * 5u & 0xfff;
    out[i] = f[i].a + f[i].b * 10 + (long)f[i].c + f[i].d + f[i].e * 1000 + f[i].f;
  }
  for (int i = 0; i < N; i++) {
    long want = (i & 7) + (i % 100 - 50) * 10 + (long)(((unsigned long)i * 123456789u) & ((1ul << 37) - 1)) +
                (signed char)-i + 1000 + (i * 5 & 0xfff);
    check_int("fields", i, out[i], want);
    check_int("field b", i, f[i].b, i % 100 - 50);
    check_int("field c", i, (long long)f[i].c, (long long)(((unsigned long)i * 123456789u) & ((1ul << 37) - 1)));
  }
}

/* Words at every alignment in a byte buffer. The device has no memcpy to call, but the builtins become code. */
static void unaligned(void) {
  static unsigned char in[N + 16], out[N * 16];
  static uint64_t words[N];
  for (int i = 0; i < N + 16; i++)
    in[i] = (unsigned char)(i * 37 + 11);
#pragma omp target teams distribute parallel for map(to : in) map(from : out, words)
  for (int i = 0; i < N; i++) {
    uint64_t q;
    uint32_t w;
    uint16_t h;
    __builtin_memcpy(&q, in + i, sizeof q);
    __builtin_memcpy(&w, in + i + 3, sizeof w);
    __builtin_memcpy(&h, in + i + 7, sizeof h);
    words[i] = q ^ (uint64_t)w << 7 ^ h;
    unsigned char *o = out + i * 16;
    __builtin_memset(o, i & 0xff, 16);
    __builtin_memcpy(o + 1, &w, sizeof w);
    __builtin_memcpy(o + 6, &h, sizeof h);
    __builtin_memmove(o + 9, o + 7, 5);
  }
  for (int i = 0; i < N; i++) {
    uint64_t q;
    uint32_t w;
    uint16_t h;
    unsigned char o[16];
    __builtin_memcpy(&q, in + i, sizeof q);
    __builtin_memcpy(&w, in + i + 3, sizeof w);
    __builtin_memcpy(&h, in + i + 7, sizeof h);
    __builtin_memset(o, i & 0xff, 16);
    __builtin_memcpy(o + 1, &w, sizeof w);
    __builtin_memcpy(o + 6, &h, sizeof h);
    __builtin_memmove(o + 9, o + 7, 5);
    check_int("words", i, (long long)words[i], (long long)(q ^ (uint64_t)w << 7 ^ h));
    check_int("bytes", i, memcmp(o, out + i * 16, 16), 0);
  }
}

static void structs(void) {
  static large_t in[40], out[40];
  static int lengths[40];
  for (int i = 0; i < 40; i++) {
    in[i].id = i;
    for (int k = 0; k < 40; k++)
      in[i].payload[k] = i * 100 + k;
    snprintf(in[i].name, sizeof in[i].name, "name%d", i * i * i);
  }
#pragma omp target teams distribute parallel for map(to : in) map(from : out, lengths)
  for (int i = 0; i < 40; i++) {
    large_t local = in[39 - i];
    local.payload[i] += local.id;
    local.name[0] = 'N';
    lengths[i] = length_of(local.name);
    out[i] = local;
  }
  for (int i = 0; i < 40; i++) {
    large_t want = in[39 - i];
    want.payload[i] += want.id;
    want.name[0] = 'N';
    check_int("id", i, out[i].id, want.id);
    for (int k = 0; k < 40; k++)
      check_f64("payload", i * 40 + k, out[i].payload[k], want.payload[k]);
    check_int("name", i, strcmp(out[i].name, want.name), 0);
    check_int("length", i, lengths[i], (long)strlen(want.name));
  }
}

static void unions_and_bytes(void) {
  static uint64_t out[N];
  static int8_t s8[N];
  static uint8_t u8[N];
  static int16_t s16[N];
  static uint16_t u16[N];
  static long sums[N];
  for (int i = 0; i < N; i++) {
    s8[i] = (int8_t)(i * 7);
    u8[i] = (uint8_t)(i * 11);
    s16[i] = (int16_t)(i * 1117);
    u16[i] = (uint16_t)(i * 977);
  }
#pragma omp target teams distribute parallel for map(from : out, sums) map(tofrom : s8, u8, s16, u16)
  for (int i = 0; i < N; i++) {
    mix_t mix;
    out[i] = through_union(&mix, i * 1.37);
    sums[i] = (long)s8[i] * 1000000 + u8[i] * 10000L + s16[i] * 100L + u16[i];
    s8[i] = (int8_t)(s8[i] - 100);
    u8[i] = (uint8_t)(u8[i] << 1);
    s16[i] = (int16_t)(s16[i] / 2);
    u16[i] = (uint16_t)(u16[i] + 60000);
  }
  for (int i = 0; i < N; i++) {
    int8_t a = (int8_t)(i * 7);
    uint8_t b = (uint8_t)(i * 11);
    int16_t c = (int16_t)(i * 1117);
    uint16_t d = (uint16_t)(i * 977);
    mix_t mix;
    check_int("union", i, (long long)out[i], (long long)through_union(&mix, i * 1.37));
    check_int("small sum", i, sums[i], (long)a * 1000000 + b * 10000L + c * 100L + d);
    check_int("i8", i, s8[i], (int8_t)(a - 100));
    check_int("u8", i, u8[i], (uint8_t)(b << 1));
    check_int("i16", i, s16[i], (int16_t)(c / 2));
    check_int("u16", i, u16[i], (uint16_t)(d + 60000));
  }
}

/* Team-local arrays of odd types, written by one thread and read by another. */
static void team_local(void) {
  enum { COUNT = CHECK_TEAM_LOCAL(200, 20) };
  static short out[8][COUNT];
#pragma omp target teams distribute map(from : out) num_teams(8)
  for (int t = 0; t < 8; t++) {
    short local[COUNT];
    unsigned char bytes[COUNT + 1];
    packed_t p[COUNT / 4];
#pragma omp parallel for
    for (int i = 0; i < COUNT; i++) {
      local[i] = (short)(i * t);
      bytes[i + 1] = (unsigned char)(i + t);
      if (i % 4 == 0)
        pack(&p[i / 4], i);
    }
#pragma omp parallel for
    for (int i = 0; i < COUNT; i++)
      out[t][i] = (short)(local[COUNT - 1 - i] + bytes[COUNT - i] + p[i / 4].b);
  }
  for (int t = 0; t < 8; t++)
    for (int i = 0; i < COUNT; i++)
      check_int("team local", t * COUNT + i, out[t][i],
                (short)((COUNT - 1 - i) * t + (unsigned char)(COUNT - 1 - i + t) + (i / 4 * 4) * -3));
}

int main(void) {
  packed();
  bit_fields();
  unaligned();
  structs();
  unions_and_bytes();
  team_local();
  return check_done("memory");
}
