/* See host_read.h. Nothing is told, allocated or waited for while the program executes: hits are put into a
 * list of fixed length, and the rest is done when it calls. */
#include "check/host_read.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "check/init.h"
#include "check/name.h"
#include "check/step.h"

static const gs_rule_t old_rule = {"transfer", "host", GS_SEVERITY_WARNING,
                                   "Mapped data that a kernel changed and the host read as it was before"};
static const gs_rule_t garbage_rule = {"init", "read", GS_SEVERITY_ERROR,
                                       "The host reads mapped data that no kernel has written"};

/* Of one instruction and variable a few are kept, as the device may have the same in some. */
enum { HITS = 256, HITS_EACH = 16, HIT_BYTES = 64, LINES = 256 };

typedef struct hit {
  _Atomic bool is_whole; /* what follows is there */
  bool is_garbage;
  gs_step_place_t place;
  uint32_t bytes;
  gs_old_t old;            /* unless it is garbage */
  uint8_t had[HIT_BYTES];  /* of that: what the host read */
  gs_block_note_t block;   /* of garbage: where it came from */
  uint64_t offset, copied; /* in that, and how many of its bytes came */
} hit_t;

/* Bytes that came to the host, on the thread that asked for them. */
typedef struct garbage {
  struct garbage *next;
  uint64_t device, host, bytes;
  gs_block_note_t block;
  uint8_t undefined[]; /* of each byte */
} garbage_t;

struct gs_host_read {
  gs_check_t *check;
  pthread_mutex_t lock; /* of telling */
  struct {
    uint64_t pc, line; /* gs_name_host_line */
    bool has_line;     /* in the source */
  } line[LINES];       /* that were asked for last, as that is slow */
  _Atomic uint32_t hits;
  hit_t hit[HITS];
};

/* What the thread has asked for since it called, and looks at until it calls again. */
static _Thread_local garbage_t *garbages;
static _Thread_local bool looks;

gs_host_read_t *gs_host_read_create(gs_check_t *check) {
  gs_host_read_t *reads = calloc(1, sizeof *reads);
  if (!reads)
    return NULL;
  reads->check = check;
  pthread_mutex_init(&reads->lock, NULL);
  return reads;
}

static void forget(void) {
  gs_step_end();
  looks = false;
  while (garbages) {
    garbage_t *next = garbages->next;
    free(garbages);
    garbages = next;
  }
}

void gs_host_read_destroy(gs_host_read_t *reads) {
  if (!reads)
    return;
  forget();
  pthread_mutex_destroy(&reads->lock);
  free(reads);
}

/* ---- While the program executes ---- */

/* Whether there are enough of the instruction and what it reads. */
static bool is_known(gs_host_read_t *reads, uint64_t pc, const void *variable, uint64_t block) {
  const uint32_t hits = atomic_load(&reads->hits);
  unsigned count = 0;
  for (uint32_t i = 0; i < hits && i < HITS; i++) {
    const hit_t *hit = &reads->hit[i];
    count += atomic_load(&hit->is_whole) && hit->place.pc == pc &&
             (hit->is_garbage ? hit->block.id == block : hit->old.variable == variable);
  }
  return count >= HITS_EACH;
}

static hit_t *new_hit(gs_host_read_t *reads, const gs_step_place_t *place, uint32_t bytes,
                      const void *variable, uint64_t block) {
  if (is_known(reads, place->pc, variable, block))
    return NULL;
  const uint32_t index = atomic_load(&reads->hits) < HITS ? atomic_fetch_add(&reads->hits, 1) : HITS;
  if (index >= HITS)
    return NULL;
  hit_t *hit = &reads->hit[index];
  hit->place = *place;
  hit->bytes = bytes;
  return hit;
}

static bool are_undefined(const garbage_t *garbage, const gs_host_access_t *access) {
  const uint64_t first = access->address - garbage->host;
  for (uint64_t i = first; i < first + access->bytes; i++)
    if (i >= garbage->bytes || !garbage->undefined[i])
      return false;
  return access->bytes;
}

/* What is only moved is not used: the C library's copies, and what is undefined in part. */
static void look_at_garbage(gs_host_read_t *reads, garbage_t *garbage, const gs_host_access_t *access,
                            const gs_step_place_t *place) {
  const uint64_t first = access->address - garbage->host;
  if (access->reads && !place->by_library && are_undefined(garbage, access)) {
    hit_t *hit = new_hit(reads, place, access->bytes, NULL, garbage->block.id);
    if (hit) {
      hit->is_garbage = true;
      hit->block = garbage->block;
      hit->offset = garbage->device + first - garbage->block.start;
      hit->copied = garbage->bytes;
      atomic_store(&hit->is_whole, true);
    }
    memset(garbage->undefined + first, 0, access->bytes); /* once */
  }
  for (uint64_t i = first; access->writes && i < first + access->bytes && i < garbage->bytes; i++)
    garbage->undefined[i] = 0;
}

static void see(void *context, const gs_host_access_t *access, const gs_step_place_t *place) {
  gs_host_read_t *reads = context;
  gs_old_t old;
  for (garbage_t *garbage = garbages; garbage; garbage = garbage->next)
    if (access->address >= garbage->host && access->address - garbage->host < garbage->bytes)
      look_at_garbage(reads, garbage, access, place);
  if (!access->reads || access->bytes > HIT_BYTES ||
      !gs_transfer_is_old(reads->check->transfer, access->address, access->bytes, &old))
    return;
  hit_t *hit = new_hit(reads, place, access->bytes, old.variable, 0);
  if (!hit)
    return;
  hit->is_garbage = false;
  hit->old = old;
  memcpy(hit->had, (const void *)(uintptr_t)access->address, access->bytes);
  atomic_store(&hit->is_whole, true);
}

/* Nothing of what is mapped is there any more. */
static void forget_block(void *context, uint64_t address) {
  const gs_host_read_t *reads = context;
  const uint64_t bytes = address ? malloc_usable_size((void *)(uintptr_t)address) : 0;
  gs_transfer_freed(reads->check->transfer, address, bytes);
  for (garbage_t *garbage = garbages; garbage; garbage = garbage->next)
    if (garbage->host >= address && garbage->host - address < bytes)
      memset(garbage->undefined, 0, garbage->bytes);
}

/* ---- When it calls ---- */

void gs_host_read_brought(gs_host_read_t *reads, uint64_t device, uint64_t host, uint64_t bytes) {
  uint32_t origin = 0;
  bool any = false;
  if (!reads || !reads->check->init || !bytes ||
      gs_bits_is_defined(&reads->check->init->memory, device, device + bytes))
    return;
  garbage_t *garbage = calloc(1, sizeof *garbage + bytes);
  if (!garbage)
    return;
  for (uint64_t i = 0; i < bytes; i++) {
    /* Of what a kernel stored the copy was told of. */
    origin = 0;
    garbage->undefined[i] =
        gs_bits_get(&reads->check->init->memory, device + i, 1, &origin) == 0xff && !origin;
    any |= garbage->undefined[i];
  }
  if (!any || !gs_blocks_find(&reads->check->blocks, device, &garbage->block)) {
    free(garbage);
    return;
  }
  garbage->device = device;
  garbage->host = host;
  garbage->bytes = bytes;
  garbage->next = garbages;
  garbages = garbage;
}

void gs_host_read_returns(gs_host_read_t *reads, uint64_t runtime, uint64_t place) {
  looks = true;
  const gs_step_eyes_t eyes = {.see = see, .freed = forget_block, .context = reads};
  if (reads && (garbages || gs_transfer_has_old(reads->check->transfer)))
    gs_step_begin(runtime, place, &eyes);
}

/* What is known of the place of an instruction: an index of `line`. The lock is held. */
static uint64_t find_line(gs_host_read_t *reads, uint64_t pc) {
  const uint64_t i = pc % LINES;
  if (reads->line[i].pc != pc) {
    reads->line[i].pc = pc;
    reads->line[i].line = gs_name_host_line(pc + 1);
    reads->line[i].has_line = gs_name_host_has_line(pc + 1);
  }
  return i;
}

/* Where the hit is for who reads the source: the instruction, or if its line is not known, as in a library
 * for input and output, the innermost call of which it is. Writes a number for the line. The lock is held. */
static uint64_t find_source(gs_host_read_t *reads, const hit_t *hit, uint64_t *line) {
  uint64_t pc = hit->place.pc, at = find_line(reads, pc);
  for (unsigned i = hit->place.calls; i-- && !reads->line[at].has_line;) {
    pc = hit->place.call[i];
    at = find_line(reads, pc);
  }
  if (!reads->line[at].has_line) {
    pc = hit->place.pc;
    at = find_line(reads, pc);
  }
  *line = reads->line[at].line;
  return pc;
}

static void tell_garbage(gs_host_read_t *reads, const hit_t *hit) {
  gs_findings_t *findings = &reads->check->findings;
  uint64_t line;
  const uint64_t pc = find_source(reads, hit, &line);
  const gs_key_t key = {.rule = &garbage_rule, .pc = {line}, .object = {hit->block.id}};
  gs_found_t *found = gs_findings_meet(findings, &key, 1);
  char name[GS_BLOCK_NAME + 8] = "mapped data";
  if (!found)
    return;
  gs_finding_t finding = {.about_block = true,
                          .address = hit->block.start + hit->offset,
                          .bytes = hit->bytes,
                          .block = hit->block,
                          .hint = "map(to:) or map(tofrom:) copies what the host had there, or the kernel "
                                  "writes all of it"};
  if (*hit->block.name)
    snprintf(name, sizeof name, "`%s`", hit->block.name);
  finding.side[0].actor = GS_ACTOR_HOST;
  finding.side[0].stack = (gfxsim_stack_t){1, {pc + 1}};
  snprintf(finding.title, sizeof finding.title,
           "Uninitialised value read by the host: %" PRIu32 " bytes of %s", hit->bytes, name);
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "They are among %" PRIu64 " bytes that were copied to the host, and no kernel has written them",
           hit->copied);
  gs_findings_tell(findings, found, &finding);
}

/* Unless the device has the same there, or nothing any more that it could be compared with. What was replaced
 * was compared then. */
static void tell_old(gs_host_read_t *reads, const hit_t *hit, gs_read_device_t *read_device, void *context) {
  uint8_t now[HIT_BYTES];
  if (!hit->old.is_replaced && (!read_device || !read_device(context, hit->old.device, now, hit->old.bytes) ||
                                memcmp(now, hit->had + hit->old.first, hit->old.bytes) == 0))
    return;
  uint64_t line;
  const uint64_t pc = find_source(reads, hit, &line);
  gs_transfer_tell_old(reads->check->transfer, &old_rule, &hit->old, pc, line);
}

void gs_host_read_tell(gs_host_read_t *reads, gs_read_device_t *read_device, void *context) {
  if (!reads)
    return;
  if (looks)
    forget();
  if (!atomic_load(&reads->hits))
    return;
  pthread_mutex_lock(&reads->lock);
  for (unsigned i = 0; i < HITS; i++) {
    hit_t *hit = &reads->hit[i];
    if (!atomic_exchange(&hit->is_whole, false))
      continue;
    if (hit->is_garbage)
      tell_garbage(reads, hit);
    else
      tell_old(reads, hit, read_device, context);
  }
  atomic_store(&reads->hits, 0);
  pthread_mutex_unlock(&reads->lock);
}
