/* Implementation of the one-line messages. */
#include "base/log.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 2048 };

static void print_line(const char *format, va_list args) {
  static const char prefix[] = "gfxsim: ";
  int saved_errno = errno;
  char line[LINE_BYTES];
  memcpy(line, prefix, sizeof prefix - 1);
  const size_t room = sizeof line - sizeof prefix;
  int printed = vsnprintf(line + sizeof prefix - 1, room, format, args);
  size_t length = printed < 0 ? 0 : (size_t)printed;
  if (length >= room)
    length = room - 1;
  length += sizeof prefix - 1;
  line[length++] = '\n';
  /* A message that stderr does not take is lost: there is nobody left to tell. */
  ssize_t ignored = write(STDERR_FILENO, line, length);
  (void)ignored;
  errno = saved_errno;
}

void gs_log(const char *format, ...) {
  va_list args;
  va_start(args, format);
  print_line(format, args);
  va_end(args);
}

void gs_log_once(_Atomic int *once, const char *format, ...) {
  if (atomic_exchange_explicit(once, 1, memory_order_relaxed))
    return;
  va_list args;
  va_start(args, format);
  print_line(format, args);
  va_end(args);
}
