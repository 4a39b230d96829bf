/* Lint: what was mapped, by its addresses, and what is found in what happens to it. All of it is under one
 * lock; who lints has time. */
#include "lint.h"

#include "lint_report.h"
#include "message.h"
#include "runtime.h"

#include "base/env.h"
#include "mapping/message.h"

#include <ctype.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Mapped anew so often without a change in between, something is done again and again. */
enum { LEAST_SAME = 2 };

bool tgt_the_lint_is_on;

static struct {
  pthread_mutex_t lock;
  void *data;   /* tgt_datum_t, of tsearch */
  void *blocks; /* block_t, likewise */
} lint = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- data ---- */

static int compare_data(const void *a, const void *b) {
  const tgt_datum_t *one = a, *other = b;
  if (one->begin != other->begin)
    return one->begin < other->begin ? -1 : 1;
  if (one->end != other->end)
    return one->end < other->end ? -1 : 1;
  return ((uintptr_t)one->device > (uintptr_t)other->device) -
         ((uintptr_t)one->device < (uintptr_t)other->device);
}

static tgt_datum_t *find(const tgt_device_t *device, uintptr_t begin, uintptr_t end) {
  const tgt_datum_t key = {.device = device, .begin = begin, .end = end};
  tgt_datum_t **found = tfind(&key, &lint.data, compare_data);
  return found ? *found : NULL;
}

static tgt_datum_t *find_or_add(const tgt_device_t *device, uintptr_t begin, uintptr_t end) {
  tgt_datum_t *datum = find(device, begin, end);
  if (datum)
    return datum;
  datum = calloc(1, sizeof *datum);
  if (!datum)
    return NULL;
  datum->device = device;
  datum->begin = begin;
  datum->end = end;
  if (tsearch(datum, &lint.data, compare_data))
    return datum;
  free(datum);
  return NULL;
}

/* Whether two list items are of the same variable, as far as their names begin alike. Others may come to lie
 * at the same address. */
static bool is_same_variable(const char *one, const char *other) {
  if (!one || !other)
    return one == other;
  one = map_name_variable(one);
  other = map_name_variable(other);
  size_t i = 0;
  for (; isalnum((unsigned char)one[i]) || one[i] == '_'; i++)
    if (one[i] != other[i])
      return false;
  return !isalnum((unsigned char)other[i]) && other[i] != '_';
}

/* A note of maps. The place is written before the lock is taken, since the dynamic linker is asked for it: a
 * thread that holds the linker's lock, in a constructor of what it opens, may be waiting for ours. */
typedef struct heard {
  const tgt_device_t *device;
  const map_note_t *note;
  tgt_lint_place_t written;
  const char *here;     /* of what the thread is doing; stays. NULL before the lock, and without memory */
  tgt_looked_at_t copy; /* of submit and retrieve */
  uint64_t contents;    /* of what was removed, as tgt_lint_hash; 0: not known */
  bool is_lost;         /* an absent pointer that the device cannot follow */
} heard_t;

bool tgt_lint_is_written(const tgt_device_t *device, const void *host) {
  map_entry_view_t entry;
  uintptr_t address = (uintptr_t)host;
  if (!map_table_nearest(device->maps, host, &entry) || address < entry.begin || address >= entry.end)
    return false;
  pthread_mutex_lock(&lint.lock);
  const tgt_datum_t *datum = find(device, entry.begin, entry.end);
  bool is_written = datum ? !datum->is_new : entry.infinite;
  pthread_mutex_unlock(&lint.lock);
  return is_written;
}

/* ---- notes of maps, under the lock ---- */

static tgt_finding_t finding_of(tgt_finding_kind_t kind, const heard_t *heard, const char *other) {
  return (tgt_finding_t){.kind = kind,
                         .device = heard->device,
                         .place = heard->here,
                         .name = tgt_lint_keep(heard->note->name),
                         .host = heard->note->host,
                         .bytes = heard->note->bytes,
                         .other = other};
}

static void report(tgt_finding_kind_t kind, const heard_t *heard, const char *other) {
  const tgt_finding_t finding = finding_of(kind, heard, other);
  if (finding.place)
    tgt_lint_report(&finding);
}

static void report_copy(tgt_finding_kind_t kind, const heard_t *heard, const char *other) {
  tgt_finding_t finding = finding_of(kind, heard, other);
  finding.copied = heard->copy.bytes;
  finding.copies = 1;
  finding.seconds = heard->copy.seconds;
  if (finding.place)
    tgt_lint_report(&finding);
}

static void hear_created(const heard_t *heard) {
  const map_note_t *note = heard->note;
  tgt_datum_t *datum = find_or_add(heard->device, note->begin, note->end);
  if (!datum)
    return;
  if (!is_same_variable(datum->name, note->name)) {
    datum->unmapped = NULL;
    datum->contents = 0;
    datum->same = 0;
    datum->same_bytes = 0;
    datum->same_seconds = 0;
  }
  datum->name = tgt_lint_keep(note->name);
  datum->mapped = heard->here;
  datum->is_new = true;
}

/* A copy to new memory: whether the same had been there, and was given away. The first ones are reported with
 * the one that makes them many. */
static void judge_again(tgt_datum_t *datum, const heard_t *heard) {
  const tgt_looked_at_t *copy = &heard->copy;
  if (!datum->unmapped || !datum->contents || datum->contents != copy->contents)
    return;
  datum->same++;
  datum->same_bytes += copy->bytes;
  datum->same_seconds += copy->seconds;
  if (datum->same < LEAST_SAME)
    return;
  tgt_finding_t finding = finding_of(TGT_FOUND_MAPPED_AGAIN, heard, datum->unmapped);
  finding.name = datum->name;
  finding.copied = datum->same_bytes;
  finding.copies = datum->same == LEAST_SAME ? LEAST_SAME : 1;
  finding.seconds = datum->same_seconds;
  datum->same_bytes = 0;
  datum->same_seconds = 0;
  if (finding.place)
    tgt_lint_report(&finding);
}

static void hear_copy(const heard_t *heard) {
  const map_note_t *note = heard->note;
  const tgt_looked_at_t *copy = &heard->copy;
  tgt_datum_t *datum = find_or_add(heard->device, note->begin, note->end);
  if (!datum || copy->host != (const void *)note->host || copy->bytes != note->bytes)
    return;
  bool is_whole = note->host == datum->begin && note->bytes == datum->end - datum->begin;
  tgt_lint_count_copy(copy->bytes, copy->seconds);
  if (note->kind == MAP_NOTE_RETRIEVE) {
    if (copy->is_same)
      report_copy(TGT_FOUND_SAME_ON_HOST, heard, datum->mapped);
    return;
  }
  if (copy->is_same)
    report_copy(TGT_FOUND_SAME_ON_DEVICE, heard, datum->mapped);
  else if (datum->is_new && is_whole)
    judge_again(datum, heard);
  if (is_whole)
    datum->is_new = false;
}

/* A kernel has had it. */
static void hear_left(const heard_t *heard) {
  const map_note_t *note = heard->note;
  tgt_datum_t *datum = note->operation == MAP_LEAVE ? find(heard->device, note->begin, note->end) : NULL;
  if (datum)
    datum->is_new = false;
}

static void hear_removed(const heard_t *heard) {
  const map_note_t *note = heard->note;
  tgt_datum_t *datum = find(heard->device, note->host, note->host + note->bytes);
  if (!datum)
    return;
  datum->unmapped = heard->here;
  datum->contents = heard->contents;
}

/* ---- what is not mapped ---- */

/* Nothing is mapped, and nothing has to be: data is used where it is. */
static bool is_unified(const tgt_device_t *device) {
  return atomic_load(&device->core->machine->unified) || atomic_load(&device->omp->zero_copy);
}

/* Whether the device may follow a pointer as it is: with XNACK any, else to its own memory, or to memory that
 * ROCr knows. */
static bool is_accessible(const tgt_device_t *device, uintptr_t pointer) {
  void *address;
  atmi_device_t *core = device->core;
  return core->properties.target.xnack == ATMI_FEATURE_ON ||
         atmi_access_give(&core->machine->access, &core->agent, 1, (const void *)pointer, 1, &address) ==
             ATMI_ACCESS_GIVEN;
}

/* A pointer, or a section without length, that arrives as the host has it. */
static bool is_lost_pointer(const tgt_device_t *device, const map_note_t *note) {
  return note->host && !note->bytes && note->type & (MAP_TARGET_PARAM | MAP_RETURN_PARAM | MAP_PTR_AND_OBJ) &&
         !is_accessible(device, note->host);
}

static void hear_absent(const heard_t *heard) {
  const map_note_t *note = heard->note;
  const tgt_datum_t *datum = find(heard->device, note->host, note->host + note->bytes);
  const char *other = datum ? datum->unmapped : NULL;
  switch (note->operation) {
  case MAP_UPDATE: report(TGT_FOUND_UPDATE, heard, other); break;
  case MAP_END: report(TGT_FOUND_EXIT, heard, other); break;
  case MAP_BEGIN:
  case MAP_ENTER:
    if (heard->is_lost)
      report(TGT_FOUND_POINTER, heard, NULL);
    break;
  case MAP_LEAVE: break;
  }
}

/* ---- notes ---- */

/* What is done with a note under the lock; NULL: nothing. */
static void (*const hears[])(const heard_t *heard) = {
    [MAP_NOTE_CREATED] = hear_created, [MAP_NOTE_LEFT] = hear_left,     [MAP_NOTE_REMOVED] = hear_removed,
    [MAP_NOTE_SUBMIT] = hear_copy,     [MAP_NOTE_RETRIEVE] = hear_copy, [MAP_NOTE_ABSENT] = hear_absent,
};

/* What is to be found out without the lock. */
static void look(heard_t *heard) {
  const map_note_t *note = heard->note;
  const tgt_told_t *told = tgt_ompt_here();
  if (note->kind == MAP_NOTE_SUBMIT || note->kind == MAP_NOTE_RETRIEVE)
    heard->copy = tgt_lint_take_copy();
  else if (note->kind == MAP_NOTE_REMOVED) /* the program may have unmapped the pages */
    heard->contents = tgt_lint_hash_carefully((const void *)note->host, note->bytes);
  else if (note->kind == MAP_NOTE_ABSENT)
    heard->is_lost = is_lost_pointer(heard->device, note);
  if (note->kind != MAP_NOTE_LEFT)
    tgt_lint_write_place(told ? told->where : NULL, told ? told->code : NULL, &heard->written);
}

void tgt_lint_hear(const tgt_device_t *device, const map_note_t *note) {
  heard_t heard = {.device = device, .note = note, .written = {""}};
  if ((size_t)note->kind >= sizeof hears / sizeof *hears || !hears[note->kind] ||
      (note->kind == MAP_NOTE_ABSENT && is_unified(device)))
    return;
  look(&heard);
  pthread_mutex_lock(&lint.lock);
  if (*heard.written.text)
    heard.here = tgt_lint_keep(heard.written.text);
  hears[note->kind](&heard);
  pthread_mutex_unlock(&lint.lock);
}

/* ---- memory ---- */

/* Of the device, by a call of the program's. */
typedef struct block {
  const tgt_device_t *device;
  const void *memory;
  uint64_t bytes;
  const char *place;
} block_t;

static int compare_blocks(const void *a, const void *b) {
  const block_t *one = a, *other = b;
  if (one->memory != other->memory)
    return (uintptr_t)one->memory < (uintptr_t)other->memory ? -1 : 1;
  return ((uintptr_t)one->device > (uintptr_t)other->device) -
         ((uintptr_t)one->device < (uintptr_t)other->device);
}

static void add_block(const block_t *block) {
  block_t *copy = malloc(sizeof *copy), **added;
  if (!copy)
    return;
  *copy = *block;
  added = tsearch(copy, &lint.blocks, compare_blocks);
  if (added && *added == copy)
    return;
  if (added)
    **added = *copy; /* it was freed, and we are told of that late */
  free(copy);
}

static void remove_block(const block_t *key) {
  block_t **found = tfind(key, &lint.blocks, compare_blocks), *block = found ? *found : NULL;
  if (block)
    tdelete(block, &lint.blocks, compare_blocks);
  free(block);
}

void tgt_lint_hear_api(const tgt_told_data_t *data) {
  bool is_new = data->kind == TGT_OMPT_ALLOCATE;
  if (!data->code || (!is_new && data->kind != TGT_OMPT_DELETE) || (is_new && !data->to))
    return;
  int number = is_new ? data->to_device : data->from_device;
  tgt_lint_place_t written;
  if (is_new)
    tgt_lint_write_place(NULL, data->code, &written);
  pthread_mutex_lock(&lint.lock);
  block_t block = {.device = &tgt_runtime()->devices[number],
                   .memory = is_new ? data->to : data->from,
                   .bytes = data->bytes,
                   .place = is_new ? tgt_lint_keep(written.text) : NULL};
  if (!is_new)
    remove_block(&block);
  else if (block.place)
    add_block(&block);
  pthread_mutex_unlock(&lint.lock);
}

static void report_freed(const tgt_device_t *device, const map_entry_view_t *entry, const char *place) {
  const tgt_datum_t *datum = find(device, entry->begin, entry->end);
  tgt_finding_t finding = {.kind = TGT_FOUND_FREED_MAPPED,
                           .device = device,
                           .place = place,
                           .name = tgt_lint_keep(entry->name),
                           .host = entry->begin,
                           .bytes = entry->end - entry->begin,
                           .other = datum ? datum->mapped : NULL};
  tgt_lint_report(&finding);
}

void tgt_lint_hear_free(const void *memory, size_t bytes, const void *code) {
  tgt_runtime_t *runtime = tgt_runtime();
  tgt_lint_place_t written = {""};
  if (tgt_machine_is_forked()) /* whoever held a lock is not in this process */
    return;
  for (int i = 0; i < tgt_runtime_device_count(runtime); i++) {
    const tgt_device_t *device = &runtime->devices[i];
    uintptr_t at = (uintptr_t)memory, end = at + bytes;
    map_entry_view_t entry;
    while (at < end && map_table_first_in(device->maps, (const void *)at, end - at, &entry)) {
      if (!*written.text)
        tgt_lint_write_place(NULL, code, &written);
      pthread_mutex_lock(&lint.lock);
      report_freed(device, &entry, tgt_lint_keep(written.text));
      pthread_mutex_unlock(&lint.lock);
      at = entry.end;
    }
  }
}

/* ---- beginning and end ---- */

void tgt_lint_start(void) {
  static const atmi_env_row_t row = {.name = "LIBOMPTARGET_LINT", .most = 1};
  const char *text = getenv(row.name), *reason;
  int64_t value = 0;
  if (!text || !*text)
    return;
  if (!atmi_env_parse(&row, text, &value, &reason))
    atmi_warn(NULL, "environment variable %s is ignored: %s", row.name, reason);
  if (!value)
    return;
  tgt_the_lint_is_on = true;
  tgt_ompt_watch();
}

void tgt_lint_listen(const tgt_device_t *device) {
  map_table_set_functions(device->maps, tgt_lint_is_on() ? &tgt_lint_functions : tgt_ompt_functions());
}

static void report_block(const void *node, VISIT visit, void *context) {
  (void)context;
  if (visit != preorder && visit != leaf)
    return;
  const block_t *block = *(const block_t *const *)node;
  tgt_finding_t finding = {
      .kind = TGT_FOUND_NEVER_FREED, .device = block->device, .place = block->place, .bytes = block->bytes};
  tgt_lint_report(&finding);
}

void tgt_lint_stop(void) {
  if (!tgt_lint_is_on() || tgt_machine_is_forked())
    return;
  pthread_mutex_lock(&lint.lock);
  twalk_r(lint.blocks, report_block, NULL);
  tgt_lint_summarize();
  pthread_mutex_unlock(&lint.lock);
  tgt_the_lint_is_on = false;
}
