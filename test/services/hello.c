/* The first thing that everybody tries: printf in a parallel region, in the three ways that clang makes one.
 * LLVM's device runtime gives a parallel region whole waves or one thread. */
#include <omp.h>
#include <stdio.h>

int main(void) {
#pragma omp target
#pragma omp parallel num_threads(128)
  printf("hello from thread %d of %d\n", omp_get_thread_num(), omp_get_num_threads());
#pragma omp target teams num_teams(2)
#pragma omp parallel num_threads(64)
  printf("team %d of %d, thread %d of %d: %s %.2f %zu\n", omp_get_team_num(), omp_get_num_teams(),
         omp_get_thread_num(), omp_get_num_threads(), "text", 1.5 * omp_get_thread_num(), sizeof(long));
#pragma omp target teams distribute parallel for
  for (int i = 0; i < 100; i++)
    printf("line %d\n", i);
  return 0;
}
