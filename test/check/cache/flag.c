/* Team 0 reads, waits for team 1, and reads again: without a flush its compute unit may have the old value.
 * levels: O0
 * expect: Possibly stale read of 4 bytes in target region in main at line [0-9]+ \(.*flag.c:@BUG@\)
 * expect: May miss an earlier write
 * expect: Hint: an acquire fence behind the read that learns of the write
 */
#include <omp.h>

#pragma omp begin declare target
static void flush(void) {
#pragma omp flush
}

static void tell(int *word) {
#pragma omp atomic write
  *word = 1;
}

static void await(const int *word) {
  int seen = 0;
  while (!seen) {
#pragma omp atomic read
    seen = *word;
  }
}
#pragma omp end declare target

int main(void) {
  int data = 1, told = 0, ready = 0, before = 0, after = 0;
#pragma omp target teams num_teams(2) thread_limit(64) map(tofrom : data, told, ready, before, after)
  {
    if (omp_get_team_num() == 0) {
      before = data;
      tell(&told);
      await(&ready);
#if !BUG
      flush();
#endif
      after = data; /* BUG */
    } else {
      await(&told);
      data = 42;
      flush();
      tell(&ready);
    }
  }
  return before == 1 && after == 42 ? 0 : 1;
}
