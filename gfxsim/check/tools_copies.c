/* The part of libgfxsim-check.so that tells of copies: takes the places of HSA's functions that copy and
 * fill.
 */
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "check/tools.h"

enum { CORE_COPY = 35, OWN_FRAMES = 3 };

/* Places of AMD's extensions; 0 = there is no such function. */
typedef struct places {
  uint32_t major;
  unsigned copy, on_engine, fill, rect;
} places_t;
static const places_t known_places[] = {{1, 15, 0, 22, 38} /* ROCr 5 */, {2, 15, 16, 24, 40} /* ROCr 6 */};

typedef hsa_status_t copy_t(void *, const void *, size_t);
typedef hsa_status_t async_copy_t(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t,
                                  const hsa_signal_t *, hsa_signal_t);
typedef hsa_status_t on_engine_t(void *, hsa_agent_t, const void *, hsa_agent_t, size_t, uint32_t,
                                 const hsa_signal_t *, hsa_signal_t, uint32_t, bool);
typedef hsa_status_t fill_t(void *, uint32_t, size_t);
typedef hsa_status_t rect_t(const hsa_pitched_ptr_t *, const hsa_dim3_t *, const hsa_pitched_ptr_t *,
                            const hsa_dim3_t *, const hsa_dim3_t *, hsa_agent_t, hsa_amd_copy_direction_t,
                            uint32_t, const hsa_signal_t *, hsa_signal_t);

/* The file's one context object, as the library's is: ROCr's functions come back without any other. */
static struct {
  gfxsim_note_copy_t *note;
  copy_t *copy;
  async_copy_t *async_copy;
  on_engine_t *on_engine;
  fill_t *fill;
  rect_t *rect;
} copies;

static __attribute__((noinline)) void tell(const gfxsim_copy_t *copy, const char *call) {
  gfxsim_stack_t stack;
  gs_look_back(&stack, OWN_FRAMES);
  copies.note(copy, call, &stack);
}

static gfxsim_copy_t linear(const void *to, const void *from, uint64_t bytes) {
  return (gfxsim_copy_t){
      .to = (uintptr_t)to, .from = (uintptr_t)from, .width = bytes, .height = 1, .depth = 1};
}

static hsa_status_t on_copy(void *to, const void *from, size_t bytes) {
  gfxsim_copy_t copy = linear(to, from, bytes);
  copy.any_host_memory = 1;
  tell(&copy, "hsa_memory_copy");
  return copies.copy(to, from, bytes);
}

static hsa_status_t on_async_copy(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent,
                                  size_t bytes, uint32_t count, const hsa_signal_t *signals,
                                  hsa_signal_t done) {
  const gfxsim_copy_t copy = linear(to, from, bytes);
  tell(&copy, "hsa_amd_memory_async_copy");
  return copies.async_copy(to, to_agent, from, from_agent, bytes, count, signals, done);
}

static hsa_status_t on_on_engine(void *to, hsa_agent_t to_agent, const void *from, hsa_agent_t from_agent,
                                 size_t bytes, uint32_t count, const hsa_signal_t *signals, hsa_signal_t done,
                                 uint32_t engine, bool force) {
  const gfxsim_copy_t copy = linear(to, from, bytes);
  tell(&copy, "hsa_amd_memory_async_copy_on_engine");
  return copies.on_engine(to, to_agent, from, from_agent, bytes, count, signals, done, engine, force);
}

static hsa_status_t on_fill(void *to, uint32_t value, size_t dwords) {
  const gfxsim_copy_t copy = linear(to, NULL, (uint64_t)dwords * sizeof value);
  tell(&copy, "hsa_amd_memory_fill");
  return copies.fill(to, value, dwords);
}

static uint64_t first_byte(const hsa_pitched_ptr_t *side, const hsa_dim3_t *offset) {
  return (uintptr_t)side->base + offset->x + (uint64_t)offset->y * side->pitch +
         (uint64_t)offset->z * side->slice;
}

static hsa_status_t on_rect(const hsa_pitched_ptr_t *to, const hsa_dim3_t *to_offset,
                            const hsa_pitched_ptr_t *from, const hsa_dim3_t *from_offset,
                            const hsa_dim3_t *range, hsa_agent_t agent, hsa_amd_copy_direction_t direction,
                            uint32_t count, const hsa_signal_t *signals, hsa_signal_t done) {
  if (to && to_offset && from && from_offset && range) {
    const gfxsim_copy_t copy = {.to = first_byte(to, to_offset),
                                .to_pitch = to->pitch,
                                .to_slice = to->slice,
                                .from = first_byte(from, from_offset),
                                .from_pitch = from->pitch,
                                .from_slice = from->slice,
                                .width = range->x,
                                .height = range->y,
                                .depth = range->z};
    tell(&copy, "hsa_amd_memory_async_copy_rect");
  }
  return copies.rect(to, to_offset, from, from_offset, range, agent, direction, count, signals, done);
}

static void replace_in(gs_hsa_table_t *table, unsigned place, gs_hsa_function_t *ours, void *theirs) {
  if (place && gs_hsa_has(table, place))
    gs_hsa_replace(table, place, ours, theirs);
}

void gs_copies_watch(gs_hsa_table_t *core, gs_hsa_table_t *amd, gfxsim_note_copy_t *note) {
  copies.note = note;
  replace_in(core, CORE_COPY, (gs_hsa_function_t *)on_copy, &copies.copy);
  for (unsigned i = 0; i < sizeof known_places / sizeof *known_places; i++) {
    const places_t *place = &known_places[i];
    if (place->major != amd->major)
      continue;
    replace_in(amd, place->copy, (gs_hsa_function_t *)on_async_copy, &copies.async_copy);
    replace_in(amd, place->on_engine, (gs_hsa_function_t *)on_on_engine, &copies.on_engine);
    replace_in(amd, place->fill, (gs_hsa_function_t *)on_fill, &copies.fill);
    replace_in(amd, place->rect, (gs_hsa_function_t *)on_rect, &copies.rect);
  }
}
