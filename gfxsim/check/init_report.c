/* Where undefined values came from, and what is said when they matter. Not here: when that is (init_flow.c,
 * init_memory.c). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/init.h"
#include "exec/source_line.h"

/* ---- Origins ---- */

static bool is_same(const gs_origin_t *origin, gs_source_t source, uint64_t pc, uint64_t key) {
  return origin->pc == pc && origin->source == source && origin->key == key;
}

/* The place of an origin in the table: its own, or a free one; 0 when the table is full. Lock held. */
static uint32_t find_place(const gs_init_t *init, gs_source_t source, uint64_t pc, uint64_t key) {
  const uint64_t hash = (pc / 4 ^ key * 31 ^ (uint64_t)source << 12) * UINT64_C(0x9E3779B97F4A7C15) >> 40;
  for (uint32_t i = 0; i < 64; i++) {
    const uint32_t place = (uint32_t)(hash + i) % GS_MOST_ORIGINS;
    if (place && (!init->origin[place].pc || is_same(&init->origin[place], source, pc, key)))
      return place;
  }
  return 0;
}

/* Where the work-item's stack frame begins, by the register that LLVM has for that: of the whole wave's
 * memory where private memory is found by a resource, of each work-item's where by an address. */
static uint64_t frame_of(const gs_wave_t *w) {
  enum { FRAME = 33 };
  const bool by_address = w->env->target & (GS_GFX9_4 | GS_GFX11);
  return w->s.u32[FRAME] / (by_address ? 1 : gs_wave_lanes(w));
}

uint32_t gs_origin_meet(gs_wave_t *w, gs_source_t source, uint64_t key, uint64_t detail) {
  gs_init_t *init = gs_init_of(w);
  gs_block_note_t block, *found = NULL;
  if (source == GS_SOURCE_DEVICE && gs_blocks_find(&init->check->blocks, detail, &block)) {
    key = block.id;
    found = &block;
  }
  pthread_mutex_lock(&init->lock);
  const uint32_t place = find_place(init, source, w->pc, key);
  gs_origin_t *origin = &init->origin[place];
  if (place && !origin->pc) {
    *origin = (gs_origin_t){.source = source, .pc = w->pc, .key = key, .detail = detail};
    if (source == GS_SOURCE_PRIVATE)
      origin->in_frame = (int64_t)(detail - frame_of(w));
    if (found && (origin->block = malloc(sizeof *found)))
      *origin->block = *found;
  }
  pthread_mutex_unlock(&init->lock);
  return place;
}

static gs_origin_t origin_of(gs_init_t *init, uint32_t number) {
  pthread_mutex_lock(&init->lock);
  const gs_origin_t origin = init->origin[number % GS_MOST_ORIGINS];
  pthread_mutex_unlock(&init->lock);
  return origin;
}

/* ---- Words ---- */

static const gs_rule_t rules[] = {
    [GS_USE_CONDITION] = {"init", "condition", GS_SEVERITY_ERROR, "A branch on an uninitialised value"},
    [GS_USE_MASK] = {"init", "condition", GS_SEVERITY_ERROR, "A branch on an uninitialised value"},
    [GS_USE_ADDRESS] = {"init", "address", GS_SEVERITY_ERROR, "An uninitialised value used as an address"},
    [GS_USE_INDEX] = {"init", "index", GS_SEVERITY_ERROR,
                      "An uninitialised value used as the index of a register"},
    [GS_USE_JUMP] = {"init", "jump", GS_SEVERITY_ERROR, "A jump to an uninitialised address"},
    [GS_USE_HOST] = {"init", "host", GS_SEVERITY_ERROR, "An uninitialised value given to the host"},
};

static const char *const titles[] = {
    [GS_USE_CONDITION] = "Branch depends on an uninitialised value",
    [GS_USE_MASK] = "Branch depends on an uninitialised value",
    [GS_USE_ADDRESS] = "Uninitialised value used as an address",
    [GS_USE_INDEX] = "Uninitialised value used as an index",
    [GS_USE_JUMP] = "Jump to an uninitialised address",
    [GS_USE_HOST] = "Uninitialised value stored where the host reads it",
};

/* The source line of an instruction, or its address. */
static void write_line(uint64_t pc, char *text, size_t size) {
  if (!gs_source_line_find(pc - 4, text, size))
    snprintf(text, size, "the instruction before 0x%" PRIx64, pc);
}

static void write_origin(const gs_origin_t *origin, gs_finding_t *finding, char *text, size_t size) {
  char line[GS_PLACE_TEXT], variable[160];
  write_line(origin->pc, line, sizeof line);
  switch (origin->source) {
  case GS_SOURCE_VECTOR:
  case GS_SOURCE_SCALAR:
    snprintf(text, size, "The value was in register %c%" PRIu64 ", which nothing was written to, at %s",
             origin->source == GS_SOURCE_VECTOR ? 'v' : 's', origin->detail, line);
    return;
  case GS_SOURCE_LOCAL:
    snprintf(text, size,
             "The value was read at %s, from offset %" PRIu64
             " of the workgroup's local memory (LDS), which nothing was written to",
             line, origin->detail);
    return;
  case GS_SOURCE_PRIVATE:
    if (gs_source_variable_find(origin->pc - 4, origin->in_frame, variable, sizeof variable))
      snprintf(text, size, "The value was read at %s, from %s, which nothing was written to", line, variable);
    else
      snprintf(text, size,
               "The value was read at %s, from offset %" PRIu64
               " of the work-item's private memory (stack), which nothing was written to",
               line, origin->detail);
    return;
  default:
    snprintf(text, size, "The value was read at %s, from device memory that nothing was written to", line);
    finding->about_block = origin->block != NULL;
    finding->address = origin->detail;
    finding->bytes = 1;
    if (origin->block)
      finding->block = *origin->block;
  }
}

/* What is known of where a value came from, from its last store to where it was read. */
static void describe(gs_init_t *init, uint32_t number, gs_finding_t *finding) {
  char line[GS_PLACE_TEXT], told[GS_PLACE_TEXT] = "";
  unsigned used = 0;
  gs_origin_t origin = origin_of(init, number);
  while (number && origin.source == GS_SOURCE_STORED && used + 1 < GS_FINDING_DETAILS) {
    write_line(origin.pc, line, sizeof line);
    if (strcmp(line, told) != 0) /* a line may keep it in between */
      snprintf(finding->detail[used++], GS_FINDING_TEXT, "The value was stored at %s", line);
    memcpy(told, line, sizeof told);
    number = (uint32_t)origin.detail;
    origin = origin_of(init, number);
  }
  if (number && origin.source != GS_SOURCE_STORED)
    write_origin(&origin, finding, finding->detail[used], GS_FINDING_TEXT);
}

/* ---- Findings ---- */

void gs_init_report(gs_wave_t *w, const gs_inst_t *in, gs_use_t use, uint64_t lanes, uint32_t origin) {
  gs_check_t *check = gs_check_of(w);
  if (w->env->watch == &check->internal)
    return;
  const gs_key_t key = {.rule = &rules[use], .pc = {w->pc}};
  const unsigned count = (unsigned)__builtin_popcountll(lanes);
  gs_found_t *found = gs_findings_meet(&check->findings, &key, gs_times(w, count ? count : 1));
  if (!found)
    return;
  gs_finding_t finding = {.hint = NULL};
  snprintf(finding.title, sizeof finding.title, "%s", titles[use]);
  /* Places are known by the end of instructions that access memory, which are longer than some. */
  const uint64_t pc = w->pc;
  w->pc = pc - in->size + GS_PLACE_INSTRUCTION_BYTES;
  gs_side_of_wave(&finding.side[0], w, lanes ? (unsigned)__builtin_ctzll(lanes) : 0);
  w->pc = pc;
  finding.side[0].more = count ? count - 1 : 0;
  describe(check->init, origin, &finding);
  gs_findings_tell(&check->findings, found, &finding);
}

/* How many bytes from `start` on kernels stored that are undefined. */
static uint64_t count_stored(gs_bits_t *memory, uint64_t start, uint64_t end) {
  uint64_t count = 0;
  uint32_t origin;
  for (uint64_t at = start; (at = gs_bits_find(memory, at, end, &origin)) < end; at++)
    count++;
  return count;
}

void gs_init_report_copy(gs_check_t *check, uint64_t start, uint64_t end) {
  gs_bits_t *memory = &check->init->memory;
  uint32_t number = 0;
  const uint64_t first = gs_bits_find(memory, start, end, &number), count = count_stored(memory, start, end);
  if (!count)
    return;
  const gs_origin_t stored = origin_of(check->init, number);
  gs_block_note_t block = {.id = 0};
  const bool known = gs_blocks_find(&check->blocks, first, &block);
  const gs_key_t key = {
      .rule = &rules[GS_USE_HOST], .pc = {stored.pc}, .object = {gs_block_identity(&block)}};
  gs_found_t *found = gs_findings_meet(&check->findings, &key, 1);
  if (!found)
    return;
  gs_finding_t finding = {.hint = NULL};
  char name[GS_BLOCK_NAME + 16] = "device memory";
  if (*block.name)
    snprintf(name, sizeof name, "`%s`", block.name);
  snprintf(finding.title, sizeof finding.title,
           "Uninitialised values copied to the host: %" PRIu64 " of %" PRIu64 " bytes, of %s", count,
           end - start, name);
  describe(check->init, number, &finding);
  if (known && !finding.about_block) {
    finding.about_block = true;
    finding.address = first;
    finding.bytes = 1;
    finding.block = block;
  }
  gs_findings_tell(&check->findings, found, &finding);
}
