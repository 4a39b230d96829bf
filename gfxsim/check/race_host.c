/* Races with the host: it changes memory of its own that a kernel works with. What the host does is not seen,
 * so words are remembered with the value that the kernel found or left there, and looked at again when it is
 * over: another value, and no GPU and no copy has written it, is the host's. Not here: reads of the host,
 * which leave no trace, and words that the kernel and the host agree about by atomic accesses. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check/race.h"
#include "exec/place.h"

static const gs_rule_t rule = {"race", "host", GS_SEVERITY_ERROR,
                               "The host changes memory that a kernel accesses meanwhile"};

/* The first ones of a kernel: who changes memory meanwhile mostly changes much of it. */
enum { MOST_WORDS = 4096, SLOTS = 2 * MOST_WORDS };

typedef struct word {
  gs_host_word_t is; /* address 0: the slot is free */
  bool vague;        /* its value is not known */
  bool changed;      /* it had another one when the kernel stored there again */
} word_t;

/* What a kernel has accessed. */
struct gs_host_words {
  uint32_t count;
  bool atomic; /* it agrees with the host about something: what that orders nobody knows */
  word_t slot[SLOTS];
};

/* The last range that this thread asked for. */
static _Thread_local struct {
  uint64_t start, end, version;
  bool is_host;
} last;

bool gs_host_is(const gs_race_t *race, const gs_wave_t *w, uint64_t address) {
  const uint64_t version = atomic_load_explicit(&race->blocks->version, memory_order_acquire);
  if (address >= last.start && address < last.end && last.version == version)
    return last.is_host;
  const gs_vm_map_t *map = atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed);
  const gs_vm_range_t *range = gs_vm_find(map, address);
  if (!range)
    return false;
  last.start = range->start;
  last.end = range->end;
  last.version = version;
  last.is_host = range->kind == GS_VM_HOST || range->is_gap;
  return last.is_host;
}

/* Memory that may be gone. */
static bool peek(const void *at, uint32_t *value) {
  const struct iovec to = {value, sizeof *value}, from = {(void *)(uintptr_t)at, sizeof *value};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)sizeof *value;
}

/* The word's slot, or a free one; NULL when there are too many. */
static word_t *find_slot(struct gs_host_words *words, uint64_t address) {
  uint32_t at = (uint32_t)((address / 4 * UINT64_C(0x9E3779B97F4A7C15)) >> 32) % SLOTS;
  while (words->slot[at].is.address && words->slot[at].is.address != address)
    at = (at + 1) % SLOTS;
  word_t *word = &words->slot[at];
  if (!word->is.address && words->count++ >= MOST_WORDS)
    return NULL;
  return word;
}

/* The kernel's words, made when it accesses the first one. Lock held. */
static struct gs_host_words *words_of(gs_job_t *job) {
  if (!job->host)
    job->host = calloc(1, sizeof *job->host);
  return job->host;
}

/* Finds out where the instruction is, which takes a while, once for all kernels that have it. Lock held. */
static void find_site(gs_race_t *race, const gs_wave_t *w, uint32_t site, unsigned lane) {
  if (!race->host_places)
    race->host_places = calloc(GS_SITES, sizeof(gs_place_t *));
  if (!race->host_places || race->host_places[site])
    return;
  gs_place_t *place = malloc(sizeof *place);
  if (place)
    gs_place_of(w, lane, place);
  race->host_places[site] = place;
}

void gs_host_note(gs_race_t *race, gs_job_t *job, const gs_wave_t *w, const gs_host_word_t *what,
                  const uint32_t *stored) {
  pthread_mutex_lock(&race->host_lock);
  struct gs_host_words *words = words_of(job);
  word_t *word = words && !words->atomic ? find_slot(words, what->address) : NULL;
  uint32_t now;
  if (word && what->writes && word->is.address && !word->vague && !word->changed)
    word->changed = peek(what->host, &now) && now != word->is.value;
  if (word && !word->changed && (what->writes || !word->is.address)) {
    word->is = *what;
    if (stored)
      word->is.value = *stored;
    word->vague = stored ? false : what->writes || !peek(what->host, &word->is.value);
    find_site(race, w, gs_stamp_site(what->accessed), gs_stamp_lane(what->accessed));
  }
  pthread_mutex_unlock(&race->host_lock);
}

void gs_host_agrees(gs_race_t *race, gs_job_t *job) {
  pthread_mutex_lock(&race->host_lock);
  struct gs_host_words *words = words_of(job);
  if (words)
    words->atomic = true;
  pthread_mutex_unlock(&race->host_lock);
}

/* The place of the access: its code is known, and who of the kernel it was says the stamp. */
static void find_place(const gs_race_t *race, const gs_job_t *job, const gs_host_word_t *word,
                       gs_place_t *place) {
  static const gs_vm_map_t nothing = {0};
  const gs_place_t *known = race->host_places ? race->host_places[gs_stamp_site(word->accessed)] : NULL;
  gs_place_t item;
  gs_place_of_other(&nothing, &job->launch, word->group, gs_stamp_wave(word->accessed),
                    gs_stamp_lane(word->accessed), 0, &item);
  *place = known ? *known : item;
  memcpy(place->group, item.group, sizeof place->group);
  memcpy(place->item, item.item, sizeof place->item);
}

static void tell(gs_race_t *race, const gs_job_t *job, const gs_host_word_t *word, uint32_t count,
                 gs_found_t *found) {
  gs_finding_t finding = {
      .address = word->address,
      .bytes = 4,
      .hint = "the host has to wait for the kernel before that: a taskwait, a depend clause, or its signal"};
  finding.about_block = gs_blocks_find(race->blocks, word->address, &finding.block);
  finding.side[0].actor = GS_ACTOR_WAVE;
  find_place(race, job, word, &finding.side[0].place);
  snprintf(finding.title, sizeof finding.title, "Data race: %s of 4 bytes", word->writes ? "write" : "read");
  snprintf(finding.detail[0], sizeof finding.detail[0],
           "Conflicts with a later write of the host: %" PRIu32 " dword%s changed before the kernel was over",
           count, count == 1 ? " has" : "s have");
  gs_findings_tell(race->findings, found, &finding);
}

/* Whether the host has changed it. */
static bool is_changed(gs_race_t *race, const word_t *word) {
  const uint64_t address = word->is.address;
  uint32_t now;
  if (word->changed)
    return true;
  return !word->vague && gs_shadow_ask(&race->shadow, GS_SHADOW_WRITTEN, address) == word->is.written &&
         peek(word->is.host, &now) && now != word->is.value;
}

void gs_host_kernel_ends(gs_race_t *race, gs_job_t *job) {
  struct gs_host_words *words = job->host;
  const gs_host_word_t *first = NULL;
  uint32_t count = 0;
  job->host = NULL;
  if (!words)
    return;
  for (uint32_t i = 0; i < SLOTS && !words->atomic; i++) {
    const word_t *word = &words->slot[i];
    if (!word->is.address || !is_changed(race, word))
      continue;
    count++;
    if (!first || word->is.address < first->address)
      first = &word->is;
  }
  if (first) {
    const gs_key_t key = {.rule = &rule, .pc = {race->sites.site[gs_stamp_site(first->accessed)].pc}};
    gs_found_t *found = gs_findings_meet(race->findings, &key, count);
    if (found)
      tell(race, job, first, count, found);
  }
  free(words);
}

void gs_host_fini(gs_race_t *race) {
  for (uint32_t i = 0; race->host_places && i < GS_SITES; i++)
    free(race->host_places[i]);
  free(race->host_places);
  pthread_mutex_destroy(&race->host_lock);
}
