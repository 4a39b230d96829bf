/* What programs of clang 22 and later ask for that older ones do not. The entry for a table of functions is
 * written by hand, in clang's layout, since only later versions make one in C. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma omp begin declare variant match(device = {kind(gpu)})
void *__llvm_omp_indirect_call_lookup(void *host);
unsigned long long __llvm_omp_host_call(void *function, void *data, size_t bytes);
#pragma omp declare target enter(__llvm_omp_indirect_call_lookup, __llvm_omp_host_call) device_type(nohost)
#pragma omp end declare variant
#pragma omp begin declare variant match(device = {kind(cpu)})
void *__llvm_omp_indirect_call_lookup(void *host) {
  return host;
}
unsigned long long __llvm_omp_host_call(void *function, void *data, size_t bytes) {
  (void)bytes;
  return ((unsigned long long (*)(void *))function)(data);
}
#pragma omp end declare variant

/* ---- tables of functions ---- */

typedef int function_t(int);
#pragma omp begin declare target
int one(int x) {
  return x + 1;
}
int ten(int x) {
  return x + 10;
}
int hundred(int x) {
  return x + 100;
}
#pragma omp end declare target
static function_t *table[] = {one, ten, hundred};
#pragma omp begin declare target device_type(nohost)
function_t *device_table[] = {one, ten, hundred};
function_t **device_table_pointer = device_table;
#pragma omp end declare target

typedef struct entry {
  uint64_t zero;
  uint16_t version, kind;
  uint32_t flags;
  void *address;
  const char *name;
  uint64_t size, data;
  void *more;
} entry_t;
__attribute__((used, section("llvm_offload_entries"), aligned(8))) static const entry_t entry = {
    0, 1, 1, 0x20, table, "device_table_pointer", sizeof table, 0, NULL};

static int tables(void) {
  int sum = 0;
  for (int i = 0; i < 3; i++) {
    function_t **host = &table[i];
#pragma omp target map(tofrom : sum) firstprivate(host)
    {
      function_t **found = __llvm_omp_indirect_call_lookup(host);
      sum = found[0](sum);
    }
  }
  return sum == 111;
}

/* ---- small functions ---- */

#pragma omp begin declare target indirect
__attribute__((minsize, noinline)) int small(int x) {
  return x + 1;
}
__attribute__((minsize, noinline)) int smaller(int x) {
  return x + 2;
}
#pragma omp end declare target

/* One begins less than a pointer's size behind the other. */
static int near_functions(void) {
  function_t *functions[] = {small, smaller};
  int sum = 0;
  for (int i = 0; i < 2; i++) {
    void *function = (void *)functions[i];
#pragma omp target map(tofrom : sum) firstprivate(function)
    sum = ((function_t *)__llvm_omp_indirect_call_lookup(function))(sum);
  }
  return sum == 3 && (uintptr_t)smaller - (uintptr_t)small < sizeof(void *);
}

/* ---- calls of the host ---- */

typedef struct question {
  int length;
  char text[100];
} question_t;

static unsigned long long answer(void *data) {
  const question_t *question = data;
  return strlen(question->text) == (size_t)question->length ? 1000003ull * (unsigned)question->length : 0;
}

static int calls(void) {
  enum { CALLS = 500 };
  static unsigned long long answers[CALLS];
  void *function = (void *)answer;
#pragma omp target teams distribute parallel for map(from : answers) firstprivate(function)
  for (int i = 0; i < CALLS; i++) {
    question_t question = {.length = i % 99};
    for (int j = 0; j < question.length; j++)
      question.text[j] = 'x';
    answers[i] = __llvm_omp_host_call(function, &question, sizeof question);
  }
  for (int i = 0; i < CALLS; i++)
    if (answers[i] != 1000003ull * (unsigned)(i % 99))
      return 0;
  return 1;
}

/* ---- reductions ---- */

static int reductions(void) {
  for (int n = 1; n <= 1000000; n *= 10) {
    double sum = 0;
    long most = -1;
#pragma omp target teams distribute parallel for reduction(+ : sum) reduction(max : most)
    for (int i = 0; i < n; i++) {
      sum += i;
      most = most > i ? most : i;
    }
    if (sum != (double)n * (n - 1) / 2 || most != n - 1)
      return 0;
  }
  return 1;
}

int main(void) {
  int right = tables() && near_functions() && calls() && reductions();
  puts(right ? "right" : "wrong");
  return !right;
}
