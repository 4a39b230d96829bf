/* Each kind of strictness does what it says, and nothing does without it: below the unmodified ROCr.
 * STRICT_KERNELS is the folder of the code objects made from kernels.s and numbers.s. With an argument that
 * names a scenario, runs only that. Not here: that good programs pass with it. */
#include "gfxsim_rocr.h"

#include <hsa/amd_hsa_signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/strict.h"

enum { GROUPS = 8, ITEMS = 64, WORDS = GROUPS * ITEMS, MEMORY_BYTES = 1 << 16 };

static setting_t *setting_make(const machine_t *machine) {
  const char *part = getenv("GFXSIM_DEVICES");
  char path[4096];
  const bool is_906 = part && strncmp(part, "gfx906", 6) == 0, is_900 = part && strcmp(part, "gfx900") == 0;
  snprintf(path, sizeof path, "%s/%s.co", getenv("STRICT_KERNELS"),
           is_906   ? "numbers"
           : is_900 ? "halves"
                    : "kernels");
  return setting_open(machine, path, MEMORY_BYTES);
}

static int finish(const setting_t *s, int status) {
  if (hsa_queue_destroy(s->queue) || hsa_shut_down())
    return status ? status : 90;
  return status;
}

/* ---- poison ---- */

/* What GFXSIM_STRICT says is to be found: a word of it. */
static uint32_t wanted_word(unsigned i) {
  const char *list = getenv("GFXSIM_STRICT");
  if (!list)
    return 0;
  if (strstr(list, "ones"))
    return UINT32_MAX;
  if (strstr(list, "nan"))
    return i % 2 ? 0x7ff40000 : 0x7fa00001;
  return 0xd0bed0be;
}

/* Runs a kernel that stores what it found, and compares: word i with word number first + i * step of poison.
 */
static bool finds(const setting_t *s, const char *kernel, uint32_t lds, unsigned first, unsigned step) {
  packet_t packet = setting_dispatch(s, kernel, GROUPS, ITEMS);
  packet.dispatch.group_segment_size = lds;
  memset(s->shared, 0x55, MEMORY_BYTES);
  if (!setting_runs(s, packet))
    return false;
  for (unsigned i = 0; i < WORDS; i++)
    if (s->shared[i] != wanted_word(first + i * step)) {
      fprintf(stderr, "%s: word %u is 0x%08x and not 0x%08x\n", kernel, i, s->shared[i],
              wanted_word(first + i * step));
      return false;
    }
  return true;
}

static bool finds_scalars(const setting_t *s) {
  if (!setting_runs(s, setting_dispatch(s, "k_scalar", 1, ITEMS)))
    return false;
  return s->shared[0] == wanted_word(9) && s->shared[1] == wanted_word(0) && s->shared[2] == wanted_word(0);
}

/* Device memory of that size at its begin, in its middle and at its end. */
static bool finds_memory(const setting_t *s, size_t bytes) {
  const machine_t *machine = s->machine;
  uint8_t *device = allocate(machine->vram[0], bytes);
  const size_t places[] = {0, bytes / 2 & ~(size_t)4095, bytes - 4096};
  bool right = true;
  for (unsigned i = 0; i < 3; i++) {
    copy(s->shared, machine->cpu, device + places[i], machine->gpu[0], 4096);
    for (unsigned word = 0; word < 1024; word++)
      right &= s->shared[word] == wanted_word(word);
  }
  assert_hsa(hsa_amd_memory_pool_free(device));
  return right;
}

/* In every place the pattern of GFXSIM_STRICT, or, without it, the zeros of a simulator that is kind. */
static int scenario_pattern(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  for (int again = 0; again < 2; again++) {
    if (!finds(s, "k_lds", 256, 0, 1))
      return 1;
    if (!finds(s, "k_vector", 0, 5, 0))
      return 2;
    if (!finds(s, "k_accumulator", 0, 3, 0))
      return 3;
    if (!finds_scalars(s))
      return 4;
    /* Of one wave, a word of each lane side by side. The kind simulator does not clear it either. */
    if (getenv("GFXSIM_STRICT") && !finds(s, "k_scratch", 0, 0, 1))
      return 5;
  }
  if (!finds_memory(s, 3 << 20) || !finds_memory(s, (40 << 20) + 4096))
    return 6;
  return finish(s, 0);
}

/* Whether the shared memory is what it was in the run before of the scenario with this STRICT_COMPARE, a
 * file; or not, if this one has another seed. */
static bool repeats(const setting_t *s, size_t words) {
  const char *file = getenv("STRICT_COMPARE");
  uint32_t before[MEMORY_BYTES / 4];
  FILE *stream = fopen(file, "r");
  bool equal = true;
  if (stream)
    equal = fread(before, 4, words, stream) == words && memcmp(before, s->shared, 4 * words) == 0;
  else if ((stream = fopen(file, "w")))
    equal = fwrite(s->shared, 4, words, stream) == words;
  if (!stream || fclose(stream))
    return false;
  return equal == !getenv("STRICT_OTHER_SEED");
}

/* Other bits in each word, and the same ones in each run with the seed. */
static int scenario_random(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  packet_t packet = setting_dispatch(s, "k_lds", GROUPS, ITEMS);
  packet.dispatch.group_segment_size = 256;
  if (!setting_runs(s, packet))
    return 1;
  unsigned same = 0;
  for (unsigned i = 1; i < WORDS; i++)
    same += s->shared[i] == s->shared[i - 1] || s->shared[i] == 0;
  return finish(s, same > 2 || !repeats(s, WORDS) ? 3 : 0);
}

/* What the groups before left in LDS, and the waves before in their registers. */
static int scenario_leftovers(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  packet_t packet = setting_dispatch(s, "k_lds", GROUPS, ITEMS);
  packet.dispatch.group_segment_size = 256;
  unsigned of_groups = 0, of_waves = 0, other = 0;
  for (int i = 0; i < 20; i++) {
    if (!setting_runs(s, packet))
      return 1;
    for (unsigned word = 0; word < WORDS; word++) {
      const uint32_t found = s->shared[word];
      of_groups += found >= 0x1000 && found < 0x1000 + GROUPS;
      other += found != 0xd0bed0be && !(found >= 0x1000 && found < 0x1000 + GROUPS);
    }
  }
  packet = setting_dispatch(s, "k_vector", GROUPS, 16 * ITEMS); /* all places of a group */
  for (int i = 0; i < 5; i++) {
    if (!setting_runs(s, packet))
      return 2;
    for (unsigned word = 0; word < 16 * WORDS; word++)
      of_waves += s->shared[word] == 0x2000;
  }
  return finish(s, of_groups < WORDS || of_waves < WORDS || other ? 3 : 0);
}

/* The second and third number of a work-item are for kernels that ask for them.
 */
static int scenario_numbers(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  if (!setting_runs(s, setting_dispatch(s, "k_numbers", 1, ITEMS)))
    return 1;
  for (unsigned i = 0; i < 2 * ITEMS; i++)
    if (s->shared[i] != wanted_word(1 + i % 2))
      return 2;
  return finish(s, 0);
}

/* ---- order ---- */

enum { NO_BARRIER = (uint16_t) ~(1 << HSA_PACKET_HEADER_BARRIER) };

/* How long to wait for what shall happen, on whatever machine, and for what shall not. */
enum { SURELY_MS = 30000, HARDLY_MS = 300 };

/* A kernel that waits for the one behind it, with or without a barrier bit: whether it comes to its end. */
static bool waits_for_the_next(const setting_t *s, bool barrier, int most_ms) {
  hsa_signal_t done = signal_create(1);
  packet_t first = setting_dispatch(s, "k_wait", 1, ITEMS), second = setting_dispatch(s, "k_go", 1, ITEMS);
  first.dispatch.completion_signal = done;
  if (!barrier)
    second.any.header &= NO_BARRIER;
  memset(s->shared, 0, 8);
  submit(s->queue, &first);
  submit(s->queue, &second);
  bool alone = false;
  for (int waited = 0; waited < most_ms && !alone; waited++) {
    alone = hsa_signal_load_scacquire(done) == 0;
    sleep_ms(1);
  }
  __atomic_store_n(s->shared, 1, __ATOMIC_RELEASE);
  return signal_reached_zero(done) && alone && s->shared[1] == 42;
}

static int scenario_overlap(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  for (int i = 0; i < 20; i++)
    if (!waits_for_the_next(s, false, SURELY_MS))
      return 1;
  return finish(s, waits_for_the_next(s, true, HARDLY_MS) ? 2 : 0);
}

/* One after the other, as without strictness. */
static int scenario_no_overlap(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  return finish(s, waits_for_the_next(s, false, HARDLY_MS) ? 1 : 0);
}

static amd_signal_t *signal_of(hsa_signal_t signal) {
  return (amd_signal_t *)(uintptr_t)signal.handle;
}

/* Of 150 pairs of kernels. */
typedef struct pairs {
  unsigned swapped; /* the second ended before the first began */
  unsigned side_by_side;
} pairs_t;

static pairs_t count_pairs(const setting_t *s, bool barrier) {
  pairs_t pairs = {0};
  packet_t packet = setting_dispatch(s, "k_go", 64, ITEMS);
  for (int i = 0; i < 150; i++) {
    hsa_signal_t first = signal_create(1), second = signal_create(1);
    packet_t other = packet;
    packet.dispatch.completion_signal = first;
    other.dispatch.completion_signal = second;
    if (!barrier)
      other.any.header &= NO_BARRIER;
    submit(s->queue, &packet);
    submit(s->queue, &other);
    signal_reached_zero(second);
    signal_reached_zero(first);
    const bool is_swapped = signal_of(second)->end_ts < signal_of(first)->start_ts;
    pairs.swapped += is_swapped;
    pairs.side_by_side += !is_swapped && signal_of(second)->start_ts < signal_of(first)->end_ts;
    hsa_signal_destroy(first);
    hsa_signal_destroy(second);
  }
  return pairs;
}

/* Where chance alone decides about the order, no two kernels run side by side. */
static int scenario_swap(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const pairs_t pairs = count_pairs(s, false);
  if (!pairs.swapped || pairs.swapped == 150)
    return finish(s, pairs.swapped ? 2 : 1);
  if (!pairs.side_by_side != (getenv("GFXSIM_DETERMINISTIC") != NULL))
    return finish(s, 4);
  return finish(s, count_pairs(s, true).swapped ? 3 : 0);
}

static int scenario_no_swap(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  return finish(s, count_pairs(s, false).swapped ? 1 : 0);
}

static uint64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* 300 packets, each looked at and completed late by 40 us on average, take 24 ms instead of less than one. */
static int scenario_late(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  packet_t packet = {.barrier.header = header_of(HSA_PACKET_TYPE_BARRIER_AND)};
  hsa_signal_t done = signal_create(300);
  packet.barrier.completion_signal = done;
  const uint64_t start = now_us();
  for (int i = 0; i < 300; i++)
    submit(s->queue, &packet);
  const bool ended = signal_reached_zero(done);
  return finish(s, ended && now_us() - start > 8000 ? 0 : 1);
}

/* What a copy's destination shows before its signal. */
typedef struct seen {
  unsigned garbage, last_first; /* neither old nor new; the last byte arrived before the first */
} seen_t;

/* Watches so many copies, and more until both were seen, if `surely`. */
static seen_t watch_copies(const setting_t *s, bool surely) {
  enum { BYTES = 1 << 20, OLD = 0x22, NEW = 0x11 };
  const machine_t *machine = s->machine;
  volatile uint8_t *to = allocate(machine->fine, BYTES);
  uint8_t *from = allocate(machine->vram[0], BYTES);
  assert_hsa(hsa_amd_agents_allow_access(1, machine->gpu, NULL, (void *)(uintptr_t)to));
  assert_hsa(hsa_amd_memory_fill(from, 0x11111111, BYTES / 4));
  seen_t seen = {0};
  for (int i = 0; i < (surely && !(seen.garbage && seen.last_first) ? 6000 : 60); i++) {
    hsa_signal_t done = signal_create(1);
    memset((void *)(uintptr_t)to, OLD, BYTES);
    assert_hsa(hsa_amd_memory_async_copy((void *)(uintptr_t)to, machine->cpu, from, machine->gpu[0], BYTES, 0,
                                         NULL, done));
    while (hsa_signal_load_scacquire(done)) {
      const uint8_t last = to[BYTES - 1], first = to[0];
      seen.garbage += (last != OLD && last != NEW) || (first != OLD && first != NEW);
      seen.last_first += last == NEW && first != NEW;
    }
    for (size_t at = 0; at < BYTES; at++)
      assert_int_equal(to[at], NEW);
    hsa_signal_destroy(done);
  }
  return seen;
}

static int scenario_copies(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const seen_t seen = watch_copies(s, true);
  return finish(s, seen.garbage == 0 ? 1 : seen.last_first == 0 ? 2 : 0);
}

static int scenario_copies_in_order(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  return finish(s, watch_copies(s, false).garbage ? 1 : 0);
}

/* Which comes first, the signal or the read index. */
typedef struct first {
  unsigned signal, index, mailbox_late;
} first_t;

static first_t watch_ends(const setting_t *s, packet_t packet) {
  first_t first = {0};
  for (uint64_t i = 0; i < 200; i++) {
    hsa_signal_t done = signal_create(1);
    const uint64_t before = hsa_queue_load_read_index_scacquire(s->queue);
    uint64_t *mailbox = (uint64_t *)(uintptr_t)signal_of(done)->event_mailbox_ptr;
    if (mailbox)
      __atomic_store_n(mailbox, 0, __ATOMIC_SEQ_CST);
    packet.barrier.completion_signal = done;
    submit(s->queue, &packet);
    uint64_t index = before;
    hsa_signal_value_t value = 1;
    while (value && index == before) {
      value = hsa_signal_load_scacquire(done); /* first: so an index that moved first is seen, too */
      index = hsa_queue_load_read_index_scacquire(s->queue);
    }
    first.signal += index == before;
    first.index += value != 0;
    signal_reached_zero(done);
    const uint64_t end = now_us();
    while (mailbox && !__atomic_load_n(mailbox, __ATOMIC_ACQUIRE)) {
    }
    first.mailbox_late += now_us() - end > 20;
    while (hsa_queue_load_read_index_scacquire(s->queue) == before) {
    }
    hsa_signal_destroy(done);
  }
  return first;
}

/* Each of them comes first now and then; who looks seldom, on a busy machine, does not see it each time. */
static bool ends_both_ways(const setting_t *s, packet_t packet) {
  first_t seen = {0};
  for (int i = 0; i < 20 && (seen.signal < 10 || seen.index < 10); i++) {
    const first_t first = watch_ends(s, packet);
    seen.signal += first.signal;
    seen.index += first.index;
  }
  return seen.signal >= 10 && seen.index >= 10;
}

static int scenario_index(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  if (!ends_both_ways(s, (packet_t){.barrier.header = header_of(HSA_PACKET_TYPE_BARRIER_AND)}))
    return 1;
  return finish(s, ends_both_ways(s, setting_dispatch(s, "k_go", 1, ITEMS)) ? 0 : 2);
}

static int scenario_index_first(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const first_t first = watch_ends(s, setting_dispatch(s, "k_go", 1, ITEMS));
  return finish(s, first.signal ? 1 : 0);
}

static int scenario_events(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const first_t first = watch_ends(s, setting_dispatch(s, "k_go", 1, ITEMS));
  return finish(s, first.mailbox_late < 20 ? 1 : 0);
}

/* ---- schedule ---- */

enum { TURNS = 8, WAVES = 4, MANY_GROUPS = 64, ALL_TURNS = TURNS * WAVES * MANY_GROUPS };

/* What was unusual about the turns that waves took. */
typedef struct turns {
  unsigned waves;   /* not wave 0, 1, 2, 3, 0, 1, ... of a group */
  unsigned begins;  /* groups that began in another order than that of their numbers */
  unsigned mixed;   /* turns between two turns of another group */
  unsigned starved; /* most turns of other waves of a group between two of one */
} turns_t;

static bool watch_turns(const setting_t *s, turns_t *turns) {
  static unsigned last_turn[MANY_GROUPS * 16];
  unsigned count[MANY_GROUPS] = {0}, done[MANY_GROUPS * 16] = {0}, begun = 0, previous = 0;
  memset(s->shared, 0, MEMORY_BYTES);
  *turns = (turns_t){0};
  if (!setting_runs(s, setting_dispatch(s, "k_turns", MANY_GROUPS, WAVES * ITEMS)) ||
      s->shared[0] != ALL_TURNS)
    return false;
  for (unsigned i = 0; i < ALL_TURNS; i++) {
    const unsigned place = s->shared[1 + i], group = place / 16, wave = place % 16;
    if (group >= MANY_GROUPS || wave >= WAVES || ++done[place] > TURNS)
      return false;
    turns->waves += wave != count[group] % WAVES;
    turns->begins += !count[group] && group != begun;
    begun += !count[group];
    turns->mixed += i && count[group] && group != previous;
    if (done[place] > 1 && count[group] - last_turn[place] > turns->starved)
      turns->starved = count[group] - last_turn[place];
    last_turn[place] = count[group]++;
    previous = group;
  }
  return true;
}

/* With one kind, nothing but what it is about is unusual. */
static int scenario_schedule(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const char *list = getenv("GFXSIM_STRICT") ? getenv("GFXSIM_STRICT") : "";
  turns_t turns;
  if (!watch_turns(s, &turns))
    return 1;
  if ((turns.waves != 0) != (strstr(list, "waves") || strstr(list, "starve")))
    return 2;
  if ((turns.begins != 0) != (strstr(list, "groups") != NULL))
    return 3;
  if ((turns.mixed != 0) != (strstr(list, "preempt") != NULL))
    return 4;
  if (strstr(list, "starve") && turns.starved < 2 * WAVES)
    return 5;
  return finish(s, getenv("STRICT_COMPARE") && !repeats(s, 1 + ALL_TURNS) ? 6 : 0);
}

/* ---- links ---- */

static hsa_status_t count_processors(hsa_agent_t agent, void *data) {
  hsa_device_type_t type;
  assert_hsa(hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type));
  *(unsigned *)data += type == HSA_DEVICE_TYPE_CPU;
  return HSA_STATUS_SUCCESS;
}

/* Whether the host can read the device's memory. */
static bool is_visible(hsa_amd_memory_pool_t pool) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const ssize_t written = write(ends[1], allocate(pool, 4096), 1);
  close(ends[0]);
  close(ends[1]);
  return written == 1;
}

static hsa_amd_memory_pool_link_info_t link_to(hsa_agent_t agent, hsa_amd_memory_pool_t pool) {
  hsa_amd_memory_pool_link_info_t link[4] = {{0}};
  uint32_t hops = 0;
  assert_hsa(
      hsa_amd_agent_memory_pool_get_info(agent, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_NUM_LINK_HOPS, &hops));
  assert_in_range(hops, 1, 4);
  assert_hsa(hsa_amd_agent_memory_pool_get_info(agent, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_LINK_INFO, link));
  return link[0];
}

static bool copies_arrive(const machine_t *machine) {
  enum { BYTES = 100001 };
  uint8_t *host = allocate(machine->fine, 2 * BYTES), *a = allocate(machine->vram[0], BYTES),
          *b = allocate(machine->vram[1], BYTES);
  assert_hsa(hsa_amd_agents_allow_access(2, machine->gpu, NULL, host));
  assert_hsa(hsa_amd_agents_allow_access(2, machine->gpu, NULL, a));
  assert_hsa(hsa_amd_agents_allow_access(2, machine->gpu, NULL, b));
  fill_pattern(host, BYTES, 9);
  copy(a, machine->gpu[0], host, machine->cpu, BYTES);
  copy(b, machine->gpu[1], a, machine->gpu[0], BYTES);
  copy(host + BYTES, machine->cpu, b, machine->gpu[1], BYTES);
  return memcmp(host, host + BYTES, BYTES) == 0;
}

/* Of two gfx90a and a gfx906, the machine that the list of words describes and no other. */
static int scenario_links(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const char *list = getenv("GFXSIM_STRICT") ? getenv("GFXSIM_STRICT") : "";
  unsigned processors = 0;
  assert_hsa(hsa_iterate_agents(count_processors, &processors));
  if (machine->gpus != 3 || processors != (strstr(list, "numa") ? 2U : 1U))
    return 1;
  if (is_visible(machine->vram[0]) || is_visible(machine->vram[2]) ||
      is_visible(machine->vram[1]) != (strstr(list, "memory") != NULL))
    return 2;
  const hsa_amd_memory_pool_link_info_t host = link_to(machine->gpu[0], machine->fine),
                                        peer = link_to(machine->gpu[0], machine->vram[1]),
                                        other = link_to(machine->gpu[0], machine->vram[2]);
  if (host.link_type != HSA_AMD_LINK_INFO_TYPE_PCIE || other.link_type != HSA_AMD_LINK_INFO_TYPE_PCIE ||
      (peer.link_type == HSA_AMD_LINK_INFO_TYPE_XGMI) != (strstr(list, "hive") != NULL))
    return 3;
  if (host.atomic_support_64bit != !strstr(list, "atomics"))
    return 4;
  return finish(s, copies_arrive(machine) ? 0 : 5);
}

/* Two queues are busy for ever: the third one has to wait, but not for ever. */
static int scenario_queues(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  queue_error_t error = {0};
  hsa_queue_t *second = queue_create(machine, 64, &error), *third = queue_create(machine, 64, &error);
  const packet_t wait = setting_dispatch(s, "k_wait", 1, ITEMS);
  packet_t packet = {.barrier.header = header_of(HSA_PACKET_TYPE_BARRIER_AND)};
  packet.barrier.completion_signal = signal_create(1);
  submit(s->queue, &wait);
  submit(second, &wait);
  if (!word_becomes(&s->shared[2], 2))
    return 3;
  const uint64_t start = now_us();
  submit(third, &packet);
  const bool ended = signal_reached_zero(packet.barrier.completion_signal);
  const bool waited = now_us() - start >= 4000;
  __atomic_store_n(s->shared, 1, __ATOMIC_RELEASE);
  return !ended ? 1 : waited != (getenv("GFXSIM_STRICT") != NULL) ? 2 : 0;
}

/* ---- driver ---- */

/* What does not stop at an eviction has many times in one. What stops has few: what was under way when
 * it began, and what came between a queue's look for work and its look at the driver. */
enum { MOST_IN_EVICTION = 4 };

typedef struct evictions {
  uint64_t first, last, end; /* of all times, and the end of the eviction in which the last one lay, in ns */
  unsigned inside, most;     /* how many of them lie in that eviction, and in any one */
} evictions_t;

static void add_times(evictions_t *evictions, const uint64_t *ticks, size_t count) {
  enum { SEED = 1, NS_PER_TICK = 10 };
  for (size_t i = 0; i < count; i++) {
    const uint64_t end = gs_eviction_end(SEED, evictions->last = ticks[i] * NS_PER_TICK);
    if (!evictions->first)
      evictions->first = evictions->last;
    evictions->inside = end && end == evictions->end ? evictions->inside + 1 : end != 0;
    evictions->end = end;
    if (evictions->most < evictions->inside)
      evictions->most = evictions->inside;
  }
}

/* Whether it went on during an eviction; to be asked until it did, or for so long that it does not. Of what
 * is said nothing depends on how often this process runs. */
static bool wants_more_times(const evictions_t *evictions) {
  const uint64_t most_ns = getenv("GFXSIM_STRICT") ? UINT64_C(1500000000) : UINT64_C(60000000000);
  return evictions->most <= MOST_IN_EVICTION && evictions->last - evictions->first < most_ns;
}

/* The times at which packets end. */
static unsigned watch_packets(const setting_t *s) {
  evictions_t evictions = {0};
  packet_t packet = {.barrier.header = header_of(HSA_PACKET_TYPE_BARRIER_AND)};
  hsa_signal_t done = signal_create(1);
  packet.barrier.completion_signal = done;
  while (wants_more_times(&evictions)) {
    hsa_signal_store_screlease(done, 1);
    submit(s->queue, &packet);
    while (hsa_signal_load_scacquire(done)) {
    }
    const uint64_t end = signal_of(done)->end_ts;
    add_times(&evictions, &end, 1);
  }
  return evictions.most;
}

/* The times at which kernels are in the middle of something. */
static unsigned watch_kernels(const setting_t *s) {
  enum { TIMES = 30000 };
  evictions_t evictions = {0};
  uint64_t *times = allocate(s->machine->fine, TIMES * 8);
  assert_hsa(hsa_amd_agents_allow_access(1, s->machine->gpu, NULL, times));
  const packet_t packet = dispatch_of(s->machine, s->kernels, "k_times", (uintptr_t)times);
  while (wants_more_times(&evictions)) {
    assert_true(setting_runs(s, packet));
    add_times(&evictions, times, TIMES);
  }
  return evictions.most;
}

/* Nothing goes on during evictions, and without strictness everything. */
static int scenario_evictions(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const unsigned of_packets = watch_packets(s), of_kernels = watch_kernels(s);
  const bool strict = getenv("GFXSIM_STRICT") != NULL;
  fprintf(stderr, "during one eviction: %u of kernels' times, %u of packets' ends\n", of_kernels, of_packets);
  return finish(s, (of_packets <= MOST_IN_EVICTION) != strict   ? 1
                   : (of_kernels <= MOST_IN_EVICTION) != strict ? 2
                                                                : 0);
}

static _Atomic uint64_t fault_address;
static _Atomic int faults;

static hsa_status_t on_fault(const hsa_amd_event_t *event, void *data) {
  (void)data;
  fault_address = event->memory_fault.virtual_address;
  faults++;
  return HSA_STATUS_SUCCESS;
}

/* A copy to nowhere on each of two GPUs. */
static int scenario_faults(const machine_t *machine) {
  const bool strict = getenv("GFXSIM_STRICT") != NULL;
  uint8_t *own = allocate(machine->vram[0], 1 << 21), *other = allocate(machine->vram[1], 1 << 21);
  assert_hsa(hsa_amd_register_system_event_handler(on_fault, NULL));
  const uint64_t start = now_us();
  /* The engine of GPU 0 has no access to the other's memory, and the other way round. */
  assert_hsa(hsa_amd_memory_async_copy(own + 24, machine->gpu[0], other + 24, machine->gpu[1], 64, 0, NULL,
                                       signal_create(1)));
  while (!faults && now_us() - start < 5000000) {
  }
  const uint64_t late = now_us() - start, page = fault_address & ~UINT64_C(4095);
  fprintf(stderr, "told of 0x%llx after %llu us\n", (unsigned long long)fault_address,
          (unsigned long long)late);
  if (faults != 1 || (strict && (late < 5000 || fault_address != page)))
    return 1;
  if (!strict && fault_address == page)
    return 3;
  return page == (uintptr_t)other || page == (uintptr_t)own ? 0 : 2;
}

/* ---- wait ---- */

/* What a kernel leaves in words 1 to 3 of the shared memory, of which words 0 and 3 hold these. */
static bool leaves(const setting_t *s, const char *kernel, const uint32_t *wanted, unsigned words) {
  s->shared[0] = 0x33334444;
  s->shared[3] = 0x55556666;
  const bool right = setting_runs(s, setting_dispatch(s, kernel, 1, 1)) &&
                     memcmp(&s->shared[1], wanted, words * sizeof *wanted) == 0;
  for (unsigned i = 0; !right && i < words; i++)
    fprintf(stderr, "%s: word %u is 0x%08x, expected 0x%08x\n", kernel, i + 1, s->shared[i + 1], wanted[i]);
  return right;
}

/* Registers get what was loaded when that was waited for, half by half, or whole where a load of one half
 * clears the other; or behind what else is written. */
/* What k_halves finds before and after it waits, by whether 16-bit loads clear the other half of their
 * register there, and by what is in registers until then. */
static const struct {
  bool clears;
  const char *before; /* "": what is loaded, at once */
  uint32_t halves[3];
} waits[] = {
    {false, "poison", {0xd0bed0be, 0xd0be4444, 0x33334444}},
    {true, "poison", {0xd0bed0be, 0x00004444, 0x33330000}},
    {false, "old", {0x11112222, 0x11114444, 0x33334444}},
    {true, "old", {0x11112222, 0x00004444, 0x33330000}},
    {false, "", {0x33334444, 0x33334444, 0x33334444}},
    {true, "", {0x33330000, 0x33330000, 0x33330000}},
};

static const uint32_t *halves_expected(const char *list, bool clears) {
  size_t row = 0;
  while (waits[row].clears != clears || !strstr(list, waits[row].before))
    row++;
  return waits[row].halves;
}

static int scenario_wait(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  const char *list = getenv("GFXSIM_STRICT");
  static const uint32_t now = 0x33334444, write_last[] = {7, 7}, load_last[] = {0x33334444, 0x33334444};
  const bool clears = !strstr(getenv("GFXSIM_DEVICES"), "gfx900");
  return finish(s, !leaves(s, "k_halves", halves_expected(list ? list : "", clears), 3) ||
                       !leaves(s, "k_overwritten", list ? load_last : write_last, 2) ||
                       !leaves(s, "k_flat", &now, 1));
}

static const scenario_t scenarios[] = {
    {"kind", scenario_pattern, NULL, 0},
    {"d0bed0be", scenario_pattern, "GFXSIM_STRICT=poison:d0bed0be", 0},
    {"ones", scenario_pattern, "GFXSIM_STRICT=poison:ones", 0},
    {"nan", scenario_pattern, "GFXSIM_STRICT=poison:nan", 0},
    {"numbers", scenario_numbers, "GFXSIM_DEVICES=gfx906 GFXSIM_STRICT=poison:nan", 0},
    {"random", scenario_random, "GFXSIM_STRICT=poison:random STRICT_COMPARE=random.words", 0},
    {"random_again", scenario_random, "GFXSIM_STRICT=poison:random STRICT_COMPARE=random.words", 0},
    {"random_otherwise", scenario_random,
     "GFXSIM_STRICT=poison:random GFXSIM_STRICT_SEED=2 STRICT_OTHER_SEED=1 STRICT_COMPARE=random.words", 0},
    {"leftovers", scenario_leftovers, "GFXSIM_STRICT=poison:leftovers", 0},
    {"overlap", scenario_overlap, "GFXSIM_STRICT=order:overlap", 0},
    {"overlap_deterministic", scenario_overlap, "GFXSIM_STRICT=order:overlap GFXSIM_DETERMINISTIC=1", 0},
    {"no_overlap", scenario_no_overlap, NULL, 0},
    {"swap", scenario_swap, "GFXSIM_STRICT=order:overlap", 0},
    {"swap_deterministic", scenario_swap, "GFXSIM_STRICT=order:overlap GFXSIM_DETERMINISTIC=1", 0},
    {"no_swap", scenario_no_swap, NULL, 0},
    {"late", scenario_late, "GFXSIM_STRICT=order:late", 0},
    {"copies", scenario_copies, "GFXSIM_STRICT=order:copies", 0},
    {"copies_in_order", scenario_copies_in_order, NULL, 0},
    {"index", scenario_index, "GFXSIM_STRICT=order:index", 0},
    {"index_with_overlap", scenario_index, "GFXSIM_STRICT=order:index,order:overlap", 0},
    {"index_first", scenario_index_first, NULL, 0},
    {"links", scenario_links, "GFXSIM_DEVICES=gfx90a,gfx90a,gfx906", 0},
    {"atomics", scenario_links, "GFXSIM_DEVICES=gfx90a,gfx90a,gfx906 GFXSIM_STRICT=links:atomics", 0},
    {"numa", scenario_links, "GFXSIM_DEVICES=gfx90a,gfx90a,gfx906 GFXSIM_STRICT=links:numa", 0},
    {"hive", scenario_links, "GFXSIM_DEVICES=gfx90a,gfx90a,gfx906 GFXSIM_STRICT=links:hive", 0},
    {"memory", scenario_links, "GFXSIM_DEVICES=gfx90a,gfx90a,gfx906 GFXSIM_STRICT=links:memory", 0},
    {"queues", scenario_queues, "GFXSIM_STRICT=links:queues", 0},
    {"evict", scenario_evictions, "GFXSIM_STRICT=driver:evict", 0},
    {"no_eviction", scenario_evictions, NULL, 0},
    {"faults", scenario_faults, "GFXSIM_DEVICES=gfx90a,gfx90a GFXSIM_STRICT=driver:faults", 0},
    {"exact_faults", scenario_faults, "GFXSIM_DEVICES=gfx90a,gfx90a", 0},
    {"schedule", scenario_schedule, "GFXSIM_DETERMINISTIC=1", 0},
    {"waves", scenario_schedule, "GFXSIM_DETERMINISTIC=1 GFXSIM_STRICT=schedule:waves", 0},
    {"groups", scenario_schedule, "GFXSIM_DETERMINISTIC=1 GFXSIM_STRICT=schedule:groups", 0},
    {"starve", scenario_schedule, "GFXSIM_DETERMINISTIC=1 GFXSIM_STRICT=schedule:starve", 0},
    {"preempt", scenario_schedule, "GFXSIM_DETERMINISTIC=1 GFXSIM_STRICT=schedule:preempt", 0},
    {"all_of_schedule", scenario_schedule,
     "GFXSIM_DETERMINISTIC=1 STRICT_COMPARE=turns.words "
     "GFXSIM_STRICT=schedule:waves,schedule:groups,schedule:starve,schedule:preempt",
     0},
    {"all_of_schedule_again", scenario_schedule,
     "GFXSIM_DETERMINISTIC=1 STRICT_COMPARE=turns.words "
     "GFXSIM_STRICT=schedule:waves,schedule:groups,schedule:starve,schedule:preempt",
     0},
    {"all_of_schedule_otherwise", scenario_schedule,
     "GFXSIM_DETERMINISTIC=1 STRICT_COMPARE=turns.words STRICT_OTHER_SEED=1 GFXSIM_STRICT_SEED=2 "
     "GFXSIM_STRICT=schedule:waves,schedule:groups,schedule:starve,schedule:preempt",
     0},
    {"events", scenario_events, "GFXSIM_STRICT=order:events", 0},
    {"waited", scenario_wait, "GFXSIM_DEVICES=gfx900", 0},
    {"wait_old", scenario_wait, "GFXSIM_DEVICES=gfx900 GFXSIM_STRICT=wait:old", 0},
    {"wait_poison", scenario_wait, "GFXSIM_DEVICES=gfx900 GFXSIM_STRICT=wait:poison", 0},
    {"waited_cleared", scenario_wait, "GFXSIM_DEVICES=gfx90a", 0},
    {"wait_old_cleared", scenario_wait, "GFXSIM_DEVICES=gfx90a GFXSIM_STRICT=wait:old", 0},
    {"wait_poison_cleared", scenario_wait, "GFXSIM_DEVICES=gfx90a GFXSIM_STRICT=wait:poison", 0},
};

enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

int main(int argc, char **argv) {
  if (argc == 2)
    return scenario_run(scenarios, SCENARIOS, argv[1]);
  remove("random.words");
  remove("turns.words");
  return scenario_run_all("strict", scenarios, SCENARIOS) != 0;
}
