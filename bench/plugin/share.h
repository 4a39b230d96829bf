/* Copies of a large array next to memcpy's of other ones, for copies.c and bare.c. Piece after piece of the
 * array, so that no bytes are in the caches of a processor before; "the same again" is one piece, which both
 * may find there. The memcpy takes turns with the copy. */
#ifndef BENCH_PLUGIN_SHARE_H
#define BENCH_PLUGIN_SHARE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHARE_MIB = 1 << 20, SHARE_LARGEST = 64 * SHARE_MIB, SHARE_MOST = 64 };

static clockid_t share_clock = CLOCK_MONOTONIC;
static char *share_from, *share_into; /* memcpy's */

static double share_seconds(void) {
  struct timespec now;
  clock_gettime(share_clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Host memory that was written to; ends the program if there is none. */
static char *share_allocate(void) {
  char *memory = malloc(SHARE_LARGEST);
  if (!memory) {
    fputs("out of host memory\n", stderr);
    exit(1);
  }
  memset(memory, 1, SHARE_LARGEST);
  return memory;
}

static int share_compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Prints the kind and size, 10^9 bytes per second, and the share of memcpy's rate; medians. A `copy` moves
 * its bytes so many times; from one to the next it is `stride` bytes. */
static void share_measure(const char *name, void (*copy)(size_t at, size_t bytes), size_t bytes,
                          size_t stride, int copies) {
  double taken[SHARE_MOST], shares[SHARE_MOST];
  size_t rounds = 2 * (size_t)SHARE_LARGEST / bytes, at = 0;
  rounds = rounds < SHARE_MOST ? rounds : SHARE_MOST;
  for (; at < SHARE_LARGEST; at += bytes) /* touches everything */
    copy(at, bytes);
  for (size_t i = 0; i < rounds; i++) {
    at = (at + stride) % SHARE_LARGEST;
    double begin = share_seconds();
    copy(at, bytes);
    double middle = share_seconds();
    for (int j = 0; j < copies; j++) {
      memcpy(share_into + at, share_from + at, bytes);
      __asm__ volatile("" ::: "memory");
    }
    taken[i] = middle - begin;
    shares[i] = (share_seconds() - middle) / taken[i];
  }
  qsort(taken, rounds, sizeof *taken, share_compare);
  qsort(shares, rounds, sizeof *shares, share_compare);
  printf("%s,_%zu_MiB%s %.1f %.2f\n", name, bytes / SHARE_MIB, stride ? "" : ",_the_same_again",
         1e-9 * copies * (double)bytes / taken[rounds / 2], shares[rounds / 2]);
}

#endif
