/* Memory that the host and a wave access at the same time: one side writes items of 8 or 16 bytes that are
 * all ones or all zeroes, over and over, and the other must never see a mixture. Not here: what instructions
 * do to memory that nobody else touches (the other tests), and that none of this is a fault of the simulator
 * for the thread sanitizer (test_flat.c). */
#include "memory_model.h"

#include <pthread.h>
#include <stdatomic.h>

#include "isa/guest.h"

enum {
  SLOW_ROUNDS = 10000,  /* of instructions that access many items */
  FAST_ROUNDS = 100000, /* of those that access one */
  REGION = 1024,        /* bytes from ISA_MEMORY on that both sides use */
  SEAM_REGION = 64,     /* from 32 bytes before the seam between two mappings */
};

/* How lanes are spread over the region. */
typedef enum spread { ONE_PLACE, DENSE, SHUFFLED, PAST_END, AT_SEAM, SCALAR } spread_t;

typedef struct access {
  const char *text;
  unsigned dwords;
  unsigned item; /* bytes that must not be torn */
  spread_t spread;
  uint64_t exec;
} access_t;

#define ALL  UINT64_MAX
#define SOME UINT64_C(0xf0f0f0f0aaaaaaaa)

/* Addresses in v2 (and v[6:7], with the base), base in s[4:5], buffer in s[8:11], data from v10 and s20 on.
 */
static const access_t loads[] = {
    {"global_load_dwordx2 v[10:11], v2, s[4:5]", 2, 8, ONE_PLACE, ALL},
    {"global_load_dwordx2 v[10:11], v2, s[4:5]", 2, 8, DENSE, ALL},
    {"global_load_dwordx2 v[10:11], v2, s[4:5]", 2, 8, SHUFFLED, ALL},
    {"global_load_dwordx2 v[10:11], v2, s[4:5]", 2, 8, SHUFFLED, SOME},
    {"global_load_dwordx4 v[10:13], v2, s[4:5]", 4, 16, ONE_PLACE, ALL},
    {"global_load_dwordx4 v[10:13], v2, s[4:5]", 4, 16, DENSE, ALL},
    {"global_load_dwordx4 v[10:13], v2, s[4:5]", 4, 16, SHUFFLED, SOME},
    {"global_load_dwordx4 v[10:13], v2, s[4:5]", 4, 8, AT_SEAM, ALL},
    {"flat_load_dwordx2 v[10:11], v[6:7]", 2, 8, ONE_PLACE, SOME},
    {"flat_load_dwordx2 v[10:11], v[6:7]", 2, 8, DENSE, ALL},
    {"buffer_load_dwordx2 v[10:11], v2, s[8:11], 0 offen", 2, 8, ONE_PLACE, ALL},
    {"buffer_load_dwordx2 v[10:11], v2, s[8:11], 0 offen", 2, 8, DENSE, ALL},
    {"buffer_load_dwordx2 v[10:11], v2, s[8:11], 0 offen", 2, 8, PAST_END, ALL},
    {"buffer_load_format_xy v[10:11], v2, s[8:11], 0 offen", 2, 8, SHUFFLED, ALL},
    {"tbuffer_load_format_xy v[10:11], v2, s[8:11], dfmt:11, nfmt:4, 0 offen", 2, 8, DENSE, ALL},
    {"s_load_dwordx2 s[20:21], s[4:5], 0x0", 2, 8, SCALAR, ALL},
    {"s_load_dwordx4 s[20:23], s[4:5], 0x0", 4, 16, SCALAR, ALL},
    {"s_load_dwordx16 s[20:35], s[4:5], 0x0", 16, 16, SCALAR, ALL},
    {"s_load_dwordx16 s[20:35], s[4:5], 0x0", 16, 8, AT_SEAM, ALL},
    {"s_buffer_load_dwordx2 s[20:21], s[8:11], 0x0", 2, 8, SCALAR, ALL},
    {"s_buffer_load_dwordx8 s[20:27], s[8:11], 0x0", 8, 8, SCALAR, ALL},
};
static const access_t stores[] = {
    {"global_store_dwordx2 v2, v[10:11], s[4:5]", 2, 8, ONE_PLACE, ALL},
    {"global_store_dwordx2 v2, v[10:11], s[4:5]", 2, 8, DENSE, ALL},
    {"global_store_dwordx2 v2, v[10:11], s[4:5]", 2, 8, SHUFFLED, ALL},
    {"global_store_dwordx2 v2, v[10:11], s[4:5]", 2, 8, SHUFFLED, SOME},
    {"global_store_dwordx4 v2, v[10:13], s[4:5]", 4, 16, ONE_PLACE, ALL},
    {"global_store_dwordx4 v2, v[10:13], s[4:5]", 4, 16, DENSE, ALL},
    {"global_store_dwordx4 v2, v[10:13], s[4:5]", 4, 16, SHUFFLED, SOME},
    {"global_store_dwordx4 v2, v[10:13], s[4:5]", 4, 8, AT_SEAM, ALL},
    {"flat_store_dwordx2 v[6:7], v[10:11]", 2, 8, ONE_PLACE, SOME},
    {"buffer_store_dwordx2 v[10:11], v2, s[8:11], 0 offen", 2, 8, SHUFFLED, ALL},
    {"buffer_store_dwordx2 v[10:11], v2, s[8:11], 0 offen", 2, 8, PAST_END, ALL},
    {"tbuffer_store_format_xy v[10:11], v2, s[8:11], dfmt:11, nfmt:4, 0 offen", 2, 8, DENSE, ALL},
    {"s_store_dwordx2 s[20:21], s[4:5], 0x0", 2, 8, SCALAR, ALL},
    {"s_store_dwordx4 s[20:23], s[4:5], 0x0", 4, 8, SCALAR, ALL},
    {"s_buffer_store_dwordx2 s[20:21], s[8:11], 0x0", 2, 8, SCALAR, ALL},
};

/* 16 bytes are only promised where the processor does them at once, and those with AVX do. */
static unsigned item_of(const access_t *access) {
#if defined(__x86_64__)
  return access->item == 16 && !__builtin_cpu_supports("avx") ? 8 : access->item;
#else
  return 8;
#endif
}

static bool is_scalar(const access_t *access) {
  return access->text[0] == 's';
}

/* ---- Both sides ---- */

typedef struct side {
  uint8_t *memory[2]; /* the region, in two pieces where it is at the seam */
  unsigned bytes;     /* of each piece */
  unsigned item;
  atomic_bool done;
} side_t;

static void put_item(uint8_t *at, unsigned item, uint32_t value) {
  const uint64_t host = (uintptr_t)at, both = value | (uint64_t)value << 32;
  if (item == 16)
    gs_guest_put128(host, (gs_dwords4_t){value, value, value, value});
  else
    gs_guest_put64(host, both);
}
static bool item_is_torn(const uint8_t *at, unsigned item) {
  uint32_t v[4];
  gs_guest_get_dwords((uintptr_t)at, item / 4, v);
  bool torn = false;
  for (unsigned i = 1; i < item / 4; i++)
    torn |= v[i] != v[0];
  return torn;
}

static void *host_writes(void *argument) {
  side_t *side = argument;
  for (uint32_t value = 0; !atomic_load_explicit(&side->done, memory_order_relaxed); value = ~value)
    for (unsigned piece = 0; piece < 2 && side->memory[piece]; piece++)
      for (unsigned at = 0; at < side->bytes; at += side->item)
        put_item(side->memory[piece] + at, side->item, value);
  return NULL;
}

static unsigned host_reads(const side_t *side) {
  unsigned torn = 0;
  for (unsigned piece = 0; piece < 2 && side->memory[piece]; piece++)
    for (unsigned at = 0; at < side->bytes; at += side->item)
      torn += item_is_torn(side->memory[piece] + at, side->item);
  return torn;
}

/* Registers and memory for one access. */
static void set_up(model_bench_t *b, const access_t *access, side_t *side) {
  isa_wave_t *t = b->t;
  const unsigned bytes = 4 * access->dwords;
  const bool at_seam = access->spread == AT_SEAM;
  const uint64_t base = at_seam ? MODEL_PIECES + MODEL_PAGE - SEAM_REGION / 2 : ISA_MEMORY;
  isa_reset(t, 1);
  memset(t->memory, 0, REGION);
  *side = (side_t){.memory = {t->memory}, .bytes = REGION, .item = item_of(access)};
  if (access->spread == ONE_PLACE || access->spread == SCALAR)
    side->bytes = 64;
  if (at_seam) {
    side->memory[0] = b->pieces[0] + 2 * MODEL_PAGE - SEAM_REGION / 2;
    side->memory[1] = b->pieces[1];
    side->bytes = SEAM_REGION / 2;
    memset(side->memory[0], 0, side->bytes);
    memset(side->memory[1], 0, side->bytes);
  }
  isa_set_s64(t, 4, base);
  isa_set_s64(t, 8, base);
  t->w.s.u32[10] = access->spread == PAST_END ? 100 : REGION; /* ends in the middle of an item */
  t->w.s.u32[11] = 11 << 15 | 4 << 12 | 4 | 5 << 3;           /* two integers of 32 bits */
  gs_set_exec(&t->w, access->exec);
  for (unsigned l = 0; l < GS_LANES; l++) {
    const unsigned place = access->spread == ONE_PLACE  ? 0
                           : access->spread == SHUFFLED ? l * 37 % GS_LANES
                           : at_seam                    ? l % 3 /* a lane, then, crosses it */
                                                        : l;
    t->v[2].u32[l] = at_seam ? 8 * place + 16 : bytes * place;
    isa_set_u64(&t->v[6], l, base + t->v[2].u32[l]);
  }
}

static unsigned torn_in_registers(const isa_wave_t *t, const access_t *access, unsigned item) {
  unsigned torn = 0;
  for (unsigned i = 0; i < access->dwords; i++) {
    const unsigned first = i - i % (item / 4);
    if (is_scalar(access)) {
      torn += t->w.s.u32[20 + i] != t->w.s.u32[20 + first];
      continue;
    }
    for (unsigned l = 0; l < GS_LANES; l++)
      torn += gs_bit(access->exec, l) && t->v[10 + i].u32[l] != t->v[10 + first].u32[l];
  }
  return torn;
}

static unsigned rounds_of(const access_t *access) {
  return is_scalar(access) || access->spread == ONE_PLACE ? FAST_ROUNDS : SLOW_ROUNDS;
}

/* A lane that ends beyond the buffer has 0 for what is there. */
static uint64_t whole_lanes(const access_t *access) {
  return access->spread == PAST_END ? access->exec & 0xfff : access->exec;
}

static void test_loads(void **state) {
  for (unsigned i = 0; i < sizeof loads / sizeof *loads; i++) {
    model_bench_t b = bench_new(state, GS_GFX906);
    access_t access = loads[i];
    side_t side;
    pthread_t thread;
    unsigned torn = 0;
    set_up(&b, &access, &side);
    access.exec = whole_lanes(&access);
    const model_program_t program = model_decode(state, b.t, access.text, 1);
    assert_int_equal(pthread_create(&thread, NULL, host_writes, &side), 0);
    for (unsigned k = 0; k < rounds_of(&access) && !torn; k++) {
      (void)model_run((void *)(uintptr_t)&program);
      torn = torn_in_registers(b.t, &access, side.item);
    }
    atomic_store(&side.done, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (torn || b.t->w.state != GS_WAVE_RUNNING)
      fail_msg("%s (spread %u, exec %#llx): %u torn items, state %u", access.text, access.spread,
               (unsigned long long)access.exec, torn, b.t->w.state);
    bench_free(&b);
  }
}

/* A wave's thread, which stores zeroes and ones in turn. */
typedef struct storing {
  model_program_t program;
  const access_t *access;
  side_t *side;
} storing_t;

static void *wave_writes(void *argument) {
  storing_t *storing = argument;
  isa_wave_t *t = storing->program.t;
  for (unsigned k = 0; k < 2 * rounds_of(storing->access); k++) {
    for (unsigned i = 0; i < storing->access->dwords; i++) {
      t->w.s.u32[20 + i] = k % 2 ? UINT32_MAX : 0;
      gs_broadcast(k % 2 ? UINT32_MAX : 0, &t->v[10 + i]);
    }
    (void)model_run(&storing->program);
  }
  atomic_store(&storing->side->done, true);
  return NULL;
}

static void test_stores(void **state) {
  for (unsigned i = 0; i < sizeof stores / sizeof *stores; i++) {
    model_bench_t b = bench_new(state, GS_GFX906);
    const access_t *access = &stores[i];
    side_t side;
    pthread_t thread;
    unsigned torn = 0;
    set_up(&b, access, &side);
    if (access->spread == PAST_END)
      side.bytes = 96;
    storing_t storing = {model_decode(state, b.t, access->text, 1), access, &side};
    assert_int_equal(pthread_create(&thread, NULL, wave_writes, &storing), 0);
    while (!atomic_load_explicit(&side.done, memory_order_relaxed))
      torn += host_reads(&side);
    assert_int_equal(pthread_join(thread, NULL), 0);
    if (torn || b.t->w.state != GS_WAVE_RUNNING)
      fail_msg("%s (spread %u, exec %#llx): %u torn items, state %u", access->text, access->spread,
               (unsigned long long)access->exec, torn, b.t->w.state);
    bench_free(&b);
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {cmocka_unit_test(test_loads), cmocka_unit_test(test_stores)};
  return isa_main(tests, sizeof tests / sizeof *tests);
}
