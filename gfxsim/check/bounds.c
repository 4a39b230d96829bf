/* Compares each access of a kernel with the blocks that the program has. Most are answered by what the thread
 * remembers: where the instruction in hand found its last good address. Not here: the blocks (blocks.c), what
 * is said of a finding (findings.c). */
#include "check/check.h"
#include "isa/memory.h"

/* Good answers of this thread, by instruction. They are the executing thread's, as it is the thread that asks
 * 10 million times a second. */
enum { MEMORIES = 256 };
typedef struct memory {
  uint64_t version, start, end;
} memory_t;
static _Thread_local struct {
  const gs_check_t *check;
  memory_t memory[MEMORIES];
} remembered;

static gs_check_t *check_of(const gs_wave_t *w) {
  return w->env->watch->context;
}

/* What the thread remembers for the instruction in hand; empty when that is no longer true. */
static memory_t *recall(const gs_wave_t *w) {
  gs_check_t *check = check_of(w);
  if (remembered.check != check) {
    memset(&remembered, 0, sizeof remembered);
    remembered.check = check;
  }
  memory_t *memory = &remembered.memory[w->pc / 8 % MEMORIES];
  const uint64_t version = atomic_load_explicit(&check->blocks.version, memory_order_acquire);
  if (memory->version != version)
    *memory = (memory_t){version, 0, 0};
  return memory;
}

static bool is_inside(const memory_t *memory, uint64_t address, uint64_t size) {
  return address >= memory->start && address < memory->end && memory->end - address >= size;
}

/* The dword of scratch memory at `address` as the work-item's own offset into its private memory. */
static uint64_t private_offset(uint64_t address, const gs_extent_t *own) {
  return (address - own->start) / GS_PRIVATE_STEP * 4 + address % 4;
}

/* Whether the bytes are in scratch memory; if they are, `finding` says whether they are the wave's. */
static bool is_scratch(const gs_wave_t *w, uint64_t address, uint64_t size, gs_finding_t *finding,
                       bool *good) {
  gs_extent_t all, own;
  gs_place_scratch(w, &all, &own);
  if (address < all.start || address >= all.end)
    return false;
  *good = address >= own.start && address < own.end && own.end - address >= size;
  finding->kind = GS_FINDING_PRIVATE;
  finding->address = private_offset(address, &own);
  finding->limit = (own.end - own.start) / GS_LANES;
  return true;
}

/* Whether all bytes are good. `finding` gets what is wrong, as far as the address goes. */
static bool is_good(const gs_wave_t *w, memory_t *memory, uint64_t address, uint64_t size,
                    gs_finding_t *finding) {
  bool good;
  if (is_inside(memory, address, size))
    return true;
  if (is_scratch(w, address, size, finding, &good))
    return good;
  gs_answer_t answer;
  gs_blocks_t *blocks = &check_of(w)->blocks;
  const gs_vm_map_t *map = atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed);
  uint64_t at = address;
  while (at < address + size) {
    gs_blocks_ask(blocks, map, at, &answer);
    if (answer.verdict != GS_VERDICT_GOOD)
      break;
    memory->start = answer.start;
    memory->end = answer.end;
    at = answer.end;
  }
  if (at >= address + size)
    return true;
  /* A range that this snapshot lacks may be in the next, with which the instruction is repeated. */
  if (answer.verdict == GS_VERDICT_NOTHING && gs_vm_reader_is_behind(w->env->vm))
    return true;
  static const gs_finding_kind_t kinds[] = {[GS_VERDICT_OUTSIDE] = GS_FINDING_OUTSIDE,
                                            [GS_VERDICT_FREED] = GS_FINDING_FREED,
                                            [GS_VERDICT_NOTHING] = GS_FINDING_NOTHING};
  finding->kind = kinds[answer.verdict];
  finding->address = address;
  finding->block = answer.block;
  return false;
}

static void report(gs_wave_t *w, const gs_finding_t *finding) {
  if (finding->lanes)
    gs_findings_add(&check_of(w)->findings, w, finding);
}

/* Looks at one lane. The first that is wrong is what is told; the others are counted. */
static void look(gs_wave_t *w, memory_t *memory, uint64_t address, uint64_t size, unsigned lane,
                 gs_finding_t *finding) {
  gs_finding_t found = *finding;
  if (is_good(w, memory, address, size, &found))
    return;
  if (!finding->lanes) {
    found.lane = lane;
    *finding = found;
  }
  finding->lanes++;
}

static gs_finding_t finding_of(const gs_access_t *a) {
  return (gs_finding_t){.rights = a->rights, .bytes = a->bytes};
}

static void watch_lanes(gs_wave_t *w, const gs_access_t *a) {
  memory_t *memory = recall(w);
  const uint64_t span = gs_access_span(a);
  gs_finding_t finding = finding_of(a);
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    if (GS_UNLIKELY(!is_inside(memory, a->at[l], span)))
      look(w, memory, a->at[l], span, l, &finding);
  }
  report(w, &finding);
}

static void watch_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                        bool scalar) {
  memory_t *memory = recall(w);
  if (GS_LIKELY(is_inside(memory, address, size)))
    return;
  gs_finding_t finding = {.rights = rights, .bytes = stride ? stride : (uint32_t)size};
  if (scalar) {
    /* Compilers fetch small items with the dword that they are in, which no card minds. */
    for (uint64_t at = address; at < address + size; at += 4) {
      gs_finding_t byte = finding;
      for (unsigned i = 0; i < 4; i++)
        if (is_good(w, memory, at + i, 1, &byte))
          goto next;
      look(w, memory, at, 4, 0, &finding);
    next:;
    }
    if (finding.lanes)
      finding.lanes = 1;
  } else if (stride) {
    for (unsigned l = 0; l < GS_LANES; l++)
      look(w, memory, address + l * (uint64_t)stride, stride, l, &finding);
  } else {
    const uint64_t exec = gs_exec(w);
    look(w, memory, address, size, exec ? (unsigned)__builtin_ctzll(exec) : 0, &finding);
    if (finding.kind == GS_FINDING_PRIVATE) /* a whole row for each dword of a lane */
      finding.bytes = (uint32_t)(size / GS_LANES);
    if (finding.lanes)
      finding.lanes = (uint32_t)__builtin_popcountll(exec);
  }
  report(w, &finding);
}

static void look_at_lds(const gs_wave_t *w, const gs_access_t *a, unsigned lane, uint64_t offset,
                        gs_finding_t *finding) {
  const uint64_t limit = w->env->lds_bytes;
  if (offset < limit && limit - offset >= a->bytes)
    return;
  if (!finding->lanes) {
    finding->kind = GS_FINDING_LDS;
    finding->lane = lane;
    finding->address = offset;
    finding->limit = limit;
  }
  finding->lanes++;
}

static void watch_lds(gs_wave_t *w, const gs_access_t *a) {
  gs_finding_t finding = finding_of(a);
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    look_at_lds(w, a, l, a->at[l], &finding);
  }
  report(w, &finding);
}

static void watch_mixed(gs_wave_t *w, const gs_access_t *a) {
  memory_t *memory = recall(w);
  gs_finding_t finding = finding_of(a);
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint32_t offset = (uint32_t)a->at[l];
    switch (a->at[l] >> 32) {
    case GS_SHARED_APERTURE_HI: look_at_lds(w, a, l, offset, &finding); break;
    case GS_PRIVATE_APERTURE_HI:
      look(w, memory, gs_private_address(w, offset) + 4u * l, a->bytes < 4 ? a->bytes : 4, l, &finding);
      break;
    default: look(w, memory, a->at[l], a->bytes, l, &finding);
    }
  }
  report(w, &finding);
}

void gs_bounds_watch(gs_check_t *check) {
  check->watch = (gs_watch_t){
      .context = check, .lanes = watch_lanes, .mixed = watch_mixed, .block = watch_block, .lds = watch_lds};
}
