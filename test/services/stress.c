/* Many threads print at once: stress TEAMS THREADS. Every line must come out whole, and each thread's in
 * order. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int teams = argc > 1 ? atoi(argv[1]) : 64, threads = argc > 2 ? atoi(argv[2]) : 256;
#pragma omp target teams distribute parallel for num_teams(teams) thread_limit(threads) num_threads(threads)
  for (int i = 0; i < teams * threads; i++)
    for (int line = 0; line < 2; line++)
      printf("thread %d line %d %s\n", i, line,
             i % 3 ? "short" : "a longer text, so that the lanes of a wave differ");
  return 0;
}
