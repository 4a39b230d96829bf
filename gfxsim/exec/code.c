/* The cache of decoded lines: a hash table with a chain per bucket, in which lines are only ever added. */
#include "exec/code.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "isa/watch.h"
#include "isa/wave.h"

enum { BUCKETS = 4096 };

struct gs_code {
  gs_target_t target;
  gs_handlers_t handlers;
  uint64_t epoch;
  atomic_uint references;
  pthread_mutex_t adding, translating; /* the second is taken first */
  gs_translator_t *translator;         /* or NULL */
  _Atomic(gs_code_line_t *) bucket[BUCKETS];
};

gs_code_t *gs_code_create(gs_target_t target, const gs_handlers_t *handlers, uint64_t epoch,
                          bool translates) {
  gs_code_t *code = calloc(1, sizeof *code);
  if (!code)
    return NULL;
  code->target = target;
  code->handlers = *handlers;
  code->epoch = epoch;
  atomic_init(&code->references, 1);
  pthread_mutex_init(&code->adding, NULL);
  pthread_mutex_init(&code->translating, NULL);
  code->translator = translates ? gs_translator_create(handlers->usual, handlers->looks) : NULL;
  return code;
}

gs_code_t *gs_code_acquire(gs_code_t *code) {
  atomic_fetch_add_explicit(&code->references, 1, memory_order_relaxed);
  return code;
}

static void free_cells(gs_code_cells_t *cells) {
  for (size_t i = 0; cells && cells->sums && i < GS_LINE_SLOTS; i++)
    free(cells->sums[i]);
  if (cells)
    free(cells->sums);
  free(cells);
}

static void free_line(gs_code_line_t *line) {
  if (line) {
    free_cells(line->cells);
    free(line->digests);
  }
  free(line);
}

void gs_code_release(gs_code_t *code) {
  /* Release: this thread's use of the lines ends before another frees them; acquire: the freeing thread sees
   * that. */
  if (!code || atomic_fetch_sub_explicit(&code->references, 1, memory_order_acq_rel) != 1)
    return;
  for (size_t i = 0; i < BUCKETS; i++) {
    gs_code_line_t *line = atomic_load_explicit(&code->bucket[i], memory_order_relaxed);
    while (line) {
      gs_code_line_t *next = line->next;
      free_line(line);
      line = next;
    }
  }
  gs_translator_destroy(code->translator);
  pthread_mutex_destroy(&code->translating);
  pthread_mutex_destroy(&code->adding);
  free(code);
}

uint64_t gs_code_epoch(const gs_code_t *code) {
  return code->epoch;
}

/* Handler of words that are no instruction of the target. */
static void illegal_instruction(gs_wave_t *w, const gs_inst_t *in) {
  gs_wave_fault(w, GS_WAVE_FAULT_ILLEGAL, w->pc - in->size, 0, GS_MAX_LANES);
}

/* Copies the line's dwords, and up to two beyond it for an instruction that crosses its end, as far as the
 * GPU may execute there. Returns how many were read: 0 when not even the line is executable. */
static size_t read_words(const gs_vm_map_t *map, uint64_t base, uint32_t words[GS_LINE_SLOTS + 2]) {
  const void *line = gs_vm_translate(map, base, GS_LINE_BYTES, GS_VM_EXECUTE);
  if (!line)
    return 0;
  memcpy(words, line, GS_LINE_BYTES);
  size_t count = GS_LINE_SLOTS;
  while (count < GS_LINE_SLOTS + 2) {
    const uint32_t *word = gs_vm_translate(map, base + 4 * count, 4, GS_VM_EXECUTE);
    if (!word)
      break;
    words[count++] = *word;
  }
  return count;
}

static uint64_t base_of(uint64_t address) {
  return address & ~(uint64_t)(GS_LINE_BYTES - 1);
}

static gs_op_fn_t *handler_of(const gs_handlers_t *handlers, size_t row) {
  gs_op_fn_t *const watched = handlers->watched ? handlers->watched(row) : NULL;
  return watched ? watched : gs_handler_fn(&handlers->usual[row]);
}

bool gs_code_decode(gs_target_t target, const gs_handlers_t *handlers, const gs_vm_map_t *map,
                    uint64_t address, gs_code_line_t *line) {
  uint32_t words[GS_LINE_SLOTS + 2];
  const size_t count = read_words(map, base_of(address), words);
  if (count == 0)
    return false;
  line->base = base_of(address);
  line->cells = NULL;
  line->digests = NULL;
  for (size_t i = 0; i < GS_LINE_SLOTS; i++) {
    gs_inst_t *inst = &line->inst[i];
    gs_op_fn_t *fn = NULL;
    if (gs_decode(target, words + i, count - i, inst) && !(inst->op->flags & GS_OPF_ILLEGAL))
      fn = handler_of(handlers, (size_t)(inst->op - gs_opcodes));
    inst->fn = fn ? fn : illegal_instruction;
  }
  return true;
}

/* Whether each block is summed up for who watches. */
static bool has_sums(const gs_code_t *code) {
  return code->handlers.digests && code->handlers.digests->sum;
}

/* Without memory for them the line is interpreted. */
static gs_code_cells_t *new_cells(const gs_code_t *code) {
  gs_code_cells_t *cells = calloc(1, sizeof *cells);
  if (cells && has_sums(code) && !(cells->sums = calloc(GS_LINE_SLOTS, sizeof *cells->sums))) {
    free(cells);
    return NULL;
  }
  for (size_t i = 0; cells && i < GS_LINE_SLOTS; i++)
    atomic_init(&cells->block[i], gs_block_missing);
  return cells;
}

/* Without memory for them who watches does without. */
static char *new_digests(const gs_code_t *code, const gs_code_line_t *line) {
  enum { ALIGNMENT = 64 };
  const gs_watch_t *watch = code->handlers.digests;
  const size_t bytes = watch ? watch->digest_bytes : 0;
  char *digests = bytes ? aligned_alloc(ALIGNMENT, GS_LINE_SLOTS * bytes) : NULL;
  for (size_t i = 0; digests && i < GS_LINE_SLOTS; i++)
    watch->digest(watch->context, code->target, &line->inst[i], digests + i * bytes);
  return digests;
}

static gs_code_line_t *new_line(const gs_code_t *code, const gs_vm_map_t *map, uint64_t base) {
  gs_code_line_t *line = aligned_alloc(_Alignof(gs_code_line_t), sizeof *line);
  if (line && gs_code_decode(code->target, &code->handlers, map, base, line)) {
    line->cells = code->translator ? new_cells(code) : NULL;
    line->digests = new_digests(code, line);
    return line;
  }
  free(line);
  return NULL;
}

static gs_code_line_t *find(gs_code_line_t *line, uint64_t base) {
  while (line && line->base != base)
    line = line->next;
  return line;
}

const gs_code_line_t *gs_code_line(gs_code_t *code, const gs_vm_map_t *map, uint64_t address) {
  const uint64_t base = base_of(address);
  _Atomic(gs_code_line_t *) *bucket = &code->bucket[base / GS_LINE_BYTES % BUCKETS];
  /* Acquire pairs with the release below: a line found here is seen completely decoded. */
  gs_code_line_t *line = find(atomic_load_explicit(bucket, memory_order_acquire), base);
  if (line)
    return line;
  pthread_mutex_lock(&code->adding);
  gs_code_line_t *head = atomic_load_explicit(bucket, memory_order_relaxed);
  line = find(head, base);
  if (!line && (line = new_line(code, map, base))) {
    line->next = head;
    atomic_store_explicit(bucket, line, memory_order_release);
  }
  pthread_mutex_unlock(&code->adding);
  return line;
}

/* ---- Translated blocks ---- */

/* For gs_translate: the code, and the map to find lines in. */
typedef struct finder {
  gs_code_t *code;
  const gs_vm_map_t *map;
  gs_passage_t block[GS_BLOCK_MOST]; /* what was found, where blocks are summed up */
  unsigned count;
  bool is_over; /* nothing more passes with those */
} finder_t;

/* No block goes on to another one that nobody was asked about. */
static gs_cell_t no_cell = gs_block_missing;

/* Whether the instruction passes with those that were found before it. */
static bool may_pass(finder_t *finder, const gs_code_line_t *line, size_t slot, uint64_t address) {
  const size_t bytes = finder->code->handlers.digests->digest_bytes;
  const char *digest = line->digests ? line->digests + slot * bytes : NULL;
  if (!digest || *digest == GS_PASSES_NOT || finder->is_over || finder->count == GS_BLOCK_MOST)
    return false;
  finder->is_over = *digest == GS_PASSES_LAST;
  finder->block[finder->count++] = (gs_passage_t){address, digest, &line->inst[slot]};
  return true;
}

static bool find_place(void *context, uint64_t address, gs_code_place_t *place) {
  finder_t *finder = context;
  const gs_code_line_t *line = gs_code_line(finder->code, finder->map, address);
  if (!line || !line->cells)
    return false;
  const size_t slot = (address - line->base) / 4;
  const bool is_summed = has_sums(finder->code);
  if (is_summed && !may_pass(finder, line, slot, address))
    return false;
  *place = (gs_code_place_t){&line->inst[slot], is_summed ? &no_cell : &line->cells->block[slot]};
  return true;
}

/* The block, or NULL where there can't be one, or none that who watches lets pass. */
static gs_block_fn_t *translate(finder_t *finder, const gs_code_line_t *line, size_t slot) {
  gs_code_t *code = finder->code;
  unsigned count = 0;
  gs_block_fn_t *block = gs_translate(code->translator, line->base + 4 * slot, find_place, finder, &count);
  line->cells->count[slot] = (uint16_t)count;
  if (!block || !has_sums(code))
    return block;
  const gs_watch_t *watch = code->handlers.digests;
  line->cells->sums[slot] = watch->sum(watch->context, code->target, finder->block, count);
  return line->cells->sums[slot] ? block : NULL;
}

gs_block_fn_t *gs_code_block(gs_code_t *code, const gs_vm_map_t *map, const gs_code_line_t *line,
                             size_t slot) {
  gs_code_cells_t *cells = line->cells;
  finder_t finder = {.code = code, .map = map};
  pthread_mutex_lock(&code->translating);
  gs_block_fn_t *block = atomic_load_explicit(&cells->block[slot], memory_order_relaxed);
  if (block == gs_block_missing) {
    block = translate(&finder, line, slot);
    if (block) /* release: who finds the block finds its length and its sum, too */
      atomic_store_explicit(&cells->block[slot], block, memory_order_release);
    else
      atomic_store_explicit(&cells->heat[slot], GS_HEAT_NEVER, memory_order_relaxed);
  }
  pthread_mutex_unlock(&code->translating);
  return block;
}
