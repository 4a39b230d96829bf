/* Output for programs that have no printf: LLVM libc 18 has none for GPUs. */
#include <stdio.h>

static inline void say_number(long value) {
  char text[24], *at = text + sizeof text;
  unsigned long left = value < 0 ? 0UL - (unsigned long)value : (unsigned long)value;
  *--at = 0;
  do
    *--at = (char)('0' + left % 10);
  while ((left /= 10));
  if (value < 0)
    *--at = '-';
  fputs(at, stdout);
}

/* "name value" in a line. */
static inline void say(const char *name, long value) {
  fputs(name, stdout);
  fputs(" ", stdout);
  say_number(value);
  fputs("\n", stdout);
}
