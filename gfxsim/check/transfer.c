/* See transfer.h. Of each mapped byte there is what was copied to the device last, what the host had then,
 * and flags. Kernels that set flags of the same part of a mapping exclude each other; whoever copies or
 * compares excludes all. */
#include "check/transfer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "check/gone.h"
#include "check/host.h"
#include "check/mapped.h"
#include "check/sweep.h"
#include "check/traffic.h"
#include "isa/memory.h"

static const gs_rule_t lost_rule = {"transfer", "lost", GS_SEVERITY_WARNING,
                                    "Mapped data that a kernel changed and nobody brought back"};
static const gs_rule_t stale_rule = {"transfer", "stale", GS_SEVERITY_WARNING,
                                     "Mapped data that the host changed and a kernel read as it was before"};
static const gs_rule_t overwritten_rule = {
    "transfer", "overwritten", GS_SEVERITY_WARNING,
    "A kernel's change of mapped data, which a copy of the host's other changes undid"};
static const gs_rule_t undone_rule = {"transfer", "undone", GS_SEVERITY_WARNING,
                                      "The host's change of mapped data, which a copy from the device undid"};

/* Bytes of a mapping whose flags one kernel at a time sets; and of which it is kept, together, that an access
 * changes no flags, or that all were WRITTEN. What is not kept may be so. */
enum { PART = 4096, LINE = 64 };
enum { SETTLED_READ = 1, SETTLED_WRITE = 2, ALL_WRITTEN = 4 };

typedef struct mapping {
  uint64_t start, end, host;
  gs_variable_t *variable;
  bool is_copied;          /* by the runtime, from the variable */
  bool came_ever;          /* by a copy engine, from anywhere */
  bool is_loaded;          /* a variable of an image: any region may access it */
  bool is_fresh;           /* what was sent last, the host had otherwise before */
  bool was_stale;          /* some of it was STALE, and may still be marked so */
  _Atomic bool is_written; /* some of it, since all was copied */
  _Atomic bool is_gone;    /* the host has freed its variable */
  uint64_t compared,
      compared_end;        /* offsets: what of it was compared with the host's when it was used last, */
  uint64_t region;         /* by this one, or whoever came until the next, */
  uint64_t patience;       /* or so many regions more */
  uint64_t stale;          /* bytes, of these */
  uint64_t first_stale;    /* offset */
  uint64_t undone;         /* bytes that copies to the host have put back, and nobody was told of; */
  uint64_t first_undone;   /* offset */
  uint64_t went_writer;    /* `writer`, when data left the device last */
  bool was_changed;        /* some of it is CHANGED, */
  bool is_overwritten;     /* or OVERWRITTEN, since all came to the host; */
  gfxsim_stack_t sent;     /* who has asked for that copy to the device, */
  uint64_t overwriting;    /* in which construct it has replaced what a kernel has written; */
  uint64_t overwritten_pc; /* which was this writer */
  gs_some_t overwritten;   /* bytes that came to the host so, and nobody was told of */
  uint64_t construct;      /* that had begun last when data left the device last */
  gs_gone_t *gone;         /* since then, as far as its calls are seen; or NULL */
  gfxsim_stack_t mapped;   /* who has mapped it */
  gfxsim_stack_t wanted;   /* who has asked for a copy to the host last */
  _Atomic uint64_t writer; /* program counter of who wrote it first, since it was copied */
  gs_mapped_t bytes;
  atomic_flag *setting; /* of each part's flags, by kernels; clear: nobody does */
  /* Of each line: SETTLED_*, ALL_WRITTEN. Set by who sets flags, while it excludes others, and asked by all.
   */
  _Atomic uint8_t *settled;
} mapping_t;

/* Who wrote: names are looked up once for each instruction. */
enum { WRITERS = 64 };
typedef struct writer {
  uint64_t pc;
  gs_side_t side;
} writer_t;

struct gs_transfer {
  gs_findings_t *findings;
  const gs_sweep_t *sweep;
  pthread_rwlock_t lock; /* of all but what kernels set in mappings */
  mapping_t **at;        /* by start; they do not overlap */
  size_t count, capacity;
  gs_variable_t *variables;
  bool any;                       /* somebody says what is mapped */
  uint64_t region;                /* how many have started */
  atomic_bool any_undone;         /* of some mapping */
  _Atomic uint64_t construct;     /* how many have begun */
  _Atomic uint64_t copies, bytes; /* of all copy engines */
  pthread_mutex_t writers_lock;   /* of what follows */
  writer_t writer[WRITERS];
  unsigned writers;
};

gs_transfer_t *gs_transfer_create(gs_findings_t *findings) {
  gs_transfer_t *transfer = calloc(1, sizeof *transfer);
  if (!transfer)
    return NULL;
  transfer->findings = findings;
  transfer->sweep = gs_sweep_for_processor();
  pthread_rwlock_init(&transfer->lock, NULL);
  pthread_mutex_init(&transfer->writers_lock, NULL);
  return transfer;
}

static void free_mapping(mapping_t *mapping) {
  free(mapping->bytes.flags);
  free(mapping->setting);
  free(mapping->settled);
  free(mapping->gone);
  free(mapping);
}

void gs_transfer_destroy(gs_transfer_t *transfer) {
  if (!transfer)
    return;
  for (size_t i = 0; i < transfer->count; i++)
    free_mapping(transfer->at[i]);
  free(transfer->at);
  while (transfer->variables) {
    gs_variable_t *next = transfer->variables->next;
    free(transfer->variables);
    transfer->variables = next;
  }
  pthread_mutex_destroy(&transfer->writers_lock);
  pthread_rwlock_destroy(&transfer->lock);
  free(transfer);
}

/* ---- What is mapped ---- */

/* The index of the first mapping that ends behind `address`. */
static size_t find_index(const gs_transfer_t *transfer, uint64_t address) {
  size_t low = 0, high = transfer->count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (transfer->at[middle]->end <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static mapping_t *find(const gs_transfer_t *transfer, uint64_t address) {
  const size_t index = find_index(transfer, address);
  mapping_t *mapping = index < transfer->count ? transfer->at[index] : NULL;
  return mapping && mapping->start <= address ? mapping : NULL;
}

static gs_variable_t *find_variable(gs_transfer_t *transfer, const char *name, const char *file,
                                    uint32_t line) {
  for (gs_variable_t *known = transfer->variables; known; known = known->next)
    if (known->line == line && !strncmp(known->name, name, sizeof known->name - 1) &&
        !strncmp(known->file, file, sizeof known->file - 1))
      return known;
  gs_variable_t *variable = calloc(1, sizeof *variable);
  if (!variable)
    return NULL;
  snprintf(variable->name, sizeof variable->name, "%s", name);
  snprintf(variable->file, sizeof variable->file, "%s", file);
  variable->line = line;
  variable->next = transfer->variables;
  transfer->variables = variable;
  return variable;
}

static mapping_t *make_mapping(const gs_transfer_t *transfer, uint64_t device, uint64_t bytes, uint64_t host,
                               gs_variable_t *variable) {
  mapping_t *mapping = variable ? calloc(1, sizeof *mapping) : NULL;
  uint16_t *shadow = mapping && bytes <= SIZE_MAX / 4 ? calloc(2 * sizeof *shadow, bytes) : NULL;
  atomic_flag *setting = shadow ? malloc((bytes + PART - 1) / PART * sizeof *setting) : NULL;
  _Atomic uint8_t *settled = setting ? calloc((bytes + LINE - 1) / LINE, sizeof *settled) : NULL;
  if (!settled) {
    free(setting);
    free(shadow);
    free(mapping);
    return NULL;
  }
  for (uint64_t i = 0; i < (bytes + PART - 1) / PART; i++)
    atomic_flag_clear(&setting[i]);
  mapping->start = device;
  mapping->end = device + bytes;
  mapping->host = host;
  mapping->region = transfer->region;
  mapping->compared_end = bytes; /* there is nothing yet that could be old */
  mapping->variable = variable;
  mapping->bytes.flags = shadow;
  mapping->setting = setting;
  mapping->settled = settled;
  mapping->bytes.host_had = (uint8_t *)(shadow + bytes);
  mapping->bytes.device_had = mapping->bytes.host_had + bytes;
  return mapping;
}

/* Lock held for writing. */
static void remove_range(gs_transfer_t *transfer, uint64_t start, uint64_t end) {
  const size_t first = find_index(transfer, start);
  size_t behind = first;
  while (behind < transfer->count && transfer->at[behind]->start < end)
    free_mapping(transfer->at[behind++]);
  memmove(transfer->at + first, transfer->at + behind, (transfer->count - behind) * sizeof *transfer->at);
  transfer->count -= behind - first;
}

static bool make_room(gs_transfer_t *transfer) {
  if (transfer->count < transfer->capacity)
    return true;
  const size_t capacity = transfer->capacity ? 2 * transfer->capacity : 64;
  mapping_t **at = realloc(transfer->at, capacity * sizeof *at);
  if (!at)
    return false;
  transfer->at = at;
  transfer->capacity = capacity;
  return true;
}

void gs_transfer_construct(gs_transfer_t *transfer) {
  if (transfer)
    atomic_fetch_add(&transfer->construct, 1);
}

void gs_transfer_listen(gs_transfer_t *transfer) {
  if (!transfer)
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  transfer->any = true;
  pthread_rwlock_unlock(&transfer->lock);
}

void gs_transfer_map(gs_transfer_t *transfer, uint64_t device, uint64_t bytes, const char *name,
                     const char *file, uint32_t line, uint64_t host, const gfxsim_stack_t *stack) {
  if (!transfer || !bytes || device == host) /* zero copy: there is one of it */
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  if (transfer->count)
    remove_range(transfer, device, device + bytes);
  mapping_t *mapping = make_mapping(transfer, device, bytes, host,
                                    find_variable(transfer, name ? name : "", file ? file : "", line));
  if (mapping && make_room(transfer)) {
    mapping->mapped = *stack;
    const size_t index = find_index(transfer, device);
    memmove(transfer->at + index + 1, transfer->at + index, (transfer->count - index) * sizeof *transfer->at);
    transfer->at[index] = mapping;
    transfer->count++;
  } else if (mapping) {
    free_mapping(mapping);
  }
  pthread_rwlock_unlock(&transfer->lock);
}

void gs_transfer_rename(gs_transfer_t *transfer, uint64_t device, const char *name) {
  if (!transfer)
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  mapping_t *mapping = find(transfer, device);
  gs_variable_t *variable =
      mapping ? find_variable(transfer, name, mapping->variable->file, mapping->variable->line) : NULL;
  if (variable)
    mapping->variable = variable;
  pthread_rwlock_unlock(&transfer->lock);
}

/* ---- What the host does ---- */

/* Flags are about to be changed so that accesses may have to set some; by who excludes all kernels. */
static void unsettle(mapping_t *mapping, uint64_t first, uint64_t bytes) {
  for (uint64_t i = first / LINE; i * LINE < first + bytes; i++)
    atomic_store_explicit(&mapping->settled[i], 0, memory_order_relaxed);
}

/* Changes of the host that are undone, from offset `first` on: they are told of later. */
static void add_undone(gs_transfer_t *transfer, mapping_t *mapping, uint64_t first, const gs_some_t *undone) {
  if (!undone->count || atomic_load(&mapping->is_gone))
    return;
  if (!mapping->undone)
    mapping->first_undone = first + undone->first;
  mapping->undone += undone->count;
  atomic_store_explicit(&transfer->any_undone, true, memory_order_relaxed);
}

/* Data comes to the host: has a copy to the device undone changes by a kernel there? If kernels write what
 * they get from the host again that copy may be meant so, and if nobody wants it back it is harmless. `flag`:
 * what the bytes have where both the copy and who asked for it are there by now. */
static void find_overwritten(gs_transfer_t *transfer, mapping_t *mapping, uint64_t first, uint64_t bytes,
                             uint16_t flag) {
  const uint64_t all = mapping->end - mapping->start;
  if (!mapping->is_overwritten && !mapping->was_changed)
    return;
  if (mapping->is_overwritten && mapping->was_changed && !atomic_load(&mapping->is_gone))
    gs_mapped_overwritten(&mapping->bytes, all, first, bytes, flag, &mapping->overwritten);
  if (mapping->overwritten.count)
    atomic_store_explicit(&transfer->any_undone, true, memory_order_relaxed);
  if (bytes == all && gs_mapped_any(&mapping->bytes, bytes, flag))
    mapping->is_overwritten = mapping->was_changed = false;
}

/* The host's variable is read in pieces that the processor's caches hold. */
enum { PIECE = 1 << 16 };

/* Who has a copy to the device replace what a kernel has written, also where the engine has come to it
 * before.
 */
static void note_sender(const gs_transfer_t *transfer, mapping_t *mapping, const gfxsim_stack_t *stack) {
  if (!mapping->is_overwritten || mapping->overwriting == atomic_load(&transfer->construct))
    mapping->sent = *stack;
}

/* The host's variable goes to the device, before or behind the engine's copy. */
static void note_sent(mapping_t *mapping, uint64_t first, uint64_t bytes) {
  uint8_t *now = malloc(PIECE);
  mapping->is_copied = true;
  mapping->is_fresh = false;
  for (uint64_t done = 0, count; now && done < bytes; done += count) {
    const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first + done);
    count = bytes - done < PIECE ? bytes - done : PIECE;
    if (!gs_host_peek(mapping->host + first + done, now, count))
      break;
    mapping->was_changed |= gs_mapped_mark_changed(&part, count, now);
    mapping->is_fresh |= !gs_mapped_is_old(&part, count, now);
    memcpy(part.host_had, now, count);
    gs_mapped_know(&part, count);
  }
  free(now);
}

static void note_wanted(gs_transfer_t *transfer, mapping_t *mapping, uint64_t first, uint64_t bytes) {
  /* The copy may have begun. What came before the construct did, has gone elsewhere. */
  const bool is_here = mapping->construct == atomic_load(&transfer->construct);
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  gs_some_t undone = {0};
  mapping->is_copied = true;
  if (is_here)
    find_overwritten(transfer, mapping, first, bytes, GS_MAPPED_CAME);
  gs_mapped_want(&part, bytes, is_here ? 0 : GS_MAPPED_UNDOES, &undone);
  add_undone(transfer, mapping, first, &undone);
}

static void mark_stale(mapping_t *mapping, uint64_t first, const uint8_t *now, uint64_t count) {
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  unsettle(mapping, first, count);
  const gs_some_t some = gs_mapped_mark_stale(&part, count, now);
  if (!mapping->stale)
    mapping->first_stale = first + some.first;
  mapping->stale += some.count;
  mapping->was_stale |= some.count != 0;
}

/* The next bytes, from *first on, of which the host's changes matter, as kernels have not written all of them
 * themselves. 0: there are none in front of `last`. */
static uint64_t find_piece(const mapping_t *mapping, uint64_t *first, uint64_t last) {
  uint64_t from = *first;
  while (from < last &&
         atomic_load_explicit(&mapping->settled[from / LINE], memory_order_relaxed) & ALL_WRITTEN)
    from = (from / LINE + 1) * LINE;
  uint64_t end = from;
  while (end < last && end - from <= PIECE - LINE &&
         !(atomic_load_explicit(&mapping->settled[end / LINE], memory_order_relaxed) & ALL_WRITTEN))
    end = (end / LINE + 1) * LINE;
  *first = from;
  return from < last ? (end < last ? end : last) - from : 0;
}

/* Which bytes of [first, end) has the host changed, of those of which the device has a copy? */
static void compare(const gs_transfer_t *transfer, mapping_t *mapping, uint64_t first, uint64_t end) {
  uint8_t *now = mapping->is_copied && !atomic_load(&mapping->is_gone) ? malloc(PIECE) : NULL;
  mapping->stale = 0;
  mapping->region = transfer->region;
  mapping->compared = first;
  mapping->compared_end = end;
  for (uint64_t count;
       now && (count = find_piece(mapping, &first, end)) && gs_host_peek(mapping->host + first, now, count);
       first += count)
    if (mapping->was_stale || memcmp(now, mapping->bytes.host_had + first, count) != 0)
      mark_stale(mapping, first, now, count);
  free(now);
}

/* A region is about to use it, and names `bytes` from `first` on. What no region names is compared when a
 * kernel reads it all the same: mappings may be much larger, and many more, than what regions use. */
static void note_used(const gs_transfer_t *transfer, mapping_t *mapping, uint64_t first, uint64_t bytes) {
  const uint64_t there = mapping->end - mapping->start;
  const bool all = there <= PIECE || !bytes;
  compare(transfer, mapping, all ? 0 : first, all ? there : first + bytes);
}

/* Whether the words are addresses, one of each side's memory. */
static bool are_pointers(uint64_t host, uint64_t device, gs_read_device_t *read_device, void *context) {
  uint8_t byte;
  return host != device && gs_host_peek(host, &byte, 1) && read_device(context, device, &byte, 1);
}

/* A pointer in an image is the device's own, which the host never had. */
static void leave_out_pointers(mapping_t *mapping, gs_read_device_t *read_device, void *context) {
  enum { WORD = sizeof(uint64_t) };
  uint64_t host, device;
  for (uint64_t i = -mapping->host % WORD; i + WORD <= mapping->end - mapping->start; i += WORD) {
    memcpy(&device, mapping->bytes.device_had + i, WORD);
    if (gs_host_peek(mapping->host + i, &host, WORD) && are_pointers(host, device, read_device, context))
      memcpy(mapping->bytes.host_had + i, &host, WORD);
  }
}

/* What the host has changed before the image was loaded, the device has not seen. */
static void note_loaded(mapping_t *mapping, gs_read_device_t *read_device, void *context) {
  const uint64_t bytes = mapping->end - mapping->start;
  mapping->is_loaded = mapping->is_copied = true;
  if (!read_device(context, mapping->start, mapping->bytes.device_had, bytes))
    return;
  memcpy(mapping->bytes.host_had, mapping->bytes.device_had, bytes);
  leave_out_pointers(mapping, read_device, context);
  gs_mapped_know(&mapping->bytes, bytes);
}

static void count_unread(mapping_t *mapping, uint64_t first, uint64_t bytes) {
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  const uint64_t unread = gs_mapped_unread(&part, bytes);
  mapping->variable->bytes[GS_WASTE_UNREAD] += unread;
  mapping->variable->times[GS_WASTE_UNREAD] += unread != 0;
}

/* How many bytes the device has otherwise than the host, since a kernel wrote them that no kernel read after
 * that: else the memory was one to work in, and what came of it is elsewhere. */
static uint64_t count_lost(const mapping_t *mapping, gs_read_device_t *read_device, void *context) {
  const uint64_t bytes = mapping->end - mapping->start;
  uint64_t lost = 0;
  uint8_t *both = malloc(2 * PIECE);
  for (uint64_t first = 0, count; both && first < bytes; first += count) {
    const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
    count = bytes - first < PIECE ? bytes - first : PIECE;
    if (gs_mapped_any(&part, count, GS_MAPPED_WRITTEN) && gs_host_peek(mapping->host + first, both, count) &&
        read_device(context, mapping->start + first, both + PIECE, count))
      lost += gs_mapped_lost(&part, count, both, both + PIECE);
  }
  free(both);
  return lost;
}

static void write_name(const gs_variable_t *variable, char *text, size_t size) {
  if (*variable->name)
    snprintf(text, size, "`%s`", variable->name);
  else
    snprintf(text, size, "a mapped variable");
}

static void write_declaration(const gs_variable_t *variable, char *text, size_t size) {
  if (*variable->file)
    snprintf(text, size, "The variable is at %s:%" PRIu32, variable->file, variable->line);
}

/* The side of the instruction at `pc` that wrote, if it was kept. */
static void find_writer(gs_transfer_t *transfer, uint64_t pc, gs_side_t *side) {
  pthread_mutex_lock(&transfer->writers_lock);
  for (unsigned i = 0; i < transfer->writers; i++)
    if (transfer->writer[i].pc == pc)
      *side = transfer->writer[i].side;
  pthread_mutex_unlock(&transfer->writers_lock);
}

/* `early`: who asked for a copy to the host before that; depth 0: nobody. */
static void tell_lost(gs_transfer_t *transfer, const gs_variable_t *variable, uint64_t pc, uint64_t lost,
                      const gfxsim_stack_t *early) {
  const gs_key_t key = {.rule = &lost_rule, .pc = {pc}, .object = {(uintptr_t)variable}};
  gs_found_t *found = gs_findings_meet(transfer->findings, &key, 1);
  char name[GS_BLOCK_NAME + 8];
  if (!found)
    return;
  gs_finding_t finding = {
      .hint =
          "if the host reads it, map(tofrom:) or map(from:), or `target update from` before the end; if "
          "not, and no kernel reads what was copied there, map(alloc:) without `target update to` says so"};
  find_writer(transfer, pc, &finding.side[0]);
  if (early->depth) {
    finding.side[1] =
        (gs_side_t){.actor = GS_ACTOR_HOST, .stack = *early, .what = "It was copied to the host before"};
    finding.hint = "`target update from` behind the region brings it; where that copy was meant to, a region "
                   "with nowait wants a taskwait in front of it, or depend on both";
  }
  write_name(variable, name, sizeof name);
  snprintf(finding.title, sizeof finding.title, "Never brought back: %" PRIu64 " bytes of %s, written", lost,
           name);
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "The mapping has ended; the host has what it had before");
  write_declaration(variable, finding.detail[1], sizeof finding.detail[1]);
  gs_findings_tell(transfer->findings, found, &finding);
}

static void tell_undone(gs_transfer_t *transfer, mapping_t *mapping) {
  const gs_variable_t *variable = mapping->variable;
  const gfxsim_stack_t *stack = &mapping->wanted;
  const uint64_t undone = mapping->undone;
  if (!undone)
    return;
  mapping->undone = 0;
  const gs_key_t key = {
      .rule = &undone_rule, .pc = {stack->depth ? stack->frame[0] : 0}, .object = {(uintptr_t)variable}};
  gs_found_t *found = gs_findings_meet(transfer->findings, &key, 1);
  char name[GS_BLOCK_NAME + 8];
  if (!found)
    return;
  gs_finding_t finding = {.hint =
                              "`target update to` behind the change; or map(to:), or no copy back of these, "
                              "where no kernel changes them"};
  finding.side[0] = (gs_side_t){.actor = GS_ACTOR_HOST, .stack = *stack};
  find_writer(transfer, mapping->went_writer, &finding.side[1]);
  snprintf(finding.side[1].what, sizeof finding.side[1].what, "A kernel has changed other bytes of it");
  write_name(variable, name, sizeof name);
  snprintf(finding.title, sizeof finding.title,
           "Change by the host undone: %" PRIu64 " bytes of %s, the first at offset %" PRIu64, undone, name,
           mapping->first_undone);
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "A copy from the device has brought what they were when they were copied there last");
  write_declaration(variable, finding.detail[1], sizeof finding.detail[1]);
  gs_findings_tell(transfer->findings, found, &finding);
}

static void tell_overwritten(gs_transfer_t *transfer, mapping_t *mapping) {
  const gs_variable_t *variable = mapping->variable;
  const gfxsim_stack_t *stack = &mapping->sent;
  const gs_some_t lost = mapping->overwritten;
  if (!lost.count)
    return;
  mapping->overwritten = (gs_some_t){0};
  const gs_key_t key = {.rule = &overwritten_rule,
                        .pc = {stack->depth ? stack->frame[0] : 0, mapping->overwritten_pc},
                        .object = {(uintptr_t)variable}};
  gs_found_t *found = gs_findings_meet(transfer->findings, &key, 1);
  char name[GS_BLOCK_NAME + 8];
  if (!found)
    return;
  gs_finding_t finding = {.hint = "`target update to` of what the host has changed alone, or `target update "
                                  "from` in front of its change"};
  finding.side[0] = (gs_side_t){.actor = GS_ACTOR_HOST, .stack = *stack};
  find_writer(transfer, mapping->overwritten_pc, &finding.side[1]);
  snprintf(finding.side[1].what, sizeof finding.side[1].what, "The kernel's change, which nobody had read");
  write_name(variable, name, sizeof name);
  snprintf(finding.title, sizeof finding.title,
           "Change by a kernel undone: %" PRIu64 " bytes of %s, the first at offset %" PRIu64, lost.count,
           name, lost.first);
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "A copy to the device has brought what the host had there, for others that it has changed; the "
           "host has got its own back");
  write_declaration(variable, finding.detail[1], sizeof finding.detail[1]);
  gs_findings_tell(transfer->findings, found, &finding);
}

void gs_transfer_tell_undone(gs_transfer_t *transfer) {
  if (!transfer || !atomic_load_explicit(&transfer->any_undone, memory_order_relaxed))
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  atomic_store(&transfer->any_undone, false);
  for (size_t i = 0; i < transfer->count; i++) {
    tell_undone(transfer, transfer->at[i]);
    tell_overwritten(transfer, transfer->at[i]);
  }
  pthread_rwlock_unlock(&transfer->lock);
}

/* Returns how many bytes were lost. Of memory that was only allocated nobody kept who wrote it: the host had
 * nothing there, and may want nothing. */
static uint64_t end_mapping(mapping_t *mapping, gs_read_device_t *read_device, void *context) {
  const uint64_t bytes = mapping->end - mapping->start;
  gs_variable_t *variable = mapping->variable;
  count_unread(mapping, 0, bytes);
  variable->last_host = mapping->host;
  variable->last_bytes = gs_mapped_any(&mapping->bytes, bytes, GS_MAPPED_WRITTEN) ? 0 : bytes;
  variable->last_hash = gs_mapped_hash(mapping->bytes.device_had, bytes);
  return atomic_load(&mapping->writer) && !atomic_load(&mapping->is_gone)
             ? count_lost(mapping, read_device, context)
             : 0;
}

static gs_gone_mapping_t gone_of(const mapping_t *mapping) {
  return (gs_gone_mapping_t){mapping->gone, mapping->variable, &mapping->mapped};
}

/* A copy of some bytes, if the host has freed them. Of a new block there was told when it was found: it is
 * one mistake. */
static void tell_gone(gs_transfer_t *transfer, const mapping_t *mapping, uint64_t first, uint64_t bytes,
                      bool is_sent, const gfxsim_stack_t *stack) {
  const gs_gone_mapping_t gone = gone_of(mapping);
  if (mapping->gone && !mapping->gone->was_told)
    gs_gone_tell_copy(transfer->findings, &gone, mapping->host + first, bytes, is_sent, stack);
}

/* A mere pointer may be meant for the old block, of which the device still has its copy. */
void gs_transfer_found(gs_transfer_t *transfer, uint64_t device, uint64_t bytes, const char *name,
                       const gfxsim_stack_t *stack) {
  if (!transfer || !bytes)
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  const mapping_t *mapping = find(transfer, device);
  if (mapping && mapping->gone && mapping->gone->is_taken && !mapping->gone->was_told) {
    const gs_gone_mapping_t gone = gone_of(mapping);
    mapping->gone->was_told = true;
    gs_gone_tell_found(transfer->findings, &gone, name, stack);
  }
  pthread_rwlock_unlock(&transfer->lock);
}

void gs_transfer_note(gs_transfer_t *transfer, gfxsim_mapping_t what, uint64_t device, uint64_t bytes,
                      const gfxsim_stack_t *stack, gs_read_device_t *read_device, void *context) {
  if (!transfer)
    return;
  uint64_t lost = 0, pc = 0;
  gfxsim_stack_t early = {.depth = 0};
  const gs_variable_t *variable = NULL;
  pthread_rwlock_wrlock(&transfer->lock);
  mapping_t *mapping = find(transfer, device);
  if (mapping) {
    const uint64_t first = device - mapping->start;
    if (bytes > mapping->end - device)
      bytes = mapping->end - device;
    switch (what) {
    case GFXSIM_MAPPING_SENT:
      tell_gone(transfer, mapping, first, bytes, true, stack);
      note_sender(transfer, mapping, stack);
      note_sent(mapping, first, bytes);
      break;
    case GFXSIM_MAPPING_WANTED:
      tell_gone(transfer, mapping, first, bytes, false, stack);
      mapping->wanted = *stack;
      note_wanted(transfer, mapping, first, bytes);
      break;
    case GFXSIM_MAPPING_USED: note_used(transfer, mapping, first, bytes); break;
    case GFXSIM_MAPPING_LOADED: note_loaded(mapping, read_device, context); break;
    case GFXSIM_MAPPING_REGION: break;
    case GFXSIM_MAPPING_ENDS:
      tell_undone(transfer, mapping);
      tell_overwritten(transfer, mapping);
      lost = end_mapping(mapping, read_device, context);
      variable = mapping->variable;
      pc = atomic_load(&mapping->writer);
      early = mapping->wanted;
      remove_range(transfer, mapping->start, mapping->end);
    }
  }
  pthread_rwlock_unlock(&transfer->lock);
  if (lost)
    tell_lost(transfer, variable, pc, lost, &early);
}

/* ---- What copy engines do ---- */

/* What a copy moves. */
typedef struct moved {
  const uint8_t *data, *before; /* before: where it goes; NULL = not known */
} moved_t;

static void add_waste(mapping_t *mapping, gs_waste_t kind, uint64_t bytes) {
  mapping->variable->bytes[kind] += bytes;
  mapping->variable->times[kind]++;
}

/* Whether the device had just that when the variable was mapped before. */
static bool had_before(const mapping_t *mapping, const uint8_t *data, uint64_t bytes) {
  const gs_variable_t *variable = mapping->variable;
  return !mapping->came_ever && variable->last_host == mapping->host && variable->last_bytes == bytes &&
         bytes == mapping->end - mapping->start && variable->last_hash == gs_mapped_hash(data, bytes);
}

/* A pointer of the runtime's, perhaps, which is put where the host has its own: that one is no news, nor was
 * it if the region named the variable before. */
static void come_attached(mapping_t *mapping, uint64_t first, const uint8_t *data) {
  uint8_t now[sizeof(void *)];
  if (!gs_host_peek(mapping->host + first, now, sizeof now) || memcmp(now, data, sizeof now) == 0)
    return;
  memcpy(mapping->bytes.host_had + first, now, sizeof now);
  for (uint64_t i = first; i < first + sizeof now; i++)
    mapping->bytes.flags[i] &= (uint16_t)~GS_MAPPED_STALE;
}

/* All of it is on both sides now. */
static void copied_all(mapping_t *mapping) {
  atomic_store(&mapping->writer, 0);
  atomic_store(&mapping->is_written, false);
}

/* Keeps whose changes by a kernel the copy undoes, if it does; the first time since all came to the host. */
static void mark_overwritten(const gs_transfer_t *transfer, mapping_t *mapping, uint64_t first,
                             const moved_t *moved, uint64_t bytes) {
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  if (!moved->before || !gs_mapped_mark_overwritten(&part, bytes, moved->data, moved->before) ||
      mapping->is_overwritten)
    return;
  mapping->is_overwritten = true;
  mapping->overwriting = atomic_load(&transfer->construct);
  mapping->overwritten_pc = atomic_load(&mapping->writer);
}

/* `data` comes to the device. */
static void come(gs_transfer_t *transfer, mapping_t *mapping, uint64_t first, const moved_t *moved,
                 uint64_t bytes) {
  const uint8_t *data = moved->data;
  const bool is_sent = bytes > sizeof(void *); /* else it is a pointer of the runtime's, perhaps */
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  const bool had = is_sent && had_before(mapping, data, bytes);
  if (is_sent) {
    count_unread(mapping, first, bytes);
    mark_overwritten(transfer, mapping, first, moved, bytes);
  }
  if (!is_sent && bytes == sizeof(void *))
    come_attached(mapping, first, data);
  mapping->came_ever = true;
  unsettle(mapping, first, bytes);
  /* If the host has changed any of it, it sends new data, and not by mistake. */
  const bool is_old = moved->before && !mapping->is_fresh && gs_mapped_is_old(&part, bytes, data);
  if ((gs_mapped_come(&part, bytes, data, is_old ? moved->before : NULL, is_sent) && is_sent) || had)
    add_waste(mapping, GS_WASTE_REPEATED, bytes);
  if (bytes == mapping->end - mapping->start && !gs_mapped_any(&part, bytes, GS_MAPPED_REPLACED))
    copied_all(mapping);
}

/* Which bytes of `data`, about to go to the host, are what that had, no kernel has changed, and the host has?
 */
static void mark_undone(mapping_t *mapping, uint64_t first, const uint8_t *data, uint64_t bytes) {
  uint8_t *now = mapping->is_copied ? malloc(PIECE) : NULL;
  uint64_t at = first, count;
  for (; now && (count = find_piece(mapping, &at, first + bytes)); at += count) {
    const gs_mapped_t part = gs_mapped_from(&mapping->bytes, at);
    if (gs_host_peek(mapping->host + at, now, count))
      gs_mapped_mark_undoes(&part, count, data + (at - first), now);
  }
  free(now);
}

/* `data` goes to the host, or anywhere else. */
static void go(gs_transfer_t *transfer, mapping_t *mapping, uint64_t first, const moved_t *moved,
               uint64_t bytes) {
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  gs_some_t undone = {0};
  mapping->construct = atomic_load(&transfer->construct);
  mapping->went_writer = atomic_load(&mapping->writer);
  find_overwritten(transfer, mapping, first, bytes, GS_MAPPED_WANTED);
  gs_mapped_forget_undoes(&part, bytes);
  mark_undone(mapping, first, moved->data, bytes);
  unsettle(mapping, first, bytes);
  if (gs_mapped_go(&part, bytes, moved->data, &undone))
    add_waste(mapping, GS_WASTE_UNCHANGED, bytes);
  add_undone(transfer, mapping, first, &undone);
  if (bytes == mapping->end - mapping->start)
    copied_all(mapping);
}

/* One side of a copy, mapping by mapping. */
static void follow(gs_transfer_t *transfer, uint64_t address, const moved_t *moved, uint64_t bytes,
                   void (*each)(gs_transfer_t *, mapping_t *, uint64_t, const moved_t *, uint64_t)) {
  const uint64_t end = address + bytes;
  for (size_t i = find_index(transfer, address); i < transfer->count && transfer->at[i]->start < end; i++) {
    mapping_t *mapping = transfer->at[i];
    const uint64_t from = address > mapping->start ? address : mapping->start;
    const uint64_t to = end < mapping->end ? end : mapping->end;
    const moved_t here = {moved->data + (from - address),
                          moved->before ? moved->before + (from - address) : NULL};
    each(transfer, mapping, from - mapping->start, &here, to - from);
  }
}

/* `bytes` of the range from `data` on: of the host's memory a copy, which the program may take away
 * meanwhile, to be freed as `*copy`. NULL if it has been taken away. */
static const uint8_t *data_of(const gs_vm_range_t *range, const uint8_t *data, uint64_t bytes,
                              uint8_t **copy) {
  *copy = NULL;
  if (range->kind != GS_VM_HOST)
    return data;
  *copy = malloc(bytes);
  return *copy && gs_host_peek((uintptr_t)data, *copy, bytes) ? *copy : NULL;
}

/* `bytes` of a GPU's own memory, or NULL. */
static const uint8_t *device_memory(const gs_vm_map_t *map, uint64_t address, uint64_t bytes) {
  const gs_vm_range_t *range = gs_vm_find_mapped(map, address);
  return range && range->kind != GS_VM_HOST && bytes <= range->end - address
             ? range->host + (address - range->start)
             : NULL;
}

static void *watch_copy(void *context, const gs_copy_t *copy) {
  gs_transfer_t *transfer = ((gs_check_t *)context)->transfer;
  atomic_fetch_add_explicit(&transfer->copies, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&transfer->bytes, copy->bytes, memory_order_relaxed);
  if (!copy->from)
    return NULL;
  pthread_rwlock_wrlock(&transfer->lock);
  for (uint64_t done = 0; done < copy->bytes && transfer->count;) {
    const gs_vm_range_t *range = gs_vm_find_mapped(copy->map, copy->from + done);
    if (!range) /* the engine will fault */
      break;
    uint64_t bytes = range->end - (copy->from + done);
    if (bytes > copy->bytes - done)
      bytes = copy->bytes - done;
    uint8_t *own;
    const uint8_t *data = data_of(range, range->host + (copy->from + done - range->start), bytes, &own);
    if (data) {
      const moved_t moved = {data, device_memory(copy->map, copy->to + done, bytes)};
      follow(transfer, copy->from + done, &moved, bytes, go);
      follow(transfer, copy->to + done, &moved, bytes, come);
    }
    free(own);
    done += bytes;
  }
  pthread_rwlock_unlock(&transfer->lock);
  return NULL;
}

/* ---- What kernels do ---- */

/* Of one instruction. */
typedef struct seen {
  mapping_t *mapping;      /* the last one */
  const mapping_t *stale;  /* of which something was read */
  gs_variable_t *variable; /* of that */
  uint64_t bytes, first;   /* of that: how many are, and where */
  unsigned lane;           /* who read it first */
  uint32_t lanes;
} seen_t;

/* Keeps who writes by this instruction. Slow, once for each. */
static void keep_writer(gs_transfer_t *transfer, const gs_wave_t *w, unsigned lane) {
  pthread_mutex_lock(&transfer->writers_lock);
  unsigned i = 0;
  while (i < transfer->writers && transfer->writer[i].pc != w->pc)
    i++;
  if (i == transfer->writers && i < WRITERS) {
    transfer->writer[i].pc = w->pc;
    gs_side_of_wave(&transfer->writer[i].side, w, lane);
    transfer->writers++;
  }
  pthread_mutex_unlock(&transfer->writers_lock);
}

/* Whether an access with these rights changes no flags, as was found before. What another kernel changes at
 * this moment comes before or behind: nothing orders the two. */
static bool is_settled(const mapping_t *mapping, uint64_t first, uint64_t end, uint32_t rights) {
  unsigned has = rights == GS_VM_READ ? SETTLED_READ : SETTLED_WRITE;
  for (uint64_t i = first / LINE; i * LINE < end; i++)
    has &= atomic_load_explicit(&mapping->settled[i], memory_order_acquire);
  return has;
}

/* What is kept of a line, of which `count` bytes were accessed so. What excludes others is held. */
static unsigned settle_line(const gs_sweep_t *sweep, const uint16_t *flags, uint64_t count, uint64_t line,
                            uint32_t rights, unsigned had) {
  const unsigned written = had & ALL_WRITTEN;
  if (!(rights & GS_VM_WRITE))
    return written | (sweep->is_settled(flags, line, GS_VM_READ) ? SETTLED_READ : 0);
  return count == line || sweep->is_settled(flags, line, GS_VM_WRITE) ? ALL_WRITTEN | SETTLED_WRITE : written;
}

static void settle(const gs_sweep_t *sweep, mapping_t *mapping, uint64_t first, uint64_t end,
                   uint32_t rights) {
  const uint64_t bytes = mapping->end - mapping->start;
  for (uint64_t at = first / LINE * LINE; at < end; at += LINE) {
    const uint64_t line = bytes - at < LINE ? bytes - at : LINE;
    const uint64_t from = at < first ? first : at, to = at + line < end ? at + line : end;
    _Atomic uint8_t *settled = &mapping->settled[at / LINE];
    const unsigned had = atomic_load_explicit(settled, memory_order_relaxed);
    const unsigned has = settle_line(sweep, &mapping->bytes.flags[at], to - from, line, rights, had);
    atomic_store_explicit(settled, (uint8_t)has, memory_order_release);
  }
}

/* Sets the flags of an access. Whether it read something stale. Most flags are as they should be, since
 * kernels do the same again and again, and nobody else's memory is touched then; what is kept of lines says
 * so, but where an access is to parts of them. */
static bool set_flags(const gs_sweep_t *sweep, mapping_t *mapping, uint64_t first, uint64_t bytes,
                      uint32_t rights) {
  bool stale = false;
  if (is_settled(mapping, first, first + bytes, rights))
    return false;
  for (uint64_t end = first + bytes, next; first < end; first = next) {
    atomic_flag *setting = &mapping->setting[first / PART];
    next = (first / PART + 1) * PART < end ? (first / PART + 1) * PART : end;
    while (atomic_flag_test_and_set_explicit(setting, memory_order_acquire))
      ;
    if (next - first >= 2 * LINE || !sweep->is_settled(&mapping->bytes.flags[first], next - first, rights)) {
      stale |= sweep->set_flags(&mapping->bytes.flags[first], next - first, rights);
      settle(sweep, mapping, first, next, rights);
    }
    atomic_flag_clear_explicit(setting, memory_order_release);
  }
  return stale;
}

/* The mapping that has `address`, to be read from there on: all of it is compared if that was not when it was
 * used, or it was not used. That takes as long as it is large, so a large one that many regions read without
 * naming it is looked at less and less often, until something is found. The lock is held for reading, and let
 * go of meanwhile. */
static mapping_t *compare_rest(gs_transfer_t *transfer, uint64_t address) {
  pthread_rwlock_unlock(&transfer->lock);
  pthread_rwlock_wrlock(&transfer->lock);
  mapping_t *mapping = find(transfer, address);
  if (mapping) {
    enum { MOST_PATIENCE = 63 };
    const uint64_t bytes = mapping->end - mapping->start, more = 2 * mapping->patience + 1;
    compare(transfer, mapping, 0, bytes);
    mapping->patience = bytes <= 16 * PIECE || mapping->stale ? 0
                        : more < MOST_PATIENCE                ? more
                                                              : MOST_PATIENCE;
  }
  pthread_rwlock_unlock(&transfer->lock);
  pthread_rwlock_rdlock(&transfer->lock);
  return find(transfer, address);
}

static bool was_compared(const gs_transfer_t *transfer, const mapping_t *mapping, uint64_t address,
                         uint64_t bytes) {
  const uint64_t first = address - mapping->start;
  return transfer->region - mapping->region <= mapping->patience && first >= mapping->compared &&
         (first + bytes <= mapping->compared_end || mapping->compared_end == mapping->end - mapping->start);
}

static void touch(gs_transfer_t *transfer, const gs_wave_t *w, uint64_t address, uint64_t bytes,
                  uint32_t rights, unsigned lane, seen_t *seen) {
  mapping_t *mapping = seen->mapping;
  if (!mapping || address < mapping->start || address >= mapping->end)
    mapping = seen->mapping = find(transfer, address);
  if (mapping && rights & GS_VM_READ && GS_UNLIKELY(!was_compared(transfer, mapping, address, bytes)))
    mapping = seen->mapping = compare_rest(transfer, address);
  if (!mapping)
    return;
  uint64_t zero = 0;
  const uint64_t there = mapping->end - address;
  const bool stale =
      set_flags(transfer->sweep, mapping, address - mapping->start, bytes < there ? bytes : there, rights);
  if (rights & GS_VM_WRITE && !atomic_load_explicit(&mapping->is_written, memory_order_relaxed))
    atomic_store(&mapping->is_written, true);
  if (rights & GS_VM_WRITE && mapping->is_copied && !atomic_load(&mapping->writer) &&
      atomic_compare_exchange_strong(&mapping->writer, &zero, w->pc))
    keep_writer(transfer, w, lane);
  if (!stale)
    return;
  if (!seen->lanes++) {
    seen->lane = lane;
    seen->variable = mapping->variable;
    seen->bytes = mapping->stale;
    seen->first = mapping->first_stale;
  }
}

static void tell_stale(gs_transfer_t *transfer, const gs_wave_t *w, const seen_t *seen) {
  if (!seen->lanes)
    return;
  const gs_key_t key = {.rule = &stale_rule, .pc = {w->pc}, .object = {(uintptr_t)seen->variable}};
  gs_found_t *found = gs_findings_meet(transfer->findings, &key, gs_times(w, seen->lanes));
  char name[GS_BLOCK_NAME + 8];
  if (!found)
    return;
  gs_finding_t finding = {.by_line = true,
                          .hint = "`target update to` behind the change, or map(always, to:) on the region"};
  gs_side_of_wave(&finding.side[0], w, seen->lane);
  finding.side[0].more = seen->lanes - 1;
  write_name(seen->variable, name, sizeof name);
  snprintf(finding.title, sizeof finding.title, "Stale read of %s", name);
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "The host has changed %" PRIu64
           " of its bytes since they were copied, the first at offset %" PRIu64,
           seen->bytes, seen->first);
  write_declaration(seen->variable, finding.detail[1], sizeof finding.detail[1]);
  gs_findings_tell(transfer->findings, found, &finding);
}

/* How many lanes from the first of `left` on are side by side, `step` bytes one behind the other, and can be
 * looked at as one: which lane it is only matters where something is stale. */
static unsigned count_as_one(gs_transfer_t *transfer, const gs_access_t *a, uint64_t left, uint64_t next,
                             uint32_t step, seen_t *seen) {
  const unsigned count = gs_count_neighbours(left, next);
  const uint64_t at = a->at[__builtin_ctzll(left)];
  if (count == 1)
    return 1;
  mapping_t *mapping = seen->mapping;
  if (!mapping || at < mapping->start || at >= mapping->end)
    mapping = seen->mapping = find(transfer, at);
  return mapping && !mapping->stale && (count - 1) * (uint64_t)step + a->bytes <= mapping->end - at ? count
                                                                                                    : 1;
}

static void watch_lanes(gs_wave_t *w, const gs_access_t *a) {
  gs_transfer_t *transfer = gs_check_of(w)->transfer;
  seen_t seen = {.lanes = 0};
  const bool linear = a->step == GS_LINEAR_STEP;
  const uint32_t step = gs_lane_step(a->at, a->lanes, a->bytes);
  const uint64_t span = gs_access_span(a), next = linear ? transfer->sweep->next(a->at, step) : 0;
  pthread_rwlock_rdlock(&transfer->lock);
  for (uint64_t left = transfer->count ? a->lanes : 0; left;) {
    const unsigned l = (unsigned)__builtin_ctzll(left),
                   count = count_as_one(transfer, a, left, next, step, &seen);
    touch(transfer, w, a->at[l], (count - 1) * (uint64_t)step + span, a->rights, l, &seen);
    left = gs_without_lanes(left, count);
  }
  pthread_rwlock_unlock(&transfer->lock);
  tell_stale(transfer, w, &seen);
}

static void watch_mixed(gs_wave_t *w, const gs_access_t *a) {
  gs_transfer_t *transfer = gs_check_of(w)->transfer;
  seen_t seen = {.lanes = 0};
  pthread_rwlock_rdlock(&transfer->lock);
  for (uint64_t left = transfer->count ? a->lanes : 0; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint64_t high = a->at[l] >> 32;
    if (high != GS_SHARED_APERTURE_HI && high != GS_PRIVATE_APERTURE_HI)
      touch(transfer, w, a->at[l], a->bytes, a->rights, l, &seen);
  }
  pthread_rwlock_unlock(&transfer->lock);
  tell_stale(transfer, w, &seen);
}

static void watch_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                        bool scalar) {
  gs_transfer_t *transfer = gs_check_of(w)->transfer;
  const uint64_t exec = gs_exec(w);
  const unsigned first = exec && !scalar ? (unsigned)__builtin_ctzll(exec) : 0;
  seen_t seen = {.lanes = 0};
  pthread_rwlock_rdlock(&transfer->lock);
  /* Which lane it is only matters where something is stale. */
  if (transfer->count && stride)
    seen.mapping = find(transfer, address);
  if (seen.mapping && !seen.mapping->stale && size <= seen.mapping->end - address)
    stride = 0;
  if (transfer->count && !stride)
    touch(transfer, w, address, size, rights, first, &seen);
  for (unsigned l = 0; transfer->count && stride && l < gs_wave_lanes(w); l++)
    touch(transfer, w, address + l * (uint64_t)stride, stride, rights, l, &seen);
  pthread_rwlock_unlock(&transfer->lock);
  tell_stale(transfer, w, &seen);
}

const gs_watch_t gs_transfer_watch = {
    .lanes = watch_lanes, .mixed = watch_mixed, .block = watch_block, .copy_begins = watch_copy};

/* ---- What the host reads ---- */

void gs_transfer_region(gs_transfer_t *transfer) {
  if (!transfer)
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  transfer->region++;
  for (size_t i = 0; i < transfer->count; i++)
    if (transfer->at[i]->is_loaded)
      compare(transfer, transfer->at[i], 0, transfer->at[i]->end - transfer->at[i]->start);
  pthread_rwlock_unlock(&transfer->lock);
}

bool gs_transfer_has_old(gs_transfer_t *transfer) {
  bool any = false;
  if (!transfer)
    return false;
  pthread_rwlock_rdlock(&transfer->lock);
  for (size_t i = 0; i < transfer->count && !any; i++)
    any = transfer->at[i]->is_copied && atomic_load(&transfer->at[i]->is_written) &&
          !atomic_load(&transfer->at[i]->is_gone);
  pthread_rwlock_unlock(&transfer->lock);
  return any;
}

/* Keeps kernels from setting flags of the bytes, if none does. In a signal handler, which may not wait. */
static bool hold_parts(mapping_t *mapping, uint64_t first, uint64_t end) {
  for (uint64_t i = first / PART; i * PART < end; i++) {
    if (!atomic_flag_test_and_set_explicit(&mapping->setting[i], memory_order_acquire))
      continue;
    while (i-- > first / PART)
      atomic_flag_clear_explicit(&mapping->setting[i], memory_order_release);
    return false;
  }
  return true;
}

static void let_parts_go(mapping_t *mapping, uint64_t first, uint64_t end) {
  for (uint64_t i = first / PART; i * PART < end; i++)
    atomic_flag_clear_explicit(&mapping->setting[i], memory_order_release);
}

/* Of the mapping's bytes [first, end). */
static bool find_old(const mapping_t *mapping, uint64_t first, uint64_t end, gs_old_t *old) {
  const uint8_t *now = (const uint8_t *)(uintptr_t)mapping->host; /* the program reads it, so it is there */
  *old = (gs_old_t){.variable = mapping->variable, .writer = atomic_load(&mapping->writer)};
  for (uint64_t i = first; i < end; i++) {
    const uint16_t flags = mapping->bytes.flags[i];
    const bool is_old = flags & (GS_MAPPED_WRITTEN | GS_MAPPED_REPLACED) &&
                        (!(flags & GS_MAPPED_KNOWN) || now[i] == mapping->bytes.host_had[i]);
    if (!is_old && old->bytes)
      return true;
    if (is_old && !old->bytes++) {
      old->device = mapping->start + i;
      old->offset = i;
      old->first = (uint32_t)(i - first);
      old->is_replaced = !(flags & GS_MAPPED_WRITTEN);
    } else if (is_old) {
      old->bytes = (uint32_t)(i - first) - old->first + 1;
    }
  }
  return old->bytes;
}

bool gs_transfer_is_old(gs_transfer_t *transfer, uint64_t host, uint64_t bytes, gs_old_t *old) {
  bool found = false;
  if (!transfer || pthread_rwlock_tryrdlock(&transfer->lock))
    return false;
  for (size_t i = 0; i < transfer->count && !found; i++) {
    mapping_t *mapping = transfer->at[i];
    const uint64_t first = host - mapping->host, there = mapping->end - mapping->start;
    /* What was only allocated has a life of its own on the device, as pointers that were made there. */
    if (mapping->is_copied && atomic_load_explicit(&mapping->is_written, memory_order_relaxed) &&
        host >= mapping->host && first < there &&
        !atomic_load_explicit(&mapping->is_gone, memory_order_relaxed)) {
      const uint64_t end = bytes < there - first ? first + bytes : there;
      if (!hold_parts(mapping, first, end))
        continue;
      found = find_old(mapping, first, end, old);
      let_parts_go(mapping, first, end);
    }
  }
  pthread_rwlock_unlock(&transfer->lock);
  return found;
}

void gs_transfer_freed(gs_transfer_t *transfer, uint64_t host, uint64_t bytes) {
  if (!transfer || pthread_rwlock_tryrdlock(&transfer->lock))
    return;
  for (size_t i = 0; i < transfer->count; i++)
    if (transfer->at[i]->host >= host && transfer->at[i]->host - host < bytes)
      atomic_store_explicit(&transfer->at[i]->is_gone, true, memory_order_relaxed);
  pthread_rwlock_unlock(&transfer->lock);
}

/* The lock is held for writing. */
static void host_changed(mapping_t *mapping, gfxsim_host_t what, uint64_t address, uint64_t bytes,
                         const gfxsim_stack_t *stack) {
  const uint64_t end = mapping->host + (mapping->end - mapping->start);
  if (mapping->host >= address + bytes || end <= address)
    return;
  if (what == GFXSIM_HOST_TAKEN && mapping->gone)
    gs_gone_take(mapping->gone, address, bytes, end, stack);
  if (what != GFXSIM_HOST_FREED || (!mapping->gone && !(mapping->gone = calloc(1, sizeof *mapping->gone))))
    return;
  gs_gone_free(mapping->gone, address, bytes, stack);
  atomic_store(&mapping->is_gone, true);
}

void gs_transfer_host(gs_transfer_t *transfer, gfxsim_host_t what, uint64_t address, uint64_t bytes,
                      const gfxsim_stack_t *stack) {
  if (!transfer)
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  for (size_t i = 0; i < transfer->count; i++)
    host_changed(transfer->at[i], what, address, bytes, stack);
  pthread_rwlock_unlock(&transfer->lock);
}

void gs_transfer_tell_old(gs_transfer_t *transfer, const gs_rule_t *rule, const gs_old_t *old, uint64_t pc,
                          uint64_t line) {
  const gs_variable_t *variable = old->variable;
  const gs_key_t key = {.rule = rule, .pc = {line}, .object = {(uintptr_t)variable}};
  gs_found_t *found = gs_findings_meet(transfer->findings, &key, 1);
  char name[GS_BLOCK_NAME + 8];
  if (!found)
    return;
  gs_finding_t finding = {
      .hint = old->is_replaced
                  ? "`target update from` in place of that copy (`target update to`, or map(always, to:))"
                  : "`target update from` behind the region, or the end of the mapping if that "
                    "copies back (which it does if it ends as often as it has begun), in front of it"};
  finding.side[0].actor = GS_ACTOR_HOST;
  finding.side[0].stack = (gfxsim_stack_t){1, {pc + 1}};
  find_writer(transfer, old->writer, &finding.side[1]);
  snprintf(finding.side[1].what, sizeof finding.side[1].what, "%s",
           old->is_replaced ? "A copy to the device, of what the host has, has replaced what was written"
                            : "Not yet brought back is the device's copy, written");
  write_name(variable, name, sizeof name);
  snprintf(finding.title, sizeof finding.title, "Stale read of %s by the host, at offset %" PRIu64, name,
           old->offset);
  write_declaration(variable, finding.detail[0], sizeof finding.detail[0]);
  gs_findings_tell(transfer->findings, found, &finding);
}

/* ---- The end ---- */

void gs_transfer_summary(gs_transfer_t *transfer) {
  gs_text_t text = {.length = 0};
  if (!transfer)
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  const uint64_t copies = atomic_load(&transfer->copies), bytes = atomic_load(&transfer->bytes);
  for (size_t i = 0; i < transfer->count; i++)
    count_unread(transfer->at[i], 0, transfer->at[i]->end - transfer->at[i]->start);
  if (transfer->any)
    gs_traffic_write(&text, transfer->variables, bytes);
  else if (copies)
    gs_text_line(&text,
                 "transfer: the runtime does not say what is mapped, so nothing is known of the %" PRIu64
                 " copies (%" PRIu64 " bytes) but their number; gfxsim-run --runtime=ours does",
                 copies, bytes);
  pthread_rwlock_unlock(&transfer->lock);
  gs_findings_print(transfer->findings, text.bytes, text.length);
}
