/* How a region ends that cannot go on. Not here: what it cannot do. */
#include "state.h"

__attribute__((noinline, cold)) RUNTIME_FUNCTION void runtime_fail(const char *line) {
  if (is_first_lane())
    fputs(line, stderr);
  __builtin_trap();
}
