/* Running the waves of a workgroup: fetch, execute, take turns, meet at barriers.
 * Not here: which workgroup runs where (device.c), and what instructions do (isa/). */
#include <time.h>

#include "base/clock.h"
#include "exec/guard.h"
#include "exec/internal.h"
#include "isa/lanes.h"

enum {
  /* Instructions that a wave executes before others get a turn and the address space is looked at anew:
   * gs_vm_unmap waits that long at most. Where turns are exact, what is left of one behind the last whole
   * block is interpreted, which costs as much as some hundred instructions in blocks. */
  SLICE = 4096,
  PASSES_PER_SHORT_TURN = 8,
  PASSES_BESIDE_SLEEPER = 1,
  /* Passes in which every wave only yielded or waited, after which the group is taken to wait for somebody
     else. */
  IDLE_PASSES = 32,
  /* Every instruction that accesses memory has this size on gfx9. */
  MEMORY_INSTRUCTION_BYTES = 8,
};

/* Who sees the instructions that are interpreted. */
typedef enum seen {
  SEEN_BY_NOBODY,
  SEEN,              /* by those who want to see each */
  SEEN_UP_TO_BLOCKS, /* likewise; behind one that is to be seen there may be a block that is not */
} seen_t;

static void forget_lines(gs_executor_t *ex) {
  ex->line = NULL;
  memset(ex->recent, 0, sizeof ex->recent);
}

/* Moves on to this snapshot of the address space and the decoded code that belongs to it, of which there is
 * none without host memory. */
static __attribute__((noinline)) void move_on(gs_executor_t *ex, const gs_vm_map_t *map) {
  ex->map = map;
  const unsigned width = gs_width_of(ex->target);
  gs_code_t **const code = &ex->code[width];
  if (*code && gs_code_epoch(*code) == map->code_epoch)
    return;
  gs_device_t *device = ex->device;
  gs_code_t **const shared = &device->code[width];
  gs_code_release(*code);
  pthread_mutex_lock(&device->lock);
  if (!*shared || gs_code_epoch(*shared) != map->code_epoch) {
    gs_code_release(*shared);
    *shared = gs_code_create(ex->target, &device->handlers[width], map->code_epoch, device->hot != 0);
  }
  *code = *shared ? gs_code_acquire(*shared) : NULL;
  pthread_mutex_unlock(&device->lock);
  forget_lines(ex);
}

/* Moves on to the newest snapshot, which it mostly is. */
static inline void refresh(gs_executor_t *ex) {
  const gs_vm_map_t *map = gs_vm_reader_enter(&ex->vm);
  if (GS_UNLIKELY(map != ex->map))
    move_on(ex, map);
}

const gs_code_line_t *gs_executor_line(const gs_executor_t *ex, uint64_t address) {
  const gs_device_t *device = ex->device;
  const unsigned width = gs_width_of(ex->target);
  const gs_code_line_t *line = ex->code[width] ? gs_code_line(ex->code[width], ex->map, address) : NULL;
  if (GS_LIKELY(line))
    return line;
  /* Nothing executable, or no host memory to keep it: then every line is decoded whenever it is entered. */
  return gs_code_decode(ex->target, &device->handlers[width], ex->map, address, ex->own_line) ? ex->own_line
                                                                                              : NULL;
}

static inline const gs_code_line_t **recent_line(gs_executor_t *ex, uint64_t address) {
  return &ex->recent[address / GS_LINE_BYTES % GS_RECENT_LINES];
}

/* The line of the wave's next instruction, where the line in hand is another one; NULL after faulting the
 * wave. */
static __attribute__((noinline)) const gs_code_line_t *change_line(gs_executor_t *ex, gs_wave_t *w) {
  const gs_code_line_t *line = gs_executor_line(ex, w->pc);
  if (GS_LIKELY(line != NULL))
    ex->line = line;
  else
    gs_wave_fault(w, GS_WAVE_FAULT_MEMORY, w->pc, GS_VM_EXECUTE, GS_MAX_LANES);
  if (line && line->cells) /* it is none that is decoded whenever it is entered */
    *recent_line(ex, w->pc) = line;
  return line;
}

/* Finds the wave's next instruction, or faults the wave. */
static inline const gs_inst_t *locate(gs_executor_t *ex, gs_wave_t *w) {
  const gs_code_line_t *line = ex->line;
  if (!line || w->pc - line->base >= GS_LINE_BYTES)
    line = change_line(ex, w);
  return line ? &line->inst[(w->pc - line->base) / 4] : NULL;
}

/* What who watches has made of an instruction of the line in hand when it was decoded, or NULL. */
static const void *digest_of(const gs_executor_t *ex, const gs_inst_t *in) {
  const gs_code_line_t *line = ex->line;
  return line->digests ? line->digests + (size_t)(in - line->inst) * ex->device->ops.watch->digest_bytes
                       : NULL;
}

/* Executes an instruction under the eyes of those who want to see it. `in` is what `decoded` is with the
 * wave's modes. */
static void observe(gs_executor_t *ex, gs_wave_t *w, const gs_inst_t *in, const gs_inst_t *decoded) {
  const gs_watch_t *watch = w->env->watch;
  if (ex->device->options.stats && !w->repeats)
    gs_counters_see(&ex->counters, w, in);
  if (ex->device->trace)
    gs_trace_line(ex->device->trace, ex->place, w, in);
  if (watch && watch->execute)
    watch->execute(w, in, in == decoded ? digest_of(ex, in) : NULL);
  else
    in->fn(w, in);
}

/* Whether the instruction is to be seen, whatever the wave waits for. */
static bool must_be_seen(const gs_executor_t *ex, const gs_inst_t *in) {
  const char *digest = digest_of(ex, in);
  return !digest || *digest == GS_PASSES_NOT;
}

/* Whether a block may begin behind the instruction, and not have begun before it. */
static bool ends_run(const gs_executor_t *ex, const gs_inst_t *in, const gs_inst_t *next) {
  const bool is_last = next >= ex->line->inst + GS_LINE_SLOTS;
  return must_be_seen(ex, in) && (is_last || !must_be_seen(ex, next));
}

/* Executes instructions from `in` on, which is at the program counter, at most `left`, until the wave does
 * anything but run straight on in its line, or to where a block may begin. Returns how many are left then, 0
 * when the wave has stopped. The next instruction is known by its place in the line before this one executes;
 * the program counter is only looked at to see whether it went elsewhere. */
static inline __attribute__((always_inline)) unsigned
run_straight(gs_executor_t *ex, gs_wave_t *w, const gs_inst_t *in, seen_t seen, unsigned left) {
  const gs_inst_t *const end = ex->line->inst + GS_LINE_SLOTS;
  uint64_t pc = w->pc;
  do {
    const gs_inst_t *const next = in + in->size / 4;
    const gs_inst_t *doing = in;
    gs_inst_t changed;
    pc += in->size;
    w->pc = pc;
    if (GS_UNLIKELY(w->mode & GS_MODE_CHANGES))
      doing = gs_mode_apply(w, in, &changed);
    if (seen)
      observe(ex, w, doing, in);
    else
      doing->fn(w, doing);
    if (GS_UNLIKELY(w->state != GS_WAVE_RUNNING)) {
      if (w->state == GS_WAVE_FAULTED)
        w->pc -= in->size; /* reports want the address of the instruction that failed */
      return 0;
    }
    left--;
    if (seen == SEEN_UP_TO_BLOCKS && ends_run(ex, in, next))
      break;
    in = next;
  } while (left && GS_LIKELY(w->pc == pc && in < end));
  return left;
}

/* Executes up to `slice` instructions of one wave, until it stops. */
static inline __attribute__((always_inline)) void run_slice(gs_executor_t *ex, gs_wave_t *w, seen_t seen,
                                                            unsigned slice) {
  const gs_inst_t *in;
  while (slice && (in = locate(ex, w)))
    slice = run_straight(ex, w, in, seen, slice);
}

/* ---- Translated code ---- */

/* The block at the program counter, if it has been met often enough; NULL where the interpreter is to go on.
 * Where it has more instructions than are left of the turn, the turn ends, so that the next one begins with
 * it. Where turns are exact they end anywhere, and `resumes` says that one begins there: places like that do
 * not count, as in the end there would be blocks from everywhere. */
static gs_block_fn_t *block_at(gs_executor_t *ex, gs_wave_t *w, bool resumes) {
  const gs_code_line_t *line = ex->line;
  gs_code_cells_t *cells = line->cells;
  if (!cells || !gs_block_can_run(w))
    return NULL;
  const size_t slot = (w->pc - line->base) / 4;
  gs_block_fn_t *block = atomic_load_explicit(&cells->block[slot], memory_order_acquire);
  if (block == gs_block_missing) {
    const uint8_t heat = atomic_load_explicit(&cells->heat[slot], memory_order_relaxed);
    if (heat == GS_HEAT_NEVER || (resumes && ex->device->hot > 1))
      return NULL;
    if (heat + 1u < ex->device->hot) {
      atomic_store_explicit(&cells->heat[slot], (uint8_t)(heat + 1), memory_order_relaxed);
      return NULL;
    }
    block = gs_code_block(ex->code[gs_width_of(ex->target)], ex->map, line, slot);
  }
  if (!block || GS_LIKELY(cells->count[slot] <= w->left))
    return block;
  if (!ex->device->exact_turns)
    w->left = 0;
  return NULL;
}

/* In gs_wave_t.left between turns: the last one ended anywhere. */
#define RAN_OUT UINT32_MAX

/* Begins a turn. Returns whether it resumes where one ran out. */
static inline bool begin_slice(gs_wave_t *w, unsigned slice) {
  const bool resumes = w->left == RAN_OUT;
  w->left = slice;
  w->unfenced = true;
  w->turns = NULL;
  return resumes;
}
static inline void end_slice(const gs_executor_t *ex, gs_wave_t *w) {
  if (ex->device->exact_turns && w->left == 0)
    w->left = RAN_OUT;
}

/* What is left of a wave's turn, with blocks where there are some. */
static void go_on(gs_executor_t *ex, gs_wave_t *w, bool resumes) {
  const gs_inst_t *in;
  while (w->left && w->state == GS_WAVE_RUNNING && (in = locate(ex, w))) {
    gs_block_fn_t *const block = block_at(ex, w, resumes);
    resumes = false;
    if (GS_LIKELY(block != NULL)) {
      gs_block_run(block, w);
    } else if (w->left) {
      w->left = run_straight(ex, w, in, SEEN_BY_NOBODY, w->left);
      w->unfenced = true;
    }
  }
  end_slice(ex, w);
}

/* As run_slice, with blocks where there are some: the same instructions in the same turns, if those are
 * exact. */
static void run_hot_slice(gs_executor_t *ex, gs_wave_t *w, unsigned slice) {
  const bool resumes = begin_slice(w, slice);
  go_on(ex, w, resumes);
}

/* Whether nobody wants to see the instructions of the block at the program counter. */
static bool passes(const gs_executor_t *ex, gs_wave_t *w) {
  const gs_watch_t *watch = w->env->watch;
  const gs_code_line_t *line = ex->line;
  return !watch || watch->pass(w, line->cells->sums[(w->pc - line->base) / 4]);
}

/* As run_hot_slice, where blocks have to pass who watches. */
static void run_watched_slice(gs_executor_t *ex, gs_wave_t *w, unsigned slice) {
  const gs_inst_t *in;
  bool resumes = begin_slice(w, slice);
  while (w->left && w->state == GS_WAVE_RUNNING && (in = locate(ex, w))) {
    gs_block_fn_t *const block = block_at(ex, w, resumes);
    resumes = false;
    if (block && passes(ex, w)) {
      gs_block_run(block, w);
    } else if (w->left) {
      w->left = run_straight(ex, w, in, SEEN_UP_TO_BLOCKS, w->left);
      w->unfenced = true;
    }
  }
  end_slice(ex, w);
}

/* The device's address of a byte of this process, or that address itself when it is not the device's memory.
 */
static uint64_t device_address(const gs_vm_map_t *map, uint64_t host) {
  for (size_t i = 0; i < map->count; i++) {
    const gs_vm_range_t *range = &map->range[i];
    const uint64_t offset = host - (uint64_t)(uintptr_t)range->host;
    if (!range->is_gap && offset < range->end - range->start)
      return range->start + offset;
  }
  return host;
}

static void release_barrier(gs_group_t *group) {
  group->released = group->live_waves > 1;
  if (GS_UNLIKELY(group->env.watched != NULL) && group->live_waves)
    group->env.watch->barrier(group->env.watch->context, group->env.watched);
  for (unsigned i = 0; i < group->wave_count; i++)
    if (group->wave[i].state == GS_WAVE_BARRIER)
      group->wave[i].state = GS_WAVE_RUNNING;
}

/* What one pass over the waves of a group found. */
typedef struct pass {
  bool progress; /* a wave did something else than wait */
  bool failed;
  bool ran; /* a wave had a turn */
  bool starved;
} pass_t;

/* Says in traces which wave the following lines are about. */
static void name_place(gs_executor_t *ex, const gs_group_t *group, unsigned wave) {
  snprintf(ex->place, sizeof ex->place, "gpu%u wg(%u,%u,%u) wave%u", ex->device->ordinal, group->id[0],
           group->id[1], group->id[2], wave);
}

/* A wave may learn through memory of a mapping that was made after its slice began: it is the snapshot that
 * is too old then, and not the address that is wrong. Such an access was refused before any lane was served,
 * so it can be repeated. */
static bool missed_mapping(gs_executor_t *ex, gs_wave_t *w) {
  if (w->state != GS_WAVE_FAULTED || w->fault.kind != GS_WAVE_FAULT_MEMORY || !w->fault.access)
    return false;
  const gs_vm_map_t *map = ex->map;
  refresh(ex);
  if (ex->map == map)
    return false;
  w->state = GS_WAVE_RUNNING;
  return true;
}

/* Where somebody wants to see instructions. */
static __attribute__((noinline)) void run_seen(gs_executor_t *ex, gs_wave_t *w, unsigned slice) {
  if (ex->device->hot)
    run_watched_slice(ex, w, slice);
  else
    run_slice(ex, w, SEEN, slice);
}

/* Executes the instruction that missed a mapping. Who has seen it is told that it is the same one. */
static __attribute__((noinline)) void repeat_instruction(gs_executor_t *ex, gs_wave_t *w) {
  do {
    w->repeats = true;
    run_slice(ex, w, ex->device->observed ? SEEN : SEEN_BY_NOBODY, 1);
    w->repeats = false;
  } while (missed_mapping(ex, w));
}

/* A turn of any length. */
static __attribute__((noinline)) void run_wave_for(gs_executor_t *ex, gs_wave_t *w, unsigned slice) {
  ex->turns.current = w;
  while (w->state == GS_WAVE_RUNNING) {
    if (ex->device->observed)
      run_seen(ex, w, slice);
    else if (ex->device->hot)
      run_hot_slice(ex, w, slice);
    else
      run_slice(ex, w, SEEN_BY_NOBODY, slice);
    if (GS_LIKELY(!missed_mapping(ex, w)))
      return;
    repeat_instruction(ex, w);
  }
}

/* Where a turn has not ended with its first block. */
static __attribute__((noinline)) void finish_turn(gs_executor_t *ex, gs_wave_t *w, bool resumes) {
  w->turns = NULL;
  go_on(ex, w, resumes);
  if (missed_mapping(ex, w)) {
    repeat_instruction(ex, w);
    run_wave_for(ex, w, SLICE);
  }
}

/* A turn of the usual length, and those of waves behind it, up to `last` of the pass, if each before has come
 * to a barrier: the wave that had the last turn is returned. A wave that was at a barrier mostly goes on in a
 * line that was in hand, where a block is, and comes to the next barrier without leaving its blocks: with
 * some ten instructions between barriers, what run_wave_for asks on the way takes as long as those. (Where
 * there is no block yet, what its cell has comes back at once.) */
static inline gs_wave_t *run_waves(gs_executor_t *ex, gs_group_t *group, gs_wave_t *w, gs_wave_t *last) {
  const gs_code_line_t *const line = *recent_line(ex, w->pc);
  const uint64_t at = line ? w->pc - line->base : GS_LINE_BYTES;
  if (GS_UNLIKELY(ex->device->observed || at >= GS_LINE_BYTES || !gs_block_can_run(w))) {
    run_wave_for(ex, w, SLICE);
    return w;
  }
  ex->line = line;
  gs_block_fn_t *const block = atomic_load_explicit(&line->cells->block[at / 4], memory_order_acquire);
  const bool resumes = begin_slice(w, SLICE);
  gs_wave_t *const end = last < w ? group->wave + group->wave_count : last;
  ex->turns = (gs_turns_t){w, end, last, w->pc, block, SLICE, SLICE - SLICE / 8};
  w->turns = &ex->turns;
  if (GS_LIKELY(block != NULL))
    gs_block_run(block, w);
  gs_wave_t *const current = ex->turns.current;
  if (GS_UNLIKELY(current->state == GS_WAVE_RUNNING || current->state == GS_WAVE_FAULTED))
    finish_turn(ex, current, current == w && resumes && w->left == SLICE);
  return current;
}

/* The turn of a wave in a pass, and of some behind it, at most to `last`, which stand at a barrier but for
 * the one that is returned. `slice` is 0 for the usual length. */
static inline __attribute__((always_inline)) gs_wave_t *run_turns(gs_executor_t *ex, gs_run_t *run,
                                                                  gs_group_t *group, gs_wave_t *first,
                                                                  gs_wave_t *last, unsigned slice,
                                                                  pass_t *pass) {
  gs_wave_t *w = first;
  if (w->state == GS_WAVE_YIELDED)
    w->state = GS_WAVE_RUNNING;
  if (w->state != GS_WAVE_RUNNING || atomic_load_explicit(&run->abandon, memory_order_relaxed))
    return w;
  pass->ran = true;
  refresh(ex);
  if (GS_UNLIKELY(ex->device->trace != NULL))
    name_place(ex, group, (unsigned)(w - group->wave));
  if (slice)
    run_wave_for(ex, w, slice);
  else
    w = run_waves(ex, group, w, last);
  pass->progress |= w != first || w->state != GS_WAVE_YIELDED;
  group->live_waves -= w->state == GS_WAVE_ENDED;
  pass->failed = w->state == GS_WAVE_FAULTED;
  return w;
}

/* Behind a barrier, the first wave comes last. On a card all go on at the same time, and programs rely on it,
 * knowing or not: the first wave is mostly the one that prepares what comes next, and writes it over what all
 * have to read behind the barrier. (Short turns for all would do, too, but they take a quarter of the time.)
 */
static pass_t run_pass(gs_executor_t *ex, gs_run_t *run, gs_group_t *group) {
  pass_t pass = {0};
  unsigned waiting = 0;
  const unsigned first = group->released, count = group->wave_count;
  gs_wave_t *const last = &group->wave[first ? 0 : count - 1];
  group->released = false;
  for (unsigned turn = 0, behind; turn < count && !pass.failed; turn = behind) {
    gs_wave_t *const next = turn + first < count ? &group->wave[turn + first] : last;
    const gs_wave_t *const w = run_turns(ex, run, group, next, last, 0, &pass);
    behind = w == last ? count : (unsigned)(w - group->wave) - first + 1;
    waiting += behind - turn - (w->state != GS_WAVE_BARRIER);
  }
  if (waiting == group->live_waves)
    release_barrier(group);
  return pass;
}

/* ---- Scheduling by chance: which wave runs when is nobody's promise ---- */

enum {
  STARVED_ONCE_IN = 48,   /* turns of a wave */
  STARVED_PASSES = 200,   /* at most */
  PREEMPTED_ONCE_IN = 64, /* passes of a group */
  STOPPED_ONCE_IN = 8,    /* preemptions: also for others of the executor, as if the driver had done it */
};

/* Whether the wave gets no turn in this pass. */
static bool is_starved(gs_luck_t *luck, unsigned i, uint32_t schedule) {
  if (luck->starved[i]) {
    luck->starved[i]--;
    return true;
  }
  if ((schedule & GS_SCHEDULE_STARVE) && gs_random_once_in(&luck->random, STARVED_ONCE_IN))
    luck->starved[i] = gs_random_below(&luck->random, STARVED_PASSES);
  return false;
}

/* From one instruction to the usual number, short ones as often as long ones. */
static unsigned any_slice(gs_random_t *random) {
  enum { LOG2_SLICE = 11 };
  return 1 + gs_random_below(random, 1U << gs_random_below(random, LOG2_SLICE + 1));
}

static pass_t run_pass_by_chance(gs_executor_t *ex, gs_run_t *run, gs_group_t *group) {
  const uint32_t schedule = ex->device->schedule;
  const bool waves = schedule & GS_SCHEDULE_WAVES;
  gs_luck_t *luck = &group->luck;
  unsigned places = 1; /* a power of two, so that each odd step comes to all of them */
  while (places < group->wave_count)
    places *= 2;
  const unsigned first = waves ? gs_random_below(&luck->random, places) : 0;
  const unsigned step = waves ? 2 * gs_random_below(&luck->random, places) + 1 : 1;
  pass_t pass = {0};
  for (unsigned turn = 0; turn < places && !pass.failed; turn++) {
    const unsigned i = (first + turn * step) % places;
    if (i >= group->wave_count)
      continue;
    if (is_starved(luck, i, schedule))
      pass.progress = pass.starved = true;
    else
      (void)run_turns(ex, run, group, &group->wave[i], &group->wave[i],
                      waves ? any_slice(&luck->random) : SLICE, &pass);
  }
  unsigned waiting = 0;
  for (unsigned i = 0; i < group->wave_count; i++)
    waiting += group->wave[i].state == GS_WAVE_BARRIER;
  if (waiting == group->live_waves)
    release_barrier(group);
  return pass;
}

/* The waves stop for that long, in which nobody has to wait for this executor's use of memory. */
static void stop_for(gs_executor_t *ex, uint64_t ns) {
  const struct timespec pause = {.tv_nsec = (long)ns};
  gs_vm_reader_leave(&ex->vm);
  ex->map = NULL;
  nanosleep(&pause, NULL);
}

/* Whether the group gives way in the middle of its work. Now and then that takes time. */
static bool is_preempted(gs_executor_t *ex, gs_group_t *group) {
  gs_random_t *random = &group->luck.random;
  if (!(ex->device->schedule & GS_SCHEDULE_PREEMPT) || !gs_random_once_in(random, PREEMPTED_ONCE_IN))
    return false;
  if (gs_random_once_in(random, STOPPED_ONCE_IN))
    stop_for(ex, gs_random_delay_ns(random));
  return true;
}

static void bear_eviction(gs_executor_t *ex) {
  const uint64_t now = gs_clock_nanoseconds();
  const uint64_t end = gs_eviction_end(ex->device->options.strict_seed, now);
  if (end)
    stop_for(ex, end - now);
}

/* What may come between two passes of an unlucky group. */
static bool wants_break(gs_executor_t *ex, gs_group_t *group) {
  if (GS_LIKELY(!ex->device->schedule))
    return false;
  if (ex->device->schedule & GS_EVICTS)
    bear_eviction(ex);
  return is_preempted(ex, group);
}

/* Who sleeps waits for another workgroup, which may be next, or behind some that spin in the meantime: those
 * would take whole turns for nothing. So each has some short turns then. That others count, too, does no
 * harm. */
static void expect_waiting(gs_run_t *run) {
  atomic_store_explicit(&run->short_turns, 2 * run->kernel.resident_groups, memory_order_relaxed);
}
/* How many passes the turn that begins may have. */
static unsigned begin_turn(const gs_executor_t *ex, gs_run_t *run) {
  const uint32_t turns = atomic_load_explicit(&run->short_turns, memory_order_relaxed);
  if (GS_UNLIKELY(turns)) {
    atomic_store_explicit(&run->short_turns, turns - 1, memory_order_relaxed);
    return PASSES_BESIDE_SLEEPER;
  }
  if (GS_UNLIKELY(ex->device->schedule & GS_SHORT_TURNS))
    return PASSES_PER_SHORT_TURN;
  return atomic_load_explicit(&run->turn_passes, memory_order_relaxed);
}

static __attribute__((noinline)) gs_turn_t run_turn(gs_executor_t *ex, gs_run_t *run, gs_group_t *group) {
  unsigned idle = 0;
  if (GS_UNLIKELY(group->poisoned.scratch_is_due)) {
    refresh(ex);
    gs_poison_scratch(ex, run, group);
  }
  for (unsigned passes = begin_turn(ex, run); passes;) {
    const pass_t pass =
        GS_LIKELY(!ex->device->schedule) ? run_pass(ex, run, group) : run_pass_by_chance(ex, run, group);
    if (pass.failed)
      return GS_TURN_FAILED;
    if (group->live_waves == 0)
      return GS_TURN_ENDED;
    if (gs_run_is_over(run))
      return GS_TURN_ABANDONED;
    if (GS_UNLIKELY(pass.starved) && !pass.ran)
      continue; /* nobody goes ahead of whom is starved: other groups would only wait for this one for longer
                 */
    passes -= pass.progress; /* of the others, IDLE_PASSES in a row are enough */
    idle = pass.progress ? 0 : idle + 1;
    if (idle == IDLE_PASSES || wants_break(ex, group))
      break;
  }
  if (idle)
    expect_waiting(run);
  return GS_TURN_EXPIRED;
}

/* Makes a host fault a fault of the wave in hand. */
static gs_turn_t take_host_fault(gs_executor_t *ex, uint64_t host) {
  gs_wave_t *w = ex->turns.current;
  w->pc -= MEMORY_INSTRUCTION_BYTES;
  gs_wave_fault(w, GS_WAVE_FAULT_MEMORY, device_address(ex->map, host), 0, GS_MAX_LANES);
  return GS_TURN_FAILED;
}

/* Host faults in guest memory become faults of the wave in hand. The work is a call away, as variables of a
 * function that calls sigsetjmp live in memory. */
gs_turn_t gs_group_run(gs_executor_t *ex, gs_run_t *run, gs_group_t *group) {
  group->env.vm = &ex->vm;
  group->env.toll = ex->device->options.stats ? &ex->counters.toll : NULL;
  if (ex->target != group->env.target) {
    ex->target = group->env.target;
    forget_lines(ex);
    ex->map = NULL; /* so that the code is looked for, too */
  }
  gs_turn_t turn;
  gs_guard_t guard;
  if (sigsetjmp(guard.resume, 0) == 0) {
    gs_guard_set(&guard);
    turn = run_turn(ex, run, group);
  } else {
    gs_guard_set(NULL);
    turn = take_host_fault(ex, guard.address);
  }
  gs_guard_set(NULL);
  return turn;
}
