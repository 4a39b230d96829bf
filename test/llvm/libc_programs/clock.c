/* The clock goes no faster than it claims.
 * seconds: 1 */
#include "say.h"
#include <time.h>

int main(void) {
  clock_t begin = clock();
  while (clock() - begin < CLOCKS_PER_SEC)
    ;
  puts("a second");
  return 0;
}
