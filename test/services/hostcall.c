/* The hostcall services of ROCm's device library "ockl": printf in pieces, device memory, the allocator that
 * is built on it, and calls of functions of the host. */
#include <stdio.h>

typedef unsigned long word_t;
typedef word_t pair_t __attribute__((ext_vector_type(2)));

#pragma omp declare target
#ifdef __AMDGCN__
word_t __ockl_printf_begin(word_t version);
word_t __ockl_fprintf_stderr_begin(void);
word_t __ockl_printf_append_args(word_t message, unsigned count, word_t a, word_t b, word_t c, word_t d,
                                 word_t e, word_t f, word_t g, unsigned last);
word_t __ockl_printf_append_string_n(word_t message, const char *text, word_t bytes, unsigned last);
word_t __ockl_devmem_request(word_t address, word_t bytes);
__attribute__((address_space(1))) void *__ockl_dm_alloc(word_t bytes);
void __ockl_dm_dealloc(word_t address);
pair_t __ockl_hostcall_preview(unsigned service, word_t a, word_t b, word_t c, word_t d, word_t e, word_t f,
                               word_t g, word_t h);
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
static void *__ockl_dm_alloc(word_t bytes) {
  return (void *)bytes;
}
static void __ockl_dm_dealloc(word_t address) {
  (void)address;
}
static pair_t __ockl_hostcall_preview(unsigned service, word_t a, word_t b, word_t c, word_t d, word_t e,
                                      word_t f, word_t g, word_t h) {
  return (pair_t){service + a + b + c + d, e + f + g + h};
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

/* Blocks of the allocator's kinds, which it cuts from slabs of the host, and one that it asks the host for.
 */
static int use_allocator(int thread) {
  volatile int *blocks[3];
  int failed = 0;
  for (int i = 0; i < 3; i++) {
    word_t bytes = i == 2 ? 5000 : 16u << i * (thread % 4);
    blocks[i] = (volatile int *)__ockl_dm_alloc(bytes);
    if (!blocks[i])
      return 1;
    blocks[i][0] = thread * 3 + i;
    blocks[i][bytes / sizeof(int) - 1] = thread * 3 + i;
  }
  for (int i = 0; i < 3; i++) {
    failed |= blocks[i][0] != thread * 3 + i;
    __ockl_dm_dealloc((word_t)blocks[i]);
  }
  return failed;
}

/* The host's function gets seven words and answers with two. */
static int call_host(word_t function, int thread) {
  enum { FUNCTION_CALL = 1 };
  word_t n = (word_t)thread;
  pair_t out = __ockl_hostcall_preview(FUNCTION_CALL, function, n, 2, 3, 4, 5, 6, 7);
  return out.x != n + 27 || out.y != n * 2;
}
#pragma omp end declare target

static unsigned calls;

static void add_up(word_t *out, const word_t *in) {
  out[0] = in[0] + in[1] + in[2] + in[3] + in[4] + in[5] + in[6];
  out[1] = in[0] * in[1];
  calls++; /* one thread serves all */
}

int main(void) {
  word_t function = (word_t)add_up; /* no constant, or the device would want the function */
  int printed = 0, failed = 0;
#pragma omp target teams distribute parallel for num_teams(8) thread_limit(64) reduction(+ : printed, failed)
  for (int i = 0; i < 512; i++) {
    printed += print(__ockl_printf_begin(0), i);
    failed += use_memory(i);
    failed += use_allocator(i);
    failed += call_host(function, i);
  }
#pragma omp target map(tofrom : printed)
  printed += print(__ockl_fprintf_stderr_begin(), 999);
  fprintf(stderr, "%d characters, %d failed\n", printed, failed);
  return failed || calls != 512;
}
