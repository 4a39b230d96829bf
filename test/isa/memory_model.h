/* What memory instructions should do, byte by byte: which byte of which array each byte of each lane's access
 * is. Shared by the tests of memory instructions. Not here: the instructions (test_*.c). */
#ifndef TEST_ISA_MEMORY_MODEL_H
#define TEST_ISA_MEMORY_MODEL_H

#include "harness.h"
#include "isa/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODEL_UNUSED __attribute__((unused))

/* Two pages that are neighbours for the device and apart in this process; the page after them is not mapped.
 */
#define MODEL_PIECES UINT64_C(0x400000000)

enum {
  MODEL_PAGE = 4096,
  MODEL_PRIVATE = 0x8000,    /* where private memory is in t->memory */
  MODEL_PRIVATE_BYTES = 512, /* of each lane */
};

/* Loads and stores of one item per lane, by the names that they have behind `flat_`, `global_`, `scratch_`
 * and `buffer_`. */
typedef struct model_row {
  const char *name;
  unsigned bytes;
  bool store;
  bool is_signed;
  int half; /* -1, or which half of the register */
} model_row_t;

MODEL_UNUSED static const model_row_t model_rows[] = {
    {"load_ubyte", 1, false, false, -1},    {"load_sbyte", 1, false, true, -1},
    {"load_ushort", 2, false, false, -1},   {"load_sshort", 2, false, true, -1},
    {"load_dword", 4, false, false, -1},    {"load_dwordx2", 8, false, false, -1},
    {"load_dwordx3", 12, false, false, -1}, {"load_dwordx4", 16, false, false, -1},
    {"load_ubyte_d16", 1, false, false, 0}, {"load_ubyte_d16_hi", 1, false, false, 1},
    {"load_sbyte_d16", 1, false, true, 0},  {"load_sbyte_d16_hi", 1, false, true, 1},
    {"load_short_d16", 2, false, false, 0}, {"load_short_d16_hi", 2, false, false, 1},
    {"store_byte", 1, true, false, 0},      {"store_byte_d16_hi", 1, true, false, 1},
    {"store_short", 2, true, false, 0},     {"store_short_d16_hi", 2, true, false, 1},
    {"store_dword", 4, true, false, 0},     {"store_dwordx2", 8, true, false, 0},
    {"store_dwordx3", 12, true, false, 0},  {"store_dwordx4", 16, true, false, 0},
};
enum { MODEL_ROWS = sizeof model_rows / sizeof *model_rows };

typedef enum model_space { SPACE_GLOBAL, SPACE_PRIVATE, SPACE_SHARED, SPACE_PIECES } model_space_t;

/* A copy of everything that instructions can change, and changes it as they should. */
typedef struct model {
  uint8_t memory[ISA_MEMORY_BYTES];
  uint8_t lds[ISA_LDS_BYTES];
  uint8_t pieces[2][2 * MODEL_PAGE]; /* used: the second half of [0], the first of [1] */
  uint32_t lds_bytes;
} model_t;

/* One lane's access: `start` is an offset in its space. */
typedef struct model_lane {
  model_space_t space;
  uint32_t start;
} model_lane_t;

/* Byte `i` of an access of `bytes` by lane `l`, or NULL where it reads 0 and writes nothing. */
MODEL_UNUSED static uint8_t *model_byte(model_t *m, model_lane_t lane, unsigned l, unsigned bytes,
                                        unsigned i) {
  const uint32_t at = lane.start + i;
  switch (lane.space) {
  case SPACE_GLOBAL: return &m->memory[at];
  case SPACE_PRIVATE: return &m->memory[MODEL_PRIVATE + (at / 4 * 64 + l) * 4 + at % 4];
  case SPACE_SHARED: return (uint64_t)lane.start + bytes <= m->lds_bytes ? &m->lds[at] : NULL;
  default: return at < MODEL_PAGE ? &m->pieces[0][MODEL_PAGE + at] : &m->pieces[1][at - MODEL_PAGE];
  }
}

/* The bytes of a lane as a number. */
MODEL_UNUSED static uint64_t model_get(model_t *m, model_lane_t lane, unsigned l, unsigned bytes,
                                       unsigned from, unsigned count) {
  uint64_t value = 0;
  for (unsigned i = 0; i < count; i++) {
    const uint8_t *byte = model_byte(m, lane, l, bytes, from + i);
    value |= (uint64_t)(byte ? *byte : 0) << 8 * i;
  }
  return value;
}
MODEL_UNUSED static void model_put(model_t *m, model_lane_t lane, unsigned l, unsigned bytes, unsigned from,
                                   unsigned count, uint64_t value) {
  for (unsigned i = 0; i < count; i++) {
    uint8_t *byte = model_byte(m, lane, l, bytes, from + i);
    if (byte)
      *byte = (uint8_t)(value >> 8 * i);
  }
}

/* A register that held `old`, after a load of 16 bits into a half of it. From gfx906 to gfx942 the other
 * becomes 0. */
MODEL_UNUSED static uint32_t model_half(const isa_wave_t *t, int half, uint32_t value, uint32_t old) {
  const bool keeps = t->env.target & (GS_GFX900 | GS_GFX10 | GS_GFX11);
  const uint32_t kept = keeps ? old : 0;
  return half == 0 ? (kept & 0xffff0000) | (value & 0xffff) : (kept & 0xffff) | value << 16;
}

/* The address as flat and global instructions take it. */
MODEL_UNUSED static uint64_t model_address(model_lane_t lane) {
  switch (lane.space) {
  case SPACE_GLOBAL: return ISA_MEMORY + lane.start;
  case SPACE_PRIVATE: return (UINT64_C(2) << 48) + lane.start;
  case SPACE_SHARED: return (UINT64_C(1) << 48) + lane.start;
  default: return MODEL_PIECES + lane.start;
  }
}

static inline void model_map(isa_wave_t *t, uint64_t address, uint8_t *host, uint32_t access) {
  const gs_vm_range_t range = {.start = address,
                               .end = address + MODEL_PAGE,
                               .host = host,
                               .allocation = address,
                               .allocation_size = MODEL_PAGE,
                               .access = access};
  assert_int_equal(gs_vm_map(t->vm, &range), 0);
  (void)gs_vm_reader_enter(&t->reader);
}

/* Where private memory of a lane begins: gfx9 has a pair of scalar registers for that, others their own. */
MODEL_UNUSED static void model_set_private(isa_wave_t *t) {
  isa_set_s64(t, t->env.target & GS_GFX9 ? GS_S_FLAT_SCRATCH : GS_S_SCRATCH_BASE, ISA_MEMORY + MODEL_PRIVATE);
}

/* What a test of memory has: a wave, its pieces of memory, and the model. */
typedef struct model_bench {
  isa_wave_t *t;
  model_t *model;
  uint8_t *pieces[2];
  uint64_t seed;
} model_bench_t;

MODEL_UNUSED static model_bench_t bench_new(void *const *state, gs_target_t target) {
  model_bench_t b = {.t = isa_new(state, target), .model = calloc(1, sizeof *b.model), .seed = 1};
  assert_non_null(b.model);
  for (unsigned i = 0; i < 2; i++) {
    b.pieces[i] = calloc(2, MODEL_PAGE);
    assert_non_null(b.pieces[i]);
    for (unsigned k = 0; k < 2 * MODEL_PAGE; k++)
      b.pieces[i][k] = (uint8_t)isa_random(&b.seed);
    model_map(b.t, MODEL_PIECES + i * MODEL_PAGE, b.pieces[i] + (i == 0 ? MODEL_PAGE : 0),
              GS_VM_READ | GS_VM_WRITE);
  }
  model_set_private(b.t);
  return b;
}
MODEL_UNUSED static void bench_free(model_bench_t *b) {
  isa_free(b->t);
  free(b->model);
  free(b->pieces[0]);
  free(b->pieces[1]);
}

/* Lets the model start from what the wave has. */
MODEL_UNUSED static void bench_sync(model_bench_t *b) {
  memcpy(b->model->memory, b->t->memory, ISA_MEMORY_BYTES);
  memcpy(b->model->lds, b->t->lds, ISA_LDS_BYTES);
  memcpy(b->model->pieces[0], b->pieces[0], 2 * MODEL_PAGE);
  memcpy(b->model->pieces[1], b->pieces[1], 2 * MODEL_PAGE);
  b->model->lds_bytes = b->t->env.lds_bytes;
}

/* Fails unless the wave's memory is as the model says. */
MODEL_UNUSED static void bench_compare(const model_bench_t *b, const char *what) {
  const struct {
    const char *name;
    const uint8_t *is, *should;
    size_t size;
  } parts[] = {{"memory", b->t->memory, b->model->memory, ISA_MEMORY_BYTES},
               {"lds", b->t->lds, b->model->lds, ISA_LDS_BYTES},
               {"first piece", b->pieces[0], b->model->pieces[0], 2 * MODEL_PAGE},
               {"second piece", b->pieces[1], b->model->pieces[1], 2 * MODEL_PAGE}};
  for (unsigned p = 0; p < sizeof parts / sizeof *parts; p++)
    for (size_t i = memcmp(parts[p].is, parts[p].should, parts[p].size) ? 0 : parts[p].size;
         i < parts[p].size; i++)
      if (parts[p].is[i] != parts[p].should[i])
        fail_msg("%s: %s[%#zx] is %#x and should be %#x", what, parts[p].name, i, parts[p].is[i],
                 parts[p].should[i]);
}

/* A short program, decoded, for a thread that runs it again and again: the bench's own steps are for one
 * thread. */
typedef struct model_program {
  gs_inst_t inst[8];
  unsigned count, rounds;
  isa_wave_t *t;
} model_program_t;

MODEL_UNUSED static model_program_t model_decode(void **state, isa_wave_t *t, const char *text,
                                                 unsigned rounds) {
  model_program_t program = {.rounds = rounds, .t = t};
  size_t count;
  const uint32_t *words = isa_assemble(state, t->env.target, text, &count);
  const gs_handler_t *const handlers = isa_handlers(state);
  while (count) {
    gs_inst_t *inst = &program.inst[program.count++];
    assert_true(program.count <= sizeof program.inst / sizeof *program.inst);
    assert_true(gs_decode(t->env.target, words, count, inst));
    inst->fn = gs_handler_fn(&handlers[inst->op - gs_opcodes]);
    words += inst->size / 4;
    count -= inst->size / 4;
  }
  return program;
}
/* For pthread_create. */
MODEL_UNUSED static void *model_run(void *argument) {
  const model_program_t *program = argument;
  for (unsigned i = 0; i < program->rounds; i++) {
    program->t->w.pc = ISA_CODE;
    for (unsigned k = 0; k < program->count; k++) {
      program->t->w.pc += program->inst[k].size;
      program->inst[k].fn(&program->t->w, &program->inst[k]);
    }
  }
  return NULL;
}

/* How the lanes of a wave are spread. */
typedef enum model_layout {
  LAYOUT_DENSE,   /* side by side */
  LAYOUT_UNIFORM, /* all at one place */
  LAYOUT_REVERSED,
  LAYOUT_ALIGNED, /* anywhere, at multiples of 4 */
  LAYOUT_ANY,     /* anywhere */
  LAYOUTS
} model_layout_t;

/* Where lane `l` starts, given how many bytes there are to choose from. */
MODEL_UNUSED static uint32_t model_start(model_layout_t layout, unsigned l, unsigned bytes, uint32_t room,
                                         uint64_t *seed) {
  const uint32_t places = room - bytes + 1;
  switch (layout) {
  case LAYOUT_DENSE: return l * bytes % places;
  case LAYOUT_UNIFORM: return 16 % places;
  case LAYOUT_REVERSED: return (63 - l) * bytes % places;
  case LAYOUT_ALIGNED: return (uint32_t)(isa_random(seed) % places) & ~3u;
  default: return (uint32_t)(isa_random(seed) % places);
  }
}

/* Execution masks that tests go through. */
MODEL_UNUSED static const uint64_t model_masks[] = {
    UINT64_MAX, UINT64_C(0xffffffff), UINT64_C(0x8000000000000001), UINT64_C(0x0123456789abcdee), 0x200000,
    0};
enum { MODEL_MASKS = 6 };

#endif
