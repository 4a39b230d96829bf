/* Functions of <string.h> that compilers and programs call, without the host's help. Simple loops: what is
 * large is copied by code that the compiler emits inline. Compiled so that it does not turn these loops into
 * calls of themselves. */
#include "services.h"

/* A word of whatever type. */
typedef uint32_t __attribute__((may_alias)) word_t;

/* From below to above. In words where they are aligned: a fourth of the instructions, and who follows values
 * through them sees the padding of a struct beside what it pads. */
static void copy_up(char *out, const char *in, size_t bytes) {
  const size_t word = sizeof(word_t);
  size_t at = 0;
  if (!(((uintptr_t)out | (uintptr_t)in) % word))
    for (; bytes - at >= word; at += word)
      *(word_t *)(void *)(out + at) = *(const word_t *)(const void *)(in + at);
  for (; at < bytes; at++)
    out[at] = in[at];
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
  copy_up(hide(to), hide(from), bytes);
  return to;
}

void *memmove(void *to, const void *from, size_t bytes) {
  char *out = hide(to);
  const char *in = hide(from);
  if ((uintptr_t)out <= (uintptr_t)in)
    copy_up(out, in, bytes);
  else
    while (bytes--)
      out[bytes] = in[bytes];
  return to;
}

void *memset(void *to, int value, size_t bytes) {
  char *out = hide(to);
  for (size_t i = 0; i < bytes; i++)
    out[i] = (char)value;
  return to;
}

int memcmp(const void *left, const void *right, size_t bytes) {
  const unsigned char *a = hide(left), *b = hide(right);
  for (size_t i = 0; i < bytes; i++)
    if (a[i] != b[i])
      return a[i] - b[i];
  return 0;
}

void *memchr(const void *memory, int value, size_t bytes) {
  const unsigned char *at = hide(memory);
  for (size_t i = 0; i < bytes; i++)
    if (at[i] == (unsigned char)value)
      return (void *)(uintptr_t)(at + i);
  return NULL;
}

size_t strlen(const char *text) {
  size_t length = 0;
  const char *at = hide(text);
  while (at[length])
    length++;
  return length;
}

size_t strnlen(const char *text, size_t most) {
  size_t length = 0;
  const char *at = hide(text);
  while (length < most && at[length])
    length++;
  return length;
}

int strncmp(const char *left, const char *right, size_t most) {
  const unsigned char *a = hide(left), *b = hide(right);
  for (size_t i = 0; i < most; i++)
    if (a[i] != b[i] || !a[i])
      return a[i] - b[i];
  return 0;
}

int strcmp(const char *left, const char *right) {
  return strncmp(left, right, SIZE_MAX);
}

char *strcpy(char *restrict to, const char *restrict from) {
  char *out = hide(to);
  const char *in = hide(from);
  while ((*out++ = *in++))
    ;
  return to;
}

char *strncpy(char *restrict to, const char *restrict from, size_t bytes) {
  char *out = hide(to);
  const char *in = hide(from);
  size_t i = 0;
  for (; i < bytes && in[i]; i++)
    out[i] = in[i];
  for (; i < bytes; i++)
    out[i] = 0;
  return to;
}

char *strcat(char *restrict to, const char *restrict from) {
  strcpy(to + strlen(to), from);
  return to;
}

char *strchr(const char *text, int c) {
  char *at = hide(text);
  for (; *at != (char)c; at++)
    if (!*at)
      return NULL;
  return at;
}
