/* See transfer.h. Of each mapped byte there is what was copied to the device last, what the host had then,
 * and flags. Kernels that set flags of the same part of a mapping exclude each other; whoever copies or
 * compares excludes all. Not here: copies (transfer_copies.c), kernels (transfer_kernels.c), the host's reads
 * (transfer_reads.c), and what is told of all that (transfer_tell.c). */
#include "check/transfer_state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/host.h"

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

static void free_mapping(gs_twin_t *mapping) {
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

size_t gs_transfer_index(const gs_transfer_t *transfer, uint64_t address) {
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

gs_twin_t *gs_transfer_find(const gs_transfer_t *transfer, uint64_t address) {
  const size_t index = gs_transfer_index(transfer, address);
  gs_twin_t *mapping = index < transfer->count ? transfer->at[index] : NULL;
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

static gs_twin_t *make_mapping(const gs_transfer_t *transfer, uint64_t device, uint64_t bytes, uint64_t host,
                               gs_variable_t *variable) {
  gs_twin_t *mapping = variable ? calloc(1, sizeof *mapping) : NULL;
  uint16_t *shadow = mapping && bytes <= SIZE_MAX / 4 ? calloc(2 * sizeof *shadow, bytes) : NULL;
  atomic_flag *setting = shadow ? malloc((bytes + GS_TWIN_PART - 1) / GS_TWIN_PART * sizeof *setting) : NULL;
  _Atomic uint8_t *settled =
      setting ? calloc((bytes + GS_TWIN_LINE - 1) / GS_TWIN_LINE, sizeof *settled) : NULL;
  if (!settled) {
    free(setting);
    free(shadow);
    free(mapping);
    return NULL;
  }
  for (uint64_t i = 0; i < (bytes + GS_TWIN_PART - 1) / GS_TWIN_PART; i++)
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
  const size_t first = gs_transfer_index(transfer, start);
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
  gs_twin_t **at = realloc(transfer->at, capacity * sizeof *at);
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
  gs_twin_t *mapping = make_mapping(transfer, device, bytes, host,
                                    find_variable(transfer, name ? name : "", file ? file : "", line));
  if (mapping && make_room(transfer)) {
    mapping->mapped = *stack;
    const size_t index = gs_transfer_index(transfer, device);
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
  gs_twin_t *mapping = gs_transfer_find(transfer, device);
  gs_variable_t *variable =
      mapping ? find_variable(transfer, name, mapping->variable->file, mapping->variable->line) : NULL;
  if (variable)
    mapping->variable = variable;
  pthread_rwlock_unlock(&transfer->lock);
}

/* ---- What the host does ---- */

void gs_transfer_unsettle(gs_twin_t *mapping, uint64_t first, uint64_t bytes) {
  for (uint64_t i = first / GS_TWIN_LINE; i * GS_TWIN_LINE < first + bytes; i++)
    atomic_store_explicit(&mapping->settled[i], 0, memory_order_relaxed);
}

void gs_transfer_add_undone(gs_transfer_t *transfer, gs_twin_t *mapping, uint64_t first,
                            const gs_some_t *undone) {
  if (!undone->count || atomic_load(&mapping->is_gone))
    return;
  if (!mapping->undone.count)
    mapping->undone.first = first + undone->first;
  mapping->undone.count += undone->count;
  atomic_store_explicit(&transfer->any_undone, true, memory_order_relaxed);
}

void gs_transfer_find_overwritten(gs_transfer_t *transfer, gs_twin_t *mapping, uint64_t first, uint64_t bytes,
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

/* Who has a copy to the device replace what a kernel has written, also where the engine has come to it
 * before.
 */
static void note_sender(const gs_transfer_t *transfer, gs_twin_t *mapping, const gfxsim_stack_t *stack) {
  if (!mapping->is_overwritten || mapping->overwriting == atomic_load(&transfer->construct))
    mapping->sent = *stack;
}

/* The host's variable goes to the device, before or behind the engine's copy. */
static void note_sent(gs_twin_t *mapping, uint64_t first, uint64_t bytes) {
  uint8_t *now = malloc(GS_TWIN_PIECE);
  mapping->is_copied = true;
  mapping->is_fresh = false;
  for (uint64_t done = 0, count; now && done < bytes; done += count) {
    const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first + done);
    count = bytes - done < GS_TWIN_PIECE ? bytes - done : GS_TWIN_PIECE;
    if (!gs_host_peek(mapping->host + first + done, now, count))
      break;
    mapping->was_changed |= gs_mapped_mark_changed(&part, count, now);
    mapping->is_fresh |= !gs_mapped_is_old(&part, count, now);
    memcpy(part.host_had, now, count);
    gs_mapped_know(&part, count);
  }
  free(now);
}

static void note_wanted(gs_transfer_t *transfer, gs_twin_t *mapping, uint64_t first, uint64_t bytes) {
  /* The copy may have begun. What came before the construct did, has gone elsewhere. */
  const bool is_here = mapping->construct == atomic_load(&transfer->construct);
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  gs_some_t undone = {0};
  mapping->is_copied = true;
  if (is_here)
    gs_transfer_find_overwritten(transfer, mapping, first, bytes, GS_MAPPED_CAME);
  gs_mapped_want(&part, bytes, is_here ? 0 : GS_MAPPED_UNDOES, &undone);
  gs_transfer_add_undone(transfer, mapping, first, &undone);
}

static void mark_stale(gs_twin_t *mapping, uint64_t first, const uint8_t *now, uint64_t count) {
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  gs_transfer_unsettle(mapping, first, count);
  const gs_some_t some = gs_mapped_mark_stale(&part, count, now);
  if (!mapping->stale.count)
    mapping->stale.first = first + some.first;
  mapping->stale.count += some.count;
  mapping->was_stale |= some.count != 0;
}

uint64_t gs_transfer_find_piece(const gs_twin_t *mapping, uint64_t *first, uint64_t last) {
  uint64_t from = *first;
  while (from < last && atomic_load_explicit(&mapping->settled[from / GS_TWIN_LINE], memory_order_relaxed) &
                            GS_SETTLED_WRITTEN)
    from = (from / GS_TWIN_LINE + 1) * GS_TWIN_LINE;
  uint64_t end = from;
  while (end < last && end - from <= GS_TWIN_PIECE - GS_TWIN_LINE &&
         !(atomic_load_explicit(&mapping->settled[end / GS_TWIN_LINE], memory_order_relaxed) &
           GS_SETTLED_WRITTEN))
    end = (end / GS_TWIN_LINE + 1) * GS_TWIN_LINE;
  *first = from;
  return from < last ? (end < last ? end : last) - from : 0;
}

void gs_transfer_compare(const gs_transfer_t *transfer, gs_twin_t *mapping, uint64_t first, uint64_t end) {
  uint8_t *now = mapping->is_copied && !atomic_load(&mapping->is_gone) ? malloc(GS_TWIN_PIECE) : NULL;
  mapping->stale.count = 0;
  mapping->region = transfer->region;
  mapping->compared = first;
  mapping->compared_end = end;
  for (uint64_t count; now && (count = gs_transfer_find_piece(mapping, &first, end)) &&
                       gs_host_peek(mapping->host + first, now, count);
       first += count)
    if (mapping->was_stale || memcmp(now, mapping->bytes.host_had + first, count) != 0)
      mark_stale(mapping, first, now, count);
  free(now);
}

/* A region is about to use it, and names `bytes` from `first` on. What no region names is compared when a
 * kernel reads it all the same: mappings may be much larger, and many more, than what regions use. */
static void note_used(const gs_transfer_t *transfer, gs_twin_t *mapping, uint64_t first, uint64_t bytes) {
  const uint64_t there = mapping->end - mapping->start;
  const bool all = there <= GS_TWIN_PIECE || !bytes;
  gs_transfer_compare(transfer, mapping, all ? 0 : first, all ? there : first + bytes);
}

/* Whether the words are addresses, one of each side's memory. */
static bool are_pointers(uint64_t host, uint64_t device, gs_read_device_t *read_device, void *context) {
  uint8_t byte;
  return host != device && gs_host_peek(host, &byte, 1) && read_device(context, device, &byte, 1);
}

/* A pointer in an image is the device's own, which the host never had. */
static void leave_out_pointers(gs_twin_t *mapping, gs_read_device_t *read_device, void *context) {
  enum { WORD = sizeof(uint64_t) };
  uint64_t host, device;
  for (uint64_t i = -mapping->host % WORD; i + WORD <= mapping->end - mapping->start; i += WORD) {
    memcpy(&device, mapping->bytes.device_had + i, WORD);
    if (gs_host_peek(mapping->host + i, &host, WORD) && are_pointers(host, device, read_device, context))
      memcpy(mapping->bytes.host_had + i, &host, WORD);
  }
}

/* What the host has changed before the image was loaded, the device has not seen. */
static void note_loaded(gs_twin_t *mapping, gs_read_device_t *read_device, void *context) {
  const uint64_t bytes = mapping->end - mapping->start;
  mapping->is_loaded = mapping->is_copied = true;
  if (!read_device(context, mapping->start, mapping->bytes.device_had, bytes))
    return;
  memcpy(mapping->bytes.host_had, mapping->bytes.device_had, bytes);
  leave_out_pointers(mapping, read_device, context);
  gs_mapped_know(&mapping->bytes, bytes);
}

void gs_transfer_count_unread(gs_twin_t *mapping, uint64_t first, uint64_t bytes) {
  const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
  const uint64_t unread = gs_mapped_unread(&part, bytes);
  mapping->variable->bytes[GS_WASTE_UNREAD] += unread;
  mapping->variable->times[GS_WASTE_UNREAD] += unread != 0;
}

/* How many bytes the device has otherwise than the host, since a kernel wrote them that no kernel read after
 * that: else the memory was one to work in, and what came of it is elsewhere. */
static uint64_t count_lost(const gs_twin_t *mapping, gs_read_device_t *read_device, void *context) {
  const uint64_t bytes = mapping->end - mapping->start;
  uint64_t lost = 0;
  uint8_t *both = malloc(2 * GS_TWIN_PIECE);
  for (uint64_t first = 0, count; both && first < bytes; first += count) {
    const gs_mapped_t part = gs_mapped_from(&mapping->bytes, first);
    count = bytes - first < GS_TWIN_PIECE ? bytes - first : GS_TWIN_PIECE;
    if (gs_mapped_any(&part, count, GS_MAPPED_WRITTEN) && gs_host_peek(mapping->host + first, both, count) &&
        read_device(context, mapping->start + first, both + GS_TWIN_PIECE, count))
      lost += gs_mapped_lost(&part, count, both, both + GS_TWIN_PIECE);
  }
  free(both);
  return lost;
}

void gs_transfer_tell_undone(gs_transfer_t *transfer) {
  if (!transfer || !atomic_load_explicit(&transfer->any_undone, memory_order_relaxed))
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  atomic_store(&transfer->any_undone, false);
  for (size_t i = 0; i < transfer->count; i++)
    gs_transfer_tell_changes(transfer, transfer->at[i]);
  pthread_rwlock_unlock(&transfer->lock);
}

/* Returns how many bytes were lost. Of memory that was only allocated nobody kept who wrote it: the host had
 * nothing there, and may want nothing. */
static uint64_t end_mapping(gs_twin_t *mapping, gs_read_device_t *read_device, void *context) {
  const uint64_t bytes = mapping->end - mapping->start;
  gs_variable_t *variable = mapping->variable;
  gs_transfer_count_unread(mapping, 0, bytes);
  variable->last_host = mapping->host;
  variable->last_bytes = gs_mapped_any(&mapping->bytes, bytes, GS_MAPPED_WRITTEN) ? 0 : bytes;
  variable->last_hash = gs_mapped_hash(mapping->bytes.device_had, bytes);
  return atomic_load(&mapping->writer) && !atomic_load(&mapping->is_gone)
             ? count_lost(mapping, read_device, context)
             : 0;
}

static gs_gone_mapping_t gone_of(const gs_twin_t *mapping) {
  return (gs_gone_mapping_t){mapping->gone, mapping->variable, &mapping->mapped};
}

/* A copy of some bytes, if the host has freed them. Of a new block there was told when it was found: it is
 * one mistake. */
static void tell_gone(gs_transfer_t *transfer, const gs_twin_t *mapping, uint64_t first, uint64_t bytes,
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
  const gs_twin_t *mapping = gs_transfer_find(transfer, device);
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
  gs_twin_t *mapping = gs_transfer_find(transfer, device);
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
      gs_transfer_tell_changes(transfer, mapping);
      lost = end_mapping(mapping, read_device, context);
      variable = mapping->variable;
      pc = atomic_load(&mapping->writer);
      early = mapping->wanted;
      remove_range(transfer, mapping->start, mapping->end);
    }
  }
  pthread_rwlock_unlock(&transfer->lock);
  if (lost)
    gs_transfer_tell_lost(transfer, variable, pc, lost, &early);
}

void gs_transfer_region(gs_transfer_t *transfer) {
  if (!transfer)
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  transfer->region++;
  for (size_t i = 0; i < transfer->count; i++)
    if (transfer->at[i]->is_loaded)
      gs_transfer_compare(transfer, transfer->at[i], 0, transfer->at[i]->end - transfer->at[i]->start);
  pthread_rwlock_unlock(&transfer->lock);
}

/* ---- The end ---- */

void gs_transfer_summary(gs_transfer_t *transfer) {
  gs_text_t text = {.length = 0};
  if (!transfer)
    return;
  pthread_rwlock_wrlock(&transfer->lock);
  const uint64_t copies = atomic_load(&transfer->copies), bytes = atomic_load(&transfer->bytes);
  for (size_t i = 0; i < transfer->count; i++)
    gs_transfer_count_unread(transfer->at[i], 0, transfer->at[i]->end - transfer->at[i]->start);
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
