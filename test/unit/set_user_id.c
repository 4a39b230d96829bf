/* What plugin and gfxsim take from the environment of this process: prints the files that they would write.
 * The script of the same name gives a copy other rights than its user's. */
#include "base/env.h"
#include "base/options.h"

#include <stdio.h>
#include <sys/auxv.h>
#include <unistd.h>

int main(void) {
  atmi_env_t env;
  gs_options_t options;
  atmi_env_load(environ, &env);
  gs_options_load(&options);
  printf("secure=%lu timeline=%s trace=%s teams=%lld cus=%u\n", getauxval(AT_SECURE),
         env.timeline ? env.timeline : "", options.trace, (long long)env.num_teams, (unsigned)options.cus);
  return 0;
}
