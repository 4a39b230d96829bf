/* The C library's functions in target regions; each result is checked on the device, and what is printed by
 * the script. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma omp declare target
static int check_memory(void) {
  int failed = 0;
  char *blocks[50];
  for (int i = 0; i < 50; i++) {
    size_t bytes = (size_t)1 << i % 18;
    blocks[i] = malloc(bytes);
    if (!blocks[i])
      return 1;
    memset(blocks[i], i, bytes);
  }
  for (int i = 0; i < 50; i++) {
    size_t bytes = (size_t)1 << i % 18;
    for (size_t j = 0; j < bytes; j += 1 + bytes / 8)
      failed += blocks[i][j] != i;
    free(blocks[i]);
  }
  int *zeros = calloc(100, sizeof *zeros);
  for (int i = 0; i < 100; i++)
    failed += zeros[i] != 0;
  free(zeros);
  free(NULL);
  void *volatile huge = malloc((size_t)1 << 62); /* the compiler takes for granted that malloc works */
  failed += huge != NULL;
  return failed;
}

static int check_strings(const char *text, size_t bytes) {
  char copy[64], other[64];
  int failed = 0;
  memcpy(copy, text, bytes);
  failed += memcmp(copy, text, bytes) != 0;
  failed += strlen(copy) != bytes - 1;
  copy[3]++;
  failed += memcmp(copy, text, bytes) <= 0;
  failed += memcmp(copy, text, 3) != 0;
  strcpy(other, text);
  failed += strcmp(other, text) != 0;
  memmove(other + 1, other, bytes);
  failed += strcmp(other + 1, text) != 0 || strncmp(other, text, 1) != 0;
  failed += strchr(other, '?') != NULL || *strchr(other, 'c') != 'c';
  return failed;
}

/* Copies of all small sizes between all places in a word, also over themselves. */
static int check_copies(void) {
  enum { MOST = 13, WORD = 4, ROOM = 32 };
  int failed = 0;
  for (int bytes = 0; bytes <= MOST; bytes++)
    for (int to = 0; to < WORD; to++)
      for (int from = 0; from < 3 * WORD; from++) {
        char source[ROOM], target[ROOM], moved[ROOM];
        for (int i = 0; i < ROOM; i++) {
          source[i] = moved[i] = (char)(i + 1);
          target[i] = 0;
        }
        memcpy(target + to, source + from, (size_t)bytes);
        memmove(moved + to, moved + from, (size_t)bytes);
        for (int i = 0; i < ROOM; i++) {
          int inside = i >= to && i < to + bytes;
          failed += target[i] != (inside ? source[i - to + from] : 0);
          failed += moved[i] != (inside ? source[i - to + from] : source[i]);
        }
      }
  return failed;
}

/* The host does not know the device's memory: the variable keeps its value, and a message says so. */
static int check_count(void) {
  int variable = 5;
  int printed = printf("count%n\n", &variable);
  return variable != 5 || printed != 6;
}

static void say(const char *text) {
  fprintf(stderr, "err %s\n", text);
  fprintf(stdout, "out %s\n", text);
}
#pragma omp end declare target

int main(void) {
  char text[] = "abcdefghijklmnopqrstuvwxyz";
  int failed = 0;
  printf("before\n");
#pragma omp target map(tofrom : failed) map(to : text)
  {
    failed += check_memory();
    failed += check_strings(text, sizeof text);
    failed += check_copies();
    failed += check_count();
    assert(text[0] == 'a');
    puts("puts");
    say(text);
    fprintf(stderr, "to %s\n", "stderr");
    fputs("fputs\n", stdout);
    putchar('!');
    putchar('\n');
  }
  printf("after\n");
  if (failed)
    printf("%d checks failed\n", failed);
  return failed != 0;
}
