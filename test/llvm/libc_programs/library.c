/* Strings, numbers, sorting, searching: what needs no host. */
#include "say.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right) {
  int a = *(const int *)left, b = *(const int *)right;
  return (a > b) - (a < b);
}

static void strings(void) {
  char text[100] = "the quick brown fox", copy[100];
  char *rest = text;
  say("length", (long)strlen(text));
  strcpy(copy, text);
  strcat(copy, " jumps");
  puts(copy);
  say("compare", strcmp(text, copy) < 0);
  puts(strstr(copy, "brown"));
  puts(strchr(copy, 'q'));
  puts(strrchr(copy, 'u'));
  say("span", (long)strspn(copy, "eht "));
  say("cspan", (long)strcspn(copy, "xyz"));
  for (char *word; (word = strtok_r(rest, " ", &rest));)
    puts(word);
  char *twin = strdup(copy);
  puts(twin);
  free(twin);
  memmove(copy + 2, copy, 10);
  puts(copy);
  for (int i = 0; copy[i]; i++)
    copy[i] = (char)toupper((unsigned char)copy[i]);
  puts(copy);
}

static void numbers(void) {
  char *end;
  say("atoi", atoi("  -123abc"));
  say("strtol", strtol("0x1fffZ", &end, 0));
  puts(end);
  say("strtoul", (long)strtoul("777", 0, 8));
  say("strtoll", (long)strtoll("-9223372036854775808", 0, 10));
  say("strtod", (long)(strtod("3.14159e3", 0) * 1000));
  say("strtod", strtod("0x1.8p1", 0) == 3.0);
  say("atof", atof("1e-3") == 0.001);
  div_t parts = div(-17, 5);
  say("quotient", parts.quot);
  say("remainder", parts.rem);
  say("labs", labs(-5));
  say("imaxabs", (long)imaxabs(-7));
  say("digits", isdigit('7') != 0);
}

int main(void) {
  int values[200], key = 37;
  strings();
  numbers();
  for (int i = 0; i < 200; i++)
    values[i] = i * 7919 % 211 - 50;
  qsort(values, 200, sizeof *values, compare);
  for (int i = 0; i < 200; i += 20)
    say("sorted", values[i]);
  int *found = bsearch(&key, values, 200, sizeof *values, compare);
  say("found", found ? *found : -1);
  return 0;
}
