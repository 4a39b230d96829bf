/* Constructs of all kinds, for LIBOMPTARGET_INFO: its lines are compared with those of LLVM's library. */
typedef struct {
  int *p;
  int n;
} pair_t;

void __tgt_set_info_flag(unsigned flags);

static int a[16], b[16], c[32];

#pragma omp declare target
int global;
#pragma omp end declare target

static void add(int *p) {
#pragma omp target map(tofrom : p [0:1])
  ++*p;
#pragma omp target update to(p [0:1])
}

/* Regions that have come before show what is wanted now. */
static void change_flags(void) {
  static const unsigned flags[] = {0, 0, 1, 0, 111, 0, 32};
#pragma omp target enter data map(to : a)
  for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
    __tgt_set_info_flag(flags[i]);
    add(a);
  }
#pragma omp target exit data map(delete : a)
}

int main(void) {
  int value = 1, *p = a;
  pair_t pair = {a, 16};
#pragma omp target enter data map(to : a)
#pragma omp target data map(tofrom : b) map(alloc : c [0:16])
  {
#pragma omp target map(tofrom : a, value) map(always, from : b)
    a[0] = b[0] = value++;
#pragma omp target firstprivate(value)
    p[1] = value;
#pragma omp target update from(b) to(a)
#pragma omp target update from(c [0:4])
#pragma omp target map(tofrom : pair)
    pair.n = 2;
#pragma omp target map(tofrom : a [4:8])
    a[5] = 1;
#pragma omp target
    global = 3;
  }
#pragma omp target exit data map(from : a)
#pragma omp target exit data map(from : a)
#pragma omp target exit data map(delete : b)
  change_flags();
  return 0;
}
