/* See order.h. Within a workgroup, waves have vector clocks. Workgroups are too many for that: a word that is
 * accessed atomically keeps a list of who told what there, and a wave keeps which lists it has read how far.
 * Searching them is left for when two accesses look like a race. */
#include "check/order.h"

#include <stdlib.h>
#include <string.h>

enum {
  SYNC_WORDS = 4096,      /* later ones share the last, which orders more than there is */
  SYNC_TABLE = 4 * 4096,  /* a power of two */
  MOST_TOLD = 1 << 20,    /* entries of all lists; beyond, who learns anything learns all, */
  MOST_UNHEARD = 1 << 17, /* and who learns at a word where nobody has learned before */
  MOST_SEARCHED = 64,     /* lists that a question leads to; beyond, the answer is yes */
  RENEW_CLOCK = 2048,     /* a crew whose clocks passed this gets another number at its next barrier */
};
static_assert(SYNC_WORDS <= UINT16_MAX, "places are kept in 16 bits");

/* What a wave told at a word. */
typedef struct told {
  uint32_t crew;
  uint32_t before;  /* 1 + index of the crew's entry before, or 0 */
  uint16_t clock[]; /* what these waves did at clocks below: gs_sync_t.waves, as there are many entries; 0
                       beyond those of the crew */
} told_t;

/* Who tells often tells on and on: the entry that was changed last has its clocks here, in the cache line
 * that all others begin with, and its own are old until another takes the place. */
typedef struct gs_sync {
  _Alignas(64) uint64_t address;
  uint32_t recent, recent_crew; /* 1 + index of that entry, or 0; and its crew */
  uint32_t read;                /* so many entries somebody has learned of: they do not change any more */
  uint32_t count;
  bool full; /* there was no room for an entry: who learns here learns all, and nothing more is kept */
  uint16_t clock[GS_ORDER_WAVES];
  unsigned char *told; /* see entry_of */
  uint32_t capacity, waves;
  uint32_t base, last_count; /* last[crew - base]: 1 + index of the crew's last entry, or 0 */
  uint32_t *last;
  gs_lessons_t passed; /* what those who told had learned elsewhere */
} gs_sync_t;

/* ---- Making and ending ---- */

/* Whoever has it may take it again, see gs_order_hold. */
static int make_lock(pthread_mutex_t *lock) {
  pthread_mutexattr_t attributes;
  if (pthread_mutexattr_init(&attributes))
    return -1;
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  const int status = pthread_mutex_init(lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return status ? -1 : 0;
}

void gs_order_hold(gs_order_t *order) {
  pthread_mutex_lock(&order->lock);
}

void gs_order_let_go(gs_order_t *order) {
  pthread_mutex_unlock(&order->lock);
}

int gs_order_init(gs_order_t *order) {
  memset(order, 0, sizeof *order);
  if (make_lock(&order->lock))
    return -1;
  order->jobs = calloc(GS_JOBS, sizeof *order->jobs);
  order->notes = calloc(GS_CREW_NOTES, sizeof *order->notes);
  order->sync = aligned_alloc(_Alignof(gs_sync_t), SYNC_WORDS * sizeof *order->sync);
  if (order->sync)
    memset(order->sync, 0, SYNC_WORDS * sizeof *order->sync);
  order->sync_table = calloc(SYNC_TABLE, sizeof *order->sync_table);
  order->next_crew = 1;
  order->strangers = true;
  if (order->jobs && order->notes && order->sync && order->sync_table)
    return 0;
  gs_order_fini(order);
  return -1;
}

/* Forgets all words. Lock held, or nobody else there. */
static void forget_words(gs_order_t *order) {
  for (uint32_t i = 0; i < order->sync_count; i++) {
    free(order->sync[i].told);
    free(order->sync[i].last);
  }
  if (order->sync_count) {
    memset(order->sync, 0, order->sync_count * sizeof *order->sync);
    memset(order->sync_table, 0, SYNC_TABLE * sizeof *order->sync_table);
  }
  order->sync_count = 0;
  order->told = 0;
  atomic_store_explicit(&order->strangers, true, memory_order_relaxed);
}

/* Workgroups may know something of each other from now on, or one has two numbers. */
static void end_strangers(gs_order_t *order) {
  if (atomic_load_explicit(&order->strangers, memory_order_relaxed))
    atomic_store_explicit(&order->strangers, false, memory_order_relaxed);
}

void gs_order_fini(gs_order_t *order) {
  while (order->free_crews) {
    gs_crew_t *crew = order->free_crews;
    order->free_crews = crew->next;
    free(crew->local);
    free(crew->local_sync);
    free(crew);
  }
  if (order->sync)
    forget_words(order);
  free(order->jobs);
  free(order->notes);
  free(order->sync);
  free(order->sync_table);
  pthread_mutex_destroy(&order->lock);
}

/* ---- Jobs ---- */

/* A place in the ring that no running job has. Lock held. */
static gs_job_t *take_job(gs_order_t *order) {
  for (unsigned tries = 0; tries < GS_JOBS; tries++) {
    gs_job_t *job = &order->jobs[++order->next_job % GS_JOBS];
    if (order->next_job && (!job->number || job->end))
      return job;
  }
  return NULL;
}

gs_job_t *gs_order_begin(gs_order_t *order, const gs_job_t *what) {
  pthread_mutex_lock(&order->lock);
  const uint32_t crew = order->next_crew;
  gs_job_t *job = crew < GS_CREWS - GS_CREW_NOTES ? take_job(order) : NULL;
  if (job) {
    *job = *what;
    job->number = order->next_job;
    job->floor = job->first = crew;
    job->begin = ++order->clock;
    job->end = 0;
    job->next = order->running;
    for (const gs_job_t *other = order->running; other; other = other->next)
      if (other->first < job->floor)
        job->floor = other->first;
    order->running = job;
  }
  pthread_mutex_unlock(&order->lock);
  return job;
}

void gs_order_end(gs_order_t *order, gs_job_t *job) {
  pthread_mutex_lock(&order->lock);
  gs_job_t **link = &order->running;
  while (*link != job)
    link = &(*link)->next;
  *link = job->next;
  job->end = ++order->clock;
  if (!order->running)
    forget_words(order);
  pthread_mutex_unlock(&order->lock);
}

/* The job of that number, or NULL if it is forgotten. */
static const gs_job_t *find_job(const gs_order_t *order, uint32_t number) {
  const gs_job_t *job = &order->jobs[number % GS_JOBS];
  return job->number == number ? job : NULL;
}

/* ---- Workgroups ---- */

/* A new number for the crew. */
static void number_crew(gs_order_t *order, gs_crew_t *crew) {
  pthread_mutex_lock(&order->lock);
  crew->id = order->next_crew++;
  order->notes[crew->id % GS_CREW_NOTES] =
      (gs_crew_note_t){.id = crew->id, .job = crew->job->number, .group = crew->group};
  pthread_mutex_unlock(&order->lock);
}

static bool reserve_local(gs_crew_t *crew, size_t words) {
  crew->local_words = words;
  if (words <= crew->local_capacity)
    return true;
  free(crew->local);
  free(crew->local_sync);
  crew->local = calloc(3 * words, sizeof *crew->local);
  crew->local_sync = calloc(words, 1);
  crew->local_capacity = crew->local && crew->local_sync ? words : 0;
  return crew->local_capacity;
}

static gs_crew_t *take_crew(gs_order_t *order) {
  pthread_mutex_lock(&order->lock);
  gs_crew_t *crew = order->free_crews;
  if (crew)
    order->free_crews = crew->next;
  pthread_mutex_unlock(&order->lock);
  return crew ? crew : calloc(1, sizeof *crew);
}

gs_crew_t *gs_order_crew(gs_order_t *order, gs_job_t *job, uint64_t group, unsigned waves,
                         uint32_t lds_bytes) {
  gs_crew_t *crew = take_crew(order);
  if (!crew)
    return NULL;
  memset(crew->wave, 0, sizeof crew->wave);
  if (crew->synced_count)
    memset(crew->local_sync, 0, crew->local_capacity);
  crew->synced_count = 0;
  crew->job = job;
  crew->group = group;
  crew->waves = waves;
  if (!reserve_local(crew, (lds_bytes + 3) / 4)) {
    gs_order_dismiss(order, crew);
    return NULL;
  }
  number_crew(order, crew);
  return crew;
}

void gs_order_dismiss(gs_order_t *order, gs_crew_t *crew) {
  pthread_mutex_lock(&order->lock);
  crew->next = order->free_crews;
  order->free_crews = crew;
  pthread_mutex_unlock(&order->lock);
}

/* ---- What waves have learned ---- */

/* A lesson, or more of one that was there. */
static void learn(gs_lessons_t *lessons, bool is_crew, uint32_t source, uint32_t length) {
  for (uint32_t i = 0; i < lessons->count; i++) {
    if (lessons->lesson[i].is_crew != is_crew || lessons->lesson[i].source != source)
      continue;
    if (lessons->lesson[i].length < length)
      lessons->lesson[i].length = length;
    return;
  }
  if (lessons->count == GS_LESSONS) {
    lessons->all = true;
    return;
  }
  lessons->lesson[lessons->count].is_crew = is_crew;
  lessons->lesson[lessons->count].source = source;
  lessons->lesson[lessons->count++].length = length;
}

static void learn_all(gs_lessons_t *lessons, const gs_lessons_t *more) {
  lessons->all |= more->all;
  for (uint32_t i = 0; i < more->count; i++)
    learn(lessons, more->lesson[i].is_crew, more->lesson[i].source, more->lesson[i].length);
}

static void tick(gs_order_wave_t *wave) {
  wave->dirty = false;
  if (wave->clock < GS_CLOCK_MAX)
    wave->clock++;
}

/* Everything that the wave has done so far: at the clock's end also what it does now. */
static uint32_t done_by(const gs_order_wave_t *wave) {
  return wave->clock + 1;
}

/* Its lanes may have ordered among themselves what they have done so far: which lane learns of which by an
 * atomic access is not looked at. */
static void order_lanes(gs_order_wave_t *wave) {
  wave->lanes_from = done_by(wave);
}

void gs_order_barrier(gs_order_t *order, gs_crew_t *crew) {
  gs_lessons_t all = {0}, pending = {0};
  uint32_t seen[GS_ORDER_WAVES] = {0}, latest = 0;
  for (unsigned i = 0; i < crew->waves; i++) {
    gs_order_wave_t *wave = &crew->wave[i];
    if (wave->behind)
      gs_order_catch_up(order, crew, i);
    seen[i] = done_by(wave);
    learn_all(&all, &wave->learned);
    learn_all(&pending, &wave->pending);
    tick(wave);
    wave->lanes_from = wave->clock;
    latest = wave->clock > latest ? wave->clock : latest;
  }
  const bool renew = latest > RENEW_CLOCK && crew->id < GS_CREWS - GS_CREW_NOTES;
  for (unsigned i = 0; i < crew->waves; i++) {
    gs_order_wave_t *wave = &crew->wave[i];
    memcpy(wave->seen, seen, sizeof seen);
    wave->learned = all;
    wave->pending = pending;
    if (!renew)
      continue;
    memset(wave->seen, 0, sizeof wave->seen);
    wave->clock = wave->published = wave->lanes_from = 0;
  }
  if (renew) {
    memset(crew->synced, 0, sizeof crew->synced);
    end_strangers(order);
    number_crew(order, crew);
  }
}

void gs_order_waited(gs_order_wave_t *wave) {
  if (wave->dirty)
    tick(wave);
  wave->published = wave->clock == GS_CLOCK_MAX ? done_by(wave) : wave->clock;
}

void gs_order_invalidated(gs_order_wave_t *wave) {
  learn_all(&wave->learned, &wave->pending);
  wave->pending = (gs_lessons_t){0};
}

/* ---- Words of global memory ---- */

/* Words that lie beside each other do so in the table, too, a few at a time: one instruction has many of
 * them. */
static uint32_t hash_of(uint64_t address) {
  enum { TOGETHER = 8 };
  const uint64_t word = address / 4;
  return (uint32_t)(word / TOGETHER * UINT64_C(0x9e3779b97f4a7c15) >> 40) * TOGETHER +
         (uint32_t)(word % TOGETHER);
}

/* The word's list; NULL if there is none, and none is to be made. Lock held. */
static gs_sync_t *find_word(gs_order_t *order, uint64_t address, bool make) {
  uint32_t at = hash_of(address) % SYNC_TABLE;
  for (; order->sync_table[at]; at = (at + 1) % SYNC_TABLE)
    if (order->sync[order->sync_table[at] - 1].address == address)
      return &order->sync[order->sync_table[at] - 1];
  if (order->sync_count == SYNC_WORDS)
    return &order->sync[SYNC_WORDS - 1];
  if (!make)
    return NULL;
  order->sync[order->sync_count].address = address;
  order->sync_table[at] = ++order->sync_count;
  return &order->sync[order->sync_count - 1];
}

/* The same, made if there is none; *place, if it is given, is asked first. */
static gs_sync_t *reach_word(gs_order_t *order, const gs_order_word_t *asked) {
  const uint32_t place = asked->place ? *asked->place : 0;
  if (place && place <= order->sync_count && order->sync[place - 1].address == asked->address)
    return &order->sync[place - 1];
  gs_sync_t *word = find_word(order, asked->address, true);
  if (asked->place)
    *asked->place = (uint16_t)(word - order->sync + 1);
  return word;
}

static uint32_t *last_of(const gs_sync_t *word, uint32_t crew) {
  return crew >= word->base && crew - word->base < word->last_count ? &word->last[crew - word->base] : NULL;
}

static size_t entry_bytes(uint32_t waves) {
  const size_t bytes = sizeof(told_t) + waves * sizeof(uint16_t);
  return (bytes + _Alignof(told_t) - 1) / _Alignof(told_t) * _Alignof(told_t);
}

/* An entry of the word's list, by its index. */
static told_t *entry_of(const gs_sync_t *word, uint32_t index) {
  return (told_t *)(void *)(word->told + index * entry_bytes(word->waves));
}

/* 1 + index of the crew's last entry, or 0. */
static uint32_t index_of(const gs_sync_t *word, uint32_t crew) {
  if (word->recent && word->recent_crew == crew)
    return word->recent; /* an entry that is newer than all others of its crew */
  const uint32_t *last = last_of(word, crew);
  return last ? *last : 0;
}

/* The clocks of an entry, by 1 + index: those of as many waves as its crew has. */
static const uint16_t *clocks_of(const gs_sync_t *word, uint32_t index) {
  return index == word->recent ? word->clock : entry_of(word, index - 1)->clock;
}

/* Makes an entry the one that is changed. */
static uint16_t *change(gs_sync_t *word, uint32_t index) {
  if (index == word->recent)
    return word->clock;
  const size_t bytes = word->waves * sizeof *word->clock;
  if (word->recent)
    memcpy(entry_of(word, word->recent - 1)->clock, word->clock, bytes);
  const told_t *entry = entry_of(word, index - 1);
  word->recent = index;
  word->recent_crew = entry->crew;
  memcpy(word->clock, entry->clock, bytes);
  return word->clock;
}

/* Makes room for so many entries of so many waves each. */
static bool resize_told(gs_sync_t *word, uint32_t capacity, uint32_t waves) {
  const size_t old_bytes = entry_bytes(word->waves), bytes = entry_bytes(waves);
  unsigned char *told = realloc(word->told, capacity * bytes);
  if (!told)
    return false;
  for (uint32_t i = word->count; bytes > old_bytes && i-- > 0;) { /* the last first: they move up */
    memmove(told + i * bytes, told + i * old_bytes, old_bytes);
    memset(told + i * bytes + old_bytes, 0, bytes - old_bytes);
  }
  word->told = told;
  word->capacity = capacity;
  word->waves = waves;
  return true;
}

/* Makes room for one more entry, and for the crew's last. */
static bool reserve_told(gs_sync_t *word, const gs_crew_t *crew) {
  const uint32_t waves = crew->waves > word->waves ? crew->waves : word->waves;
  if (word->count == word->capacity && !resize_told(word, word->capacity ? 2 * word->capacity : 4, waves))
    return false;
  if (word->waves < waves && !resize_told(word, word->capacity, waves))
    return false;
  if (!word->last_count)
    word->base = crew->job->first;
  if (crew->id < word->base)
    return false;
  const uint32_t wanted = crew->id - word->base + 1;
  if (wanted <= word->last_count)
    return true;
  const uint32_t count = wanted + wanted / 2 + 8;
  uint32_t *last = realloc(word->last, count * sizeof *last);
  if (!last)
    return false;
  memset(last + word->last_count, 0, (count - word->last_count) * sizeof *last);
  word->last = last;
  word->last_count = count;
  return true;
}

static bool is_more(const uint16_t *clocks, const uint16_t *known, unsigned waves) {
  bool more = false;
  for (unsigned i = 0; i < waves; i++)
    more |= clocks[i] > known[i];
  return more;
}

static void add_clocks(uint16_t *known, const uint16_t *clocks, unsigned waves) {
  for (unsigned i = 0; i < waves; i++)
    known[i] = known[i] < clocks[i] ? clocks[i] : known[i];
}

/* Puts what the wave can tell behind the crew's entry `last` (1 + index, or 0). Lock held. */
static void tell_anew(gs_order_t *order, gs_sync_t *word, const gs_crew_t *crew, const uint16_t *clocks,
                      uint32_t last) {
  if (last && !is_more(clocks, clocks_of(word, last), crew->waves))
    return;
  if (order->told >= (word->read ? MOST_TOLD : MOST_UNHEARD) || !reserve_told(word, crew)) {
    word->passed.all = true;
    word->full = true;
    return;
  }
  told_t *entry = entry_of(word, word->count++);
  entry->crew = crew->id;
  entry->before = last;
  memset(entry->clock, 0, word->waves * sizeof *entry->clock);
  if (last)
    memcpy(entry->clock, clocks_of(word, last), crew->waves * sizeof *entry->clock);
  add_clocks(entry->clock, clocks, crew->waves);
  *last_of(word, crew->id) = word->count;
  change(word, word->count);
  order->told++;
}

/* What wave `w` can tell. */
static void clocks_to_tell(const gs_crew_t *crew, unsigned w, uint16_t clocks[GS_ORDER_WAVES]) {
  const gs_order_wave_t *wave = &crew->wave[w];
  for (unsigned i = 0; i < crew->waves; i++)
    clocks[i] = (uint16_t)wave->seen[i];
  clocks[w] = (uint16_t)wave->published;
}

/* Adds that, if it is more than its group told last. Lock held. */
static void tell(gs_order_t *order, gs_sync_t *word, const gs_crew_t *crew, unsigned w,
                 const uint16_t clocks[GS_ORDER_WAVES]) {
  const gs_order_wave_t *wave = &crew->wave[w];
  if (wave->learned.count || wave->learned.all)
    learn_all(&word->passed, &wave->learned);
  const uint32_t last = index_of(word, crew->id);
  if (last <= word->read)
    tell_anew(order, word, crew, clocks, last);
  else if (is_more(clocks, clocks_of(word, last), crew->waves))
    add_clocks(change(word, last), clocks, crew->waves);
}

/* The wave learns of its own group at once: they share the first cache. */
static void learn_of_mates(const gs_sync_t *word, const gs_crew_t *crew, gs_order_wave_t *wave) {
  const uint32_t last = index_of(word, crew->id);
  const uint16_t *clocks = last ? clocks_of(word, last) : NULL;
  for (unsigned i = 0; clocks && i < crew->waves; i++)
    if (wave->seen[i] < clocks[i])
      wave->seen[i] = clocks[i];
}

/* Who stored at the word last. Of a wave of its own group, this wave learns everything that it had learned,
 * too: they share the first cache, so that no wait for stores is needed. */
static void learn_of_writer(gs_crew_t *crew, unsigned w, gs_stamp_t written, gs_lessons_t *lessons) {
  gs_order_wave_t *wave = &crew->wave[w];
  if (!written)
    return;
  if (gs_stamp_crew(written) != crew->id) {
    if (lessons)
      learn(lessons, true, gs_stamp_crew(written), 0);
    return;
  }
  const unsigned mate = gs_stamp_wave(written);
  for (unsigned i = 0; i < GS_ORDER_WAVES; i++)
    if (wave->seen[i] < crew->wave[mate].seen[i])
      wave->seen[i] = crew->wave[mate].seen[i];
  if (wave->seen[mate] < gs_stamp_clock(written) + 1)
    wave->seen[mate] = gs_stamp_clock(written) + 1;
}

/* Lock held. */
static void catch_up(gs_order_t *order, gs_order_wave_t *wave) {
  gs_sync_t *word = &order->sync[wave->behind - 1];
  word->read = word->count;
  if (word->count)
    learn(wave->behind_pending ? &wave->pending : &wave->learned, false, wave->behind - 1, word->count);
  wave->behind = 0;
}

void gs_order_catch_up(gs_order_t *order, gs_crew_t *crew, unsigned w) {
  pthread_mutex_lock(&order->lock);
  catch_up(order, &crew->wave[w]);
  pthread_mutex_unlock(&order->lock);
}

void gs_order_learn(gs_order_t *order, gs_crew_t *crew, unsigned w, uint64_t address, gs_stamp_t written) {
  gs_order_wave_t *wave = &crew->wave[w];
  order_lanes(wave);
  pthread_mutex_lock(&order->lock);
  end_strangers(order);
  gs_sync_t *word = find_word(order, address, false);
  if (word) {
    word->read = word->count;
    learn(&wave->pending, false, (uint32_t)(word - order->sync), word->count);
    learn_of_mates(word, crew, wave);
    wave->behind = (uint32_t)(word - order->sync) + 1;
    wave->behind_pending = true;
  }
  pthread_mutex_unlock(&order->lock);
  learn_of_writer(crew, w, written, &wave->pending);
}

/* Lock held. */
static void learn_at(gs_order_t *order, gs_sync_t *word, gs_crew_t *crew, gs_order_wave_t *wave) {
  const uint32_t number = (uint32_t)(word - order->sync);
  learn_of_mates(word, crew, wave);
  word->read = word->count;
  if (word->count)
    learn(&wave->learned, false, number, word->count);
  wave->behind = number + 1;
  wave->behind_pending = false;
}

void gs_order_atomic(gs_order_t *order, gs_crew_t *crew, unsigned w, const gs_order_word_t *words,
                     unsigned count, bool returns) {
  gs_order_wave_t *wave = &crew->wave[w];
  uint16_t clocks[GS_ORDER_WAVES] = {0};
  order_lanes(wave);
  pthread_mutex_lock(&order->lock);
  end_strangers(order);
  clocks_to_tell(crew, w, clocks);
  for (unsigned i = 0; i < count; i++)
    if (words[i].place && *words[i].place)
      __builtin_prefetch(&order->sync[*words[i].place - 1]);
  for (unsigned i = 0; i < count; i++) {
    gs_sync_t *word = reach_word(order, &words[i]);
    if (word->full && !returns)
      continue;
    if (returns) {
      learn_at(order, word, crew, wave);
      clocks_to_tell(crew, w, clocks);
    }
    tell(order, word, crew, w, clocks);
    if (returns)
      learn_of_writer(crew, w, words[i].written, &wave->learned);
  }
  pthread_mutex_unlock(&order->lock);
}

/* ---- LDS ---- */

void gs_order_local_atomic(gs_crew_t *crew, unsigned w, size_t word) {
  gs_order_wave_t *wave = &crew->wave[w];
  uint8_t *index = &crew->local_sync[word];
  order_lanes(wave);
  if (!*index && crew->synced_count < GS_LOCAL_WORDS)
    memset(crew->synced[crew->synced_count++], 0, sizeof *crew->synced);
  if (!*index)
    *index = (uint8_t)crew->synced_count;
  uint32_t *told = crew->synced[*index - 1];
  for (unsigned i = 0; i < GS_ORDER_WAVES; i++) {
    if (told[i] < wave->seen[i])
      told[i] = wave->seen[i];
    wave->seen[i] = told[i];
  }
  told[w] = done_by(wave);
  tick(wave);
}

void gs_order_local_learn(gs_crew_t *crew, unsigned w, size_t word, gs_stamp_t written) {
  gs_order_wave_t *wave = &crew->wave[w];
  const unsigned index = crew->local_sync[word];
  order_lanes(wave);
  for (unsigned i = 0; index && i < GS_ORDER_WAVES; i++)
    if (wave->seen[i] < crew->synced[index - 1][i])
      wave->seen[i] = crew->synced[index - 1][i];
  learn_of_writer(crew, w, written, NULL);
}

/* ---- Questions ---- */

/* A search through what was told. Words whose tellers had read each other's go round in circles. */
typedef struct search {
  const gs_order_t *order;
  gs_stamp_t stamp;
  bool unsure;                         /* the answer where too much was told to know */
  uint32_t count, word[MOST_SEARCHED]; /* whose tellers were asked where they had read */
} search_t;

/* Whether the first `length` entries of the word's list have it. */
static bool word_has(const gs_sync_t *word, uint32_t length, gs_stamp_t stamp) {
  for (uint32_t at = index_of(word, gs_stamp_crew(stamp)); at; at = entry_of(word, at - 1)->before)
    if (at <= length && gs_stamp_clock(stamp) < clocks_of(word, at)[gs_stamp_wave(stamp)])
      return true;
  return false;
}

/* Whether the word is one that the search has come to; it is from now on. */
static bool was_searched(search_t *search, uint32_t word) {
  for (uint32_t i = 0; i < search->count; i++)
    if (search->word[i] == word)
      return true;
  search->word[search->count++] = word;
  return false;
}

static bool was_told(search_t *search, const gs_lessons_t *lessons) {
  if (search->unsure && (lessons->all || search->count == MOST_SEARCHED))
    return true;
  if (search->count == MOST_SEARCHED)
    return false;
  for (uint32_t i = 0; i < lessons->count; i++) {
    const uint32_t source = lessons->lesson[i].source;
    if (lessons->lesson[i].is_crew) {
      if (source == gs_stamp_crew(search->stamp))
        return true;
      continue;
    }
    const gs_sync_t *word = &search->order->sync[source];
    if (!search->unsure && source == SYNC_WORDS - 1) /* which many words share */
      continue;
    if (word_has(word, lessons->lesson[i].length, search->stamp) ||
        (!was_searched(search, source) && was_told(search, &word->passed)))
      return true;
  }
  return false;
}

/* Lock held. `unsure`: the answer where it is not sure. */
static bool knows(const gs_order_t *order, const gs_crew_t *crew, unsigned w, gs_stamp_t stamp, bool unsure) {
  const gs_crew_note_t *note = &order->notes[gs_stamp_crew(stamp) % GS_CREW_NOTES];
  const gs_job_t *job = note->id == gs_stamp_crew(stamp) ? find_job(order, note->job) : NULL;
  if (!job)
    return true;
  if (job == crew->job && note->group == crew->group)
    return true; /* an earlier number of its own */
  if (job != crew->job && job->end && job->end < crew->job->begin)
    return true;
  search_t search = {.order = order, .stamp = stamp, .unsure = unsure};
  return was_told(&search, &crew->wave[w].learned) || (!unsure && was_told(&search, &crew->wave[w].pending));
}

bool gs_order_knows(gs_order_t *order, const gs_crew_t *crew, unsigned w, gs_stamp_t stamp) {
  pthread_mutex_lock(&order->lock);
  const bool answer = knows(order, crew, w, stamp, true);
  pthread_mutex_unlock(&order->lock);
  return answer;
}

bool gs_order_is_before(gs_order_t *order, gs_crew_t *crew, unsigned w, gs_stamp_t stamp) {
  if (gs_stamp_crew(stamp) < crew->job->floor)
    return true;
  if (gs_stamp_crew(stamp) != crew->id)
    return gs_order_knows(order, crew, w, stamp);
  return gs_stamp_wave(stamp) == w || gs_stamp_clock(stamp) < crew->wave[w].seen[gs_stamp_wave(stamp)];
}

bool gs_order_read_at(gs_order_t *order, const gs_crew_t *crew, unsigned w, uint64_t address,
                      gs_stamp_t stamp) {
  const gs_lessons_t *lessons = &crew->wave[w].learned;
  bool found = false;
  pthread_mutex_lock(&order->lock);
  const gs_sync_t *word = find_word(order, address, false);
  for (uint32_t i = 0; word && i < lessons->count && !found; i++) {
    const bool here = !lessons->lesson[i].is_crew && &order->sync[lessons->lesson[i].source] == word;
    uint32_t at = here ? index_of(word, gs_stamp_crew(stamp)) : 0;
    while (at > lessons->lesson[i].length)
      at = entry_of(word, at - 1)->before;
    found = at;
  }
  pthread_mutex_unlock(&order->lock);
  return found;
}

bool gs_order_surely(gs_order_t *order, const gs_crew_t *crew, unsigned w, gs_stamp_t stamp) {
  if (gs_stamp_crew(stamp) == crew->id)
    return gs_stamp_wave(stamp) == w || gs_stamp_clock(stamp) < crew->wave[w].seen[gs_stamp_wave(stamp)];
  pthread_mutex_lock(&order->lock);
  const bool answer = knows(order, crew, w, stamp, false);
  pthread_mutex_unlock(&order->lock);
  return answer;
}

bool gs_order_job(gs_order_t *order, gs_stamp_t stamp, gs_job_t *found) {
  uint64_t group;
  return gs_order_who(order, stamp, found, &group);
}

uint64_t gs_order_tick(gs_order_t *order) {
  return atomic_fetch_add(&order->clock, 1) + 1;
}

void gs_order_wrote_back(gs_order_t *order, gs_job_t *job) {
  pthread_mutex_lock(&order->lock);
  job->wrote_back = true;
  pthread_mutex_unlock(&order->lock);
}

void gs_order_left_xcc(gs_order_t *order, gs_crew_t *crew, unsigned w) {
  if (crew->wave[w].dirty)
    tick(&crew->wave[w]);
  pthread_mutex_lock(&order->lock);
  uint16_t *left = order->notes[crew->id % GS_CREW_NOTES].left_xcc;
  for (unsigned i = 0; i < crew->waves; i++) {
    const gs_order_wave_t *wave = &crew->wave[i];
    const uint32_t clock = i != w                        ? wave->published
                           : wave->clock == GS_CLOCK_MAX ? done_by(wave)
                                                         : wave->clock;
    if (left[i % GS_NOTE_CLOCKS] < clock)
      left[i % GS_NOTE_CLOCKS] = (uint16_t)clock;
  }
  pthread_mutex_unlock(&order->lock);
}

bool gs_order_has_left_xcc(gs_order_t *order, gs_stamp_t stamp) {
  pthread_mutex_lock(&order->lock);
  const gs_crew_note_t *note = &order->notes[gs_stamp_crew(stamp) % GS_CREW_NOTES];
  const bool has = note->id != gs_stamp_crew(stamp) ||
                   gs_stamp_clock(stamp) < note->left_xcc[gs_stamp_wave(stamp) % GS_NOTE_CLOCKS];
  pthread_mutex_unlock(&order->lock);
  return has;
}

bool gs_order_who(gs_order_t *order, gs_stamp_t stamp, gs_job_t *found, uint64_t *group) {
  pthread_mutex_lock(&order->lock);
  const gs_crew_note_t note = order->notes[gs_stamp_crew(stamp) % GS_CREW_NOTES];
  const gs_job_t *job = note.id == gs_stamp_crew(stamp) ? find_job(order, note.job) : NULL;
  if (job)
    *found = *job;
  *group = note.group;
  pthread_mutex_unlock(&order->lock);
  return job;
}
