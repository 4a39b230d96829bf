/* Divergent control flow: every thread takes a path of its own through loops, switches, gotos, early exits, short circuits
 * and selects; bytecode interpreters and state machines. */
#include "check.h"

enum { N = 1000 };

#pragma omp declare target
static int __attribute__((noinline)) switches(int x) {
  int r = 0;
  switch (x % 23) {
  case 0: return 7;
  case 1: r = x; break;
  case 2: r += 2; /* fall through */
  case 3: r += 3; /* fall through */
  case 4: r += x * 4; break;
  case 5:
    for (int i = 0; i < x % 11; i++)
      r += i == 5 ? 100 : 1;
    break;
  case 6: return switches(x / 2);
  case 7: r = -x; break;
  case 8: r = x << 3; break;
  case 9: r = x >> 2; break;
  case 10: r = x ^ 0x5555; break;
  case 11: r = ~x; break;
  case 12: r = x / 3; break;
  case 13: r = x % 3; break;
  case 20: r = 2020; break;
  default: r = -1;
  }
  switch (r) {
  case -100000: return 1;
  case 2020: return 2021;
  case 7000000: return 3;
  default: return r * 2;
  }
}

static int loops(int x) {
  int count = 0;
  for (int i = 0; i < x % 17; i++) {
    if (i == x % 5)
      continue;
    for (int j = i; j < 12; j++) {
      if ((i * j + x) % 13 == 0)
        break;
      if ((i + j) % 4 == 1)
        continue;
      int k = j;
      do {
        count += k & 3;
        if (count > 500)
          return -count;
        k -= 2;
      } while (k > 0);
    }
    while (count % 3 != 0)
      count++;
  }
  return count;
}

static int gotos(unsigned x) {
  int steps = 0;
start:
  steps++;
  if (steps > 60)
    goto out;
  if (x % 2 == 0) {
    x /= 2;
    goto start;
  }
  if (x % 3 == 0)
    goto three;
  x = x * 3 + 1;
  goto start;
three:
  x = x / 3 + 5;
  if (x > 7)
    goto start;
out:
  return steps * 1000 + (int)(x % 1000);
}

static int short_circuit(int a, int b, int *calls) {
  int r = 0;
  if ((a > 3 && b / (a - 3) > 2) || (a < 2 && ++*calls % 2 == 0))
    r |= 1;
  if (a % 2 ? b % 3 == 0 : (b % 5 == 0 && a % 7 != 3))
    r |= 2;
  r |= (a > b) ? (a > 2 * b) ? 4 : 8 : (b > 3 * a) ? 16 : 32;
  return r;
}

/* A small stack machine; each thread runs its own program. */
typedef struct machine {
  long stack[16];
  unsigned char code[64];
} machine_t;

static long __attribute__((noinline)) machine(machine_t *m, unsigned seed) {
  long *stack = m->stack;
  unsigned char *code = m->code;
  int depth = 0, pc = 0;
  for (int i = 0; i < 64; i++) {
    seed = seed * 1103515245u + 12345u;
    code[i] = (unsigned char)((seed >> 16) % 9);
  }
  long acc = 0;
  for (int steps = 0; steps < 200 && pc < 64; steps++) {
    long top = depth > 0 ? stack[depth - 1] : 1;
    switch (code[pc++]) {
    case 0:
      if (depth < 16)
        stack[depth++] = pc;
      break;
    case 1:
      if (depth > 1) {
        stack[depth - 2] += top;
        depth--;
      }
      break;
    case 2:
      if (depth > 1) {
        stack[depth - 2] = (stack[depth - 2] * top) % 10007;
        depth--;
      }
      break;
    case 3: acc += top; break;
    case 4:
      if (top % 2 == 0 && pc < 60)
        pc += 3;
      break;
    case 5:
      if (acc < 5000 && pc > 10 && steps < 150)
        pc -= 7;
      break;
    case 6:
      if (depth > 0)
        stack[depth - 1] = -top;
      break;
    case 7: acc ^= top << (depth % 8); break;
    default: acc = acc * 3 + depth;
    }
  }
  return acc;
}

/* Where lanes leave a loop one by one and meet again afterwards. */
static int leaving(int x) {
  int i = 0;
  while (1) {
    i += 1 + x % 3;
    if (i > x % 97)
      break;
    if (i % 31 == 30)
      return i * 100;
  }
  return i + x;
}
#pragma omp end declare target

int main(void) {
  static int s[N], l[N], g[N], c[N], v[N], counts[N];
  static long m[N];
#pragma omp target teams distribute parallel for map(from : s, l, g, c, v, m, counts)
  for (int i = 0; i < N; i++) {
    int calls = 0;
    s[i] = switches(i);
    l[i] = loops(i);
    g[i] = gotos((unsigned)i * 2654435761u);
    c[i] = short_circuit(i % 11, i % 37, &calls);
    counts[i] = calls;
    v[i] = leaving(i);
    machine_t state;
    m[i] = machine(&state, (unsigned)i);
  }
  for (int i = 0; i < N; i++) {
    int calls = 0;
    check_int("switches", i, s[i], switches(i));
    check_int("loops", i, l[i], loops(i));
    check_int("gotos", i, g[i], gotos((unsigned)i * 2654435761u));
    check_int("short circuit", i, c[i], short_circuit(i % 11, i % 37, &calls));
    check_int("calls", i, counts[i], calls);
    check_int("leaving", i, v[i], leaving(i));
    machine_t state;
    check_int("machine", i, m[i], machine(&state, (unsigned)i));
  }
  /* The same by one thread: branches on the scalar unit. */
  long total = 0, want = 0;
#pragma omp target map(from : total)
  {
    machine_t state;
    total = 0;
    for (int i = 0; i < 40; i++)
      total = total * 7 + switches(i) + loops(i) + gotos((unsigned)i) + machine(&state, (unsigned)i * 77) + leaving(i);
  }
  machine_t state;
  for (int i = 0; i < 40; i++)
    want = want * 7 + switches(i) + loops(i) + gotos((unsigned)i) + machine(&state, (unsigned)i * 77) + leaving(i);
  check_int("uniform", 0, total, want);
  return check_done("control");
}
