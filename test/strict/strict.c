/* Each kind of strictness does what it says, and nothing does without it: below the unmodified ROCr.
 * STRICT_KERNELS is the folder of the code objects made from kernels.s and numbers.s. With an argument that
 * names a scenario, runs only that. Not here: that good programs pass with it. */
#include "gfxsim_rocr.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 8, ITEMS = 64, WORDS = GROUPS * ITEMS, MEMORY_BYTES = 1 << 16 };

/* What most scenarios need. */
typedef struct setting {
  const machine_t *machine;
  hsa_executable_t kernels;
  hsa_queue_t *queue;
  queue_error_t error;
  uint32_t *shared; /* memory of host and GPU */
} setting_t;

static setting_t *setting_make(const machine_t *machine) {
  static setting_t setting;
  setting.machine = machine;
  const char *part = getenv("GFXSIM_DEVICES");
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.co", getenv("STRICT_KERNELS"),
           part && strstr(part, "gfx906") ? "numbers" : "kernels");
  setting.kernels = kernels_load(machine, path);
  setting.queue = queue_create(machine, 64, &setting.error);
  setting.shared = allocate(machine->fine, MEMORY_BYTES);
  assert_hsa(hsa_amd_agents_allow_access(1, machine->gpu, NULL, setting.shared));
  memset(setting.shared, 0, MEMORY_BYTES);
  return &setting;
}

static packet_t dispatch(const setting_t *s, const char *name, uint32_t groups, uint16_t group_size) {
  packet_t packet = dispatch_of(s->machine, s->kernels, name, (uintptr_t)s->shared);
  packet.dispatch.workgroup_size_x = group_size;
  packet.dispatch.grid_size_x = groups * group_size;
  return packet;
}

static bool run(const setting_t *s, packet_t packet) {
  hsa_signal_t done = signal_create(1);
  packet.dispatch.completion_signal = done;
  submit(s->queue, &packet);
  const bool ended = signal_reached_zero(done);
  hsa_signal_destroy(done);
  return ended;
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
  packet_t packet = dispatch(s, kernel, GROUPS, ITEMS);
  packet.dispatch.group_segment_size = lds;
  memset(s->shared, 0x55, MEMORY_BYTES);
  if (!run(s, packet))
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
  if (!run(s, dispatch(s, "k_scalar", 1, ITEMS)))
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
    if (!finds(s, "k_scratch", 0, 0, 1)) /* of one wave, a word of each lane side by side */
      return 5;
  }
  if (!finds_memory(s, 3 << 20) || !finds_memory(s, (40 << 20) + 4096))
    return 6;
  return finish(s, 0);
}

/* Other bits in each word, and the same ones in each run with the seed. */
static int scenario_random(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  packet_t packet = dispatch(s, "k_lds", GROUPS, ITEMS);
  packet.dispatch.group_segment_size = 256;
  if (!run(s, packet))
    return 1;
  unsigned same = 0;
  for (unsigned i = 1; i < WORDS; i++)
    same += s->shared[i] == s->shared[i - 1] || s->shared[i] == 0;
  const char *file = getenv("STRICT_COMPARE"); /* the first run writes it, the second reads it */
  FILE *stream = fopen(file, "r+");
  uint32_t before[WORDS];
  bool equal = true;
  if (stream)
    equal = fread(before, sizeof before, 1, stream) == 1 && memcmp(before, s->shared, sizeof before) == 0;
  else if ((stream = fopen(file, "w")))
    equal = fwrite(s->shared, sizeof before, 1, stream) == 1;
  if (!stream || fclose(stream))
    return 2;
  if (getenv("STRICT_OTHER_SEED"))
    equal = !equal;
  return finish(s, same > 2 || !equal ? 3 : 0);
}

/* What the groups before left in LDS, and the waves before in their registers. */
static int scenario_leftovers(const machine_t *machine) {
  const setting_t *s = setting_make(machine);
  packet_t packet = dispatch(s, "k_lds", GROUPS, ITEMS);
  packet.dispatch.group_segment_size = 256;
  unsigned of_groups = 0, of_waves = 0, other = 0;
  for (int i = 0; i < 20; i++) {
    if (!run(s, packet))
      return 1;
    for (unsigned word = 0; word < WORDS; word++) {
      const uint32_t found = s->shared[word];
      of_groups += found >= 0x1000 && found < 0x1000 + GROUPS;
      other += found != 0xd0bed0be && !(found >= 0x1000 && found < 0x1000 + GROUPS);
    }
  }
  packet = dispatch(s, "k_vector", GROUPS, 16 * ITEMS); /* all places of a group */
  for (int i = 0; i < 5; i++) {
    if (!run(s, packet))
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
  if (!run(s, dispatch(s, "k_numbers", 1, ITEMS)))
    return 1;
  for (unsigned i = 0; i < 2 * ITEMS; i++)
    if (s->shared[i] != wanted_word(1 + i % 2))
      return 2;
  return finish(s, 0);
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
};

enum { SCENARIOS = sizeof scenarios / sizeof *scenarios };

int main(int argc, char **argv) {
  if (argc == 2)
    return scenario_run(scenarios, SCENARIOS, argv[1]);
  remove("random.words");
  return scenario_run_all("strict", scenarios, SCENARIOS) != 0;
}
