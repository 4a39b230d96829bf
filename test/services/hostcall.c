/* The hostcall services of ROCm's device library "ockl": printf in pieces, and device memory. */
#include <stdio.h>

typedef unsigned long word_t;

#pragma omp declare target
#ifdef __AMDGCN__
word_t __ockl_printf_begin(word_t version);
word_t __ockl_fprintf_stderr_begin(void);
word_t __ockl_printf_append_args(word_t message, unsigned count, word_t a, word_t b, word_t c, word_t d,
                                 word_t e, word_t f, word_t g, unsigned last);
word_t __ockl_printf_append_string_n(word_t message, const char *text, word_t bytes, unsigned last);
word_t __ockl_devmem_request(word_t address, word_t bytes);
#else /* never called there */
static word_t __ockl_printf_begin(word_t version) {
  return version;
}
static word_t __ockl_fprintf_stderr_begin(void) {
  return 0;
}
static word_t __ockl_printf_append_args(word_t message, unsigned count, word_t a, word_t b, word_t c,
                                        word_t d, word_t e, word_t f, word_t g, unsigned last) {
  return message + count + a + b + c + d + e + f + g + last;
}
static word_t __ockl_printf_append_string_n(word_t message, const char *text, word_t bytes, unsigned last) {
  return message + *text + bytes + last;
}
static word_t __ockl_devmem_request(word_t address, word_t bytes) {
  return address + bytes;
}
#endif

static word_t bits_of(double value) {
  union {
    double real;
    word_t bits;
  } both = {value};
  return both.bits;
}

static int print(word_t message, int thread) {
  static const char format[] = "thread %d: %s|%5.2f|%c%c|%*d|%lx|%-8s|%%|%p\n";
  const char *longest = "a string of more than fifty-six bytes, which takes several packets to get through";
  word_t bytes = 1;
  while (longest[bytes - 1])
    bytes++;
  message = __ockl_printf_append_string_n(message, format, sizeof format, 0);
  message = __ockl_printf_append_args(message, 1, (word_t)thread, 0, 0, 0, 0, 0, 0, 0);
  message = __ockl_printf_append_string_n(message, longest, bytes, 0);
  message = __ockl_printf_append_args(message, 6, bits_of(thread / 4.0), 'a', 'b', 5, (word_t)thread,
                                      0xabcdef0123, 0, 0);
  message = __ockl_printf_append_string_n(message, "left", 5, 0);
  return (int)__ockl_printf_append_args(message, 1, 0x1000, 0, 0, 0, 0, 0, 0, 1);
}

static int use_memory(int thread) {
  volatile int *block = (volatile int *)__ockl_devmem_request(0, 4000);
  if (!block)
    return 1;
  int failed = 0;
  for (int i = 0; i < 1000; i += 50)
    block[i] = thread + i;
  for (int i = 0; i < 1000; i += 50)
    failed |= block[i] != thread + i;
  __ockl_devmem_request((word_t)block, 0);
  return failed;
}
#pragma omp end declare target

int main(void) {
  int printed = 0, failed = 0;
#pragma omp target teams distribute parallel for num_teams(8) thread_limit(64) reduction(+ : printed, failed)
  for (int i = 0; i < 512; i++) {
    printed += print(__ockl_printf_begin(0), i);
    failed += use_memory(i);
  }
#pragma omp target map(tofrom : printed)
  printed += print(__ockl_fprintf_stderr_begin(), 999);
  fprintf(stderr, "%d characters, %d failed\n", printed, failed);
  return failed != 0;
}
