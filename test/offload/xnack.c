/* Unified shared memory on a device with XNACK: kernels work on any memory of the program, without maps and without
 * telling anybody. Starts itself again with HSA_XNACK=1 and a large BAR, as the runtime reads that before main. Not here:
 * devices without (unified.c). */
#include "check.h"

#include <unistd.h>

#pragma omp requires unified_shared_memory

enum { N = 5000, NODES = 300 };

typedef struct node {
  struct node *next;
  long value;
} node_t;

static int fixed[N];
static const char text[] = "constant";

static void use_heap(void) {
  double *a = malloc(N * sizeof *a);
  double *b = malloc(N * sizeof *b);
  for (int i = 0; i < N; i++)
    b[i] = i;
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    a[i] = 2 * b[i];
  for (int i = 0; i < N; i++)
    check_f64("heap", i, a[i], 2.0 * i);
  free(b);
  free(a);
}

static void use_stack_and_static(void) {
  int local[N];
  for (int i = 0; i < N; i++)
    local[i] = i;
  int *where = fixed;
#pragma omp target teams distribute parallel for map(tofrom : local) firstprivate(where)
  for (int i = 0; i < N; i++) {
    where[i] = local[i] + 1;
    local[i] = -i;
  }
  for (int i = 0; i < N; i++) {
    check_int("static", i, fixed[i], i + 1);
    check_int("stack", i, local[i], -i);
  }
}

/* A list is what maps cannot describe. */
static void follow_pointers(void) {
  node_t *first = NULL;
  for (int i = 0; i < NODES; i++) {
    node_t *node = malloc(sizeof *node);
    *node = (node_t){.next = first, .value = i};
    first = node;
  }
  long sum = 0;
#pragma omp target map(tofrom : sum)
  for (node_t *node = first; node; node = node->next) {
    sum += node->value;
    node->value *= 3;
  }
  check_int("sum of a list", 0, sum, NODES * (NODES - 1) / 2);
  for (long i = NODES - 1; first; i--) {
    node_t *next = first->next;
    check_int("list", i, first->value, 3 * i);
    free(first);
    first = next;
  }
}

/* Pages that nobody has touched, constants, and memory that another kernel's results are in. */
static void touch_first(void) {
  enum { PAGE = 4096 };
  long *fresh = aligned_alloc(PAGE, (N * sizeof *fresh + PAGE - 1) / PAGE * PAGE);
  const char *letters = text;
  int length = 0;
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    fresh[i] = i;
#pragma omp target map(from : length) firstprivate(letters)
  {
    length = 0;
    while (letters[length])
      length++;
  }
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    __atomic_fetch_add(&fresh[i / 2 * 2], 1, __ATOMIC_RELAXED);
  for (int i = 0; i < N; i++)
    check_int("pages that the device touched first", i, fresh[i], i % 2 ? i : i + 2);
  check_int("length of a constant", 0, length, (int)sizeof text - 1);
  free(fresh);
}

/* What omp_target_alloc returns is shared too (OpenMP 5.0, section 2.4). It is the device's own memory, which the host
 * reaches on cards with a large BAR. */
static void share_allocated(void) {
  long *memory = omp_target_alloc(N * sizeof *memory, omp_get_default_device());
  for (int i = 0; i < N; i++)
    memory[i] = i;
#pragma omp target teams distribute parallel for
  for (int i = 0; i < N; i++)
    memory[i] *= 2;
  for (int i = 0; i < N; i++)
    check_int("omp_target_alloc", i, memory[i], 2 * i);
  omp_target_free(memory, omp_get_default_device());
}

int main(int argc, char **argv) {
  (void)argc;
  if (!getenv("HSA_XNACK")) {
    setenv("HSA_XNACK", "1", 1);
    setenv("GFXSIM_HOST_VISIBLE", "1", 1);
    execv("/proc/self/exe", argv);
    perror("cannot start again with HSA_XNACK=1");
    return 1;
  }
  use_heap();
  use_stack_and_static();
  follow_pointers();
  touch_first();
  share_allocated();
  return check_done("xnack");
}
