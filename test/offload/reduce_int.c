/* Every reduction operator on one integer type, over teams or over the threads of one team. Built once per type:
 * clang-16's device link takes much more time and memory with every reduction in a program.
 *   REDUCE_TYPE      the type, e.g. int32_t
 *   REDUCE_PARALLEL  defined: `target parallel for`, otherwise `target teams distribute parallel for` */
#include "check.h"

#ifndef REDUCE_TYPE
#define REDUCE_TYPE int32_t
#endif
#ifdef REDUCE_PARALLEL
#define CONSTRUCT target parallel for
#define PROGRAM "reduce parallel " TEXT(REDUCE_TYPE)
#else
#define CONSTRUCT target teams distribute parallel for
#define PROGRAM "reduce teams " TEXT(REDUCE_TYPE)
#endif
#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x

typedef REDUCE_TYPE type_t;

enum { N = 3000 };

static type_t in[N];

/* One operator. `update` is the loop body on `acc` and `v`; the same text runs on the host. */
#define REDUCE(name, op, start, update)                                                                      \
  static void reduce_##name(void) {                                                                          \
    type_t acc = (start);                                                                                    \
    for (int i = 0; i < N; i++) {                                                                            \
      type_t v = in[i];                                                                                      \
      update;                                                                                                \
    }                                                                                                        \
    type_t want = acc;                                                                                       \
    acc = (start);                                                                                           \
    OMP(CONSTRUCT reduction(op : acc) map(to : in) map(tofrom : acc))                                        \
    for (int i = 0; i < N; i++) {                                                                            \
      type_t v = in[i];                                                                                      \
      update;                                                                                                \
    }                                                                                                        \
    check_int(#name, 0, (long long)acc, (long long)want);                                                    \
  }

REDUCE(add, +, 5, acc += v)
REDUCE(mul, *, 3, acc *= v | 1)
REDUCE(and, &, (type_t)-1, acc &= v | 0x11)
REDUCE(or, |, 0, acc |= v & 0x5a)
REDUCE(xor, ^, 9, acc ^= v)
REDUCE(land, &&, 1, acc = acc && v != 77)
REDUCE(lor, ||, 0, acc = acc || v == 77)
REDUCE(min, min, in[0], acc = acc < v ? acc : v)
REDUCE(max, max, in[0], acc = acc > v ? acc : v)

int main(void) {
  uint64_t seed = 2463534242;
  for (int i = 0; i < N; i++)
    in[i] = (type_t)check_random(&seed);
  reduce_add();
  reduce_mul();
  reduce_and();
  reduce_or();
  reduce_xor();
  reduce_land();
  reduce_lor();
  in[N / 3] = 77;
  reduce_land();
  reduce_lor();
  reduce_min();
  reduce_max();
  return check_done(PROGRAM);
}
