/* See cpu_text.h: 32 KiB of data in lines of 64 bytes, 8 ways, as most processors have. */
#include "kfd/cpu_text.h"

#include <fcntl.h>
#include <unistd.h>

#include "kfd/real.h"

bool gs_cpu_lacks_caches(gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  char cpu[96], cache[128];
  (void)machine;
  snprintf(cpu, sizeof cpu, "/sys/devices/system/node/node%u/cpu%u", numbers->of[0], numbers->of[1]);
  snprintf(cache, sizeof cache, "%s/cache", cpu);
  return gs_real_faccessat(AT_FDCWD, cpu, F_OK, 0) == 0 && gs_real_faccessat(AT_FDCWD, cache, F_OK, 0) != 0;
}

#define DEFINE_TEXT(name, text)                                                                              \
  void gs_write_cpu_##name(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {              \
    (void)machine;                                                                                           \
    (void)numbers;                                                                                           \
    fputs(text "\n", to);                                                                                    \
  }
DEFINE_TEXT(level, "1")
DEFINE_TEXT(type, "Data")
DEFINE_TEXT(size, "32K")
DEFINE_TEXT(line, "64")
DEFINE_TEXT(ways, "8")
DEFINE_TEXT(sets, "64")
DEFINE_TEXT(partition, "1")

void gs_write_cpu_list(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  (void)machine;
  fprintf(to, "%u\n", numbers->of[1]);
}

/* Words of 32 processors, the last ones first. */
void gs_write_cpu_map(FILE *to, gs_machine_t *machine, const gs_path_numbers_t *numbers) {
  enum { BITS = 32 };
  (void)machine;
  const uint32_t cpu = numbers->of[1], bit = UINT32_C(1) << cpu % BITS;
  for (uint32_t word = cpu / BITS + 1; word-- > 0;)
    fprintf(to, "%08x%s", word == cpu / BITS ? bit : 0, word ? "," : "\n");
}
