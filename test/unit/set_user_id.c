/* What plugin and gfxsim take from the environment of this process: prints the files that they would write.
 * The script of the same name gives a copy other rights than its user's. */
#include "base/env.h"
#include "base/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(void) {
  atmi_env_t env;
  gs_options_t options;
  atmi_env_load(environ, &env);
  gs_options_load(&options);
  const char *profile = atmi_env_file("LIBOMPTARGET_PROFILE", getenv("LIBOMPTARGET_PROFILE"));
  printf("secure=%lu timeline=%s profile=%s trace=%s teams=%lld cus=%u\n", getauxval(AT_SECURE),
         env.timeline ? env.timeline : "", profile ? profile : "", options.trace, (long long)env.num_teams,
         (unsigned)options.cus);
  return 0;
}
