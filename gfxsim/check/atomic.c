/* Atomic operations that the memory they are done on does not have: on a card they are lost, or do something
 * else, and here they work. Not here: who else accesses the memory (race.c). */
#include <string.h>

#include "check/race.h"
#include "exec/place.h"
#include "isa/memory.h"

static const gs_rule_t rules[] = {
    {"race", "link", GS_SEVERITY_ERROR, "An atomic operation on the host's memory that PCIe does not have"},
    {"race", "float", GS_SEVERITY_ERROR,
     "An atomic operation of floating point on memory that others may access meanwhile"},
};
enum { RULE_LINK, RULE_FLOAT, RULE_COUNT };

static const char *const hints[] = {
    [RULE_LINK] =
        "PCIe knows fetch-and-add, swap and compare-and-swap; map the variable, or have it in the device's "
        "memory (omp_target_alloc)",
    [RULE_FLOAT] = "compile with -mno-unsafe-fp-atomics, or use coarse-grained memory",
};

/* What some memory does not have, by what follows "atomic_" in the name. */
typedef struct kind {
  const char *name;
  bool link, fine; /* the link to the host has it; fine-grained memory has it */
} kind_t;
static const kind_t kinds[] = {
    {"add", true, true},       {"add_x2", true, true},      {"swap", true, true},
    {"swap_x2", true, true},   {"cmpswap", true, true},     {"cmpswap_x2", true, true},
    {"add_u32", true, true},   {"add_u64", true, true},     {"swap_b32", true, true},
    {"swap_b64", true, true},  {"cmpswap_b32", true, true}, {"cmpswap_b64", true, true},
    {"add_f32", false, false}, {"add_f64", false, false},   {"pk_add_f16", false, false},
    {"min_f64", false, false}, {"max_f64", false, false},
};

/* Answers of this thread. */
enum { ANSWERS = 64 };
static _Thread_local struct { uint64_t pc, start, end, version; } good[ANSWERS];

/* The rule that the instruction breaks on such memory, or RULE_COUNT. gfx942 and gfx950 have all of them
 * everywhere, but for those of system scope, which leave the GPU. */
static unsigned rule_of(const gs_race_t *race, gs_target_t target, const char *instruction,
                        gs_vm_kind_t memory) {
  const char *name = strstr(instruction, "atomic_");
  kind_t kind = {"", false, true}; /* of integers, and none of PCIe's */
  for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++) {
    const size_t length = strlen(kinds[i].name);
    if (memcmp(name + 7, kinds[i].name, length) == 0 && (name[7 + length] == ' ' || !name[7 + length]))
      kind = kinds[i];
  }
  if (!name || memory == GS_VM_COARSE || (target & GS_GFX9_4 && !strstr(name, " sc1")))
    return RULE_COUNT;
  if (memory == GS_VM_HOST && (!kind.link || !race->link_has_atomics))
    return kind.fine ? RULE_LINK : RULE_FLOAT;
  return kind.fine || target & GS_GFX9_4 ? RULE_COUNT : RULE_FLOAT;
}

static void tell(gs_race_t *race, unsigned rule, uint64_t address, uint32_t bytes, bool on_host,
                 const gs_side_t *side, gs_found_t *found) {
  gs_finding_t finding = {.address = address, .bytes = bytes, .hint = hints[rule]};
  finding.side[0] = *side;
  snprintf(finding.title, sizeof finding.title, "Invalid atomic operation of %u bytes on %s memory", bytes,
           on_host ? "the host's" : "fine-grained");
  finding.about_block = gs_blocks_find(race->blocks, address, &finding.block);
  gs_findings_tell(race->findings, found, &finding);
}

/* One lane, of whose memory this thread knows nothing good; that it keeps at `at`. */
static __attribute__((noinline)) void look(gs_race_t *race, const gs_wave_t *w, uint64_t address,
                                           uint32_t bytes, unsigned lane, unsigned at) {
  const gs_vm_map_t *map = atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed);
  const gs_vm_range_t *range = gs_vm_find(map, address);
  if (!range)
    return;
  gs_side_t side = {.actor = GS_ACTOR_NONE};
  unsigned rule = RULE_COUNT;
  if (range->kind != GS_VM_COARSE) {
    gs_side_of_wave(&side, w, lane);
    rule = rule_of(race, w->env->target, side.place.instruction, range->kind);
  }
  good[at].pc = w->pc;
  good[at].start = range->start;
  good[at].end = range->end;
  if (rule == RULE_COUNT)
    return;
  const gs_key_t key = {.rule = &rules[rule], .pc = {w->pc}, .object = {range->allocation}};
  gs_found_t *found = gs_findings_meet(race->findings, &key, gs_times(w, 1));
  if (found)
    tell(race, rule, address, bytes, range->kind == GS_VM_HOST, &side, found);
}

void gs_atomic_look(gs_race_t *race, const gs_wave_t *w, const gs_access_t *a, uint64_t lanes) {
  const unsigned at = (unsigned)(w->pc / 4) % ANSWERS;
  const uint64_t version = atomic_load_explicit(&race->blocks->version, memory_order_acquire);
  if (good[at].pc != w->pc || good[at].version != version)
    good[at].start = good[at].end = 0;
  good[at].version = version;
  uint64_t start = good[at].start, end = good[at].end;
  for (uint64_t left = lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    if (a->at[l] >= start && a->at[l] < end)
      continue;
    look(race, w, a->at[l], a->bytes, l, at);
    start = good[at].start;
    end = good[at].end;
  }
}
