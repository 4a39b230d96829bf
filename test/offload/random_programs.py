#!/usr/bin/env python3
"""Writes OpenMP programs at random, compiles them with one clang, level and part after another, runs them on gfxsim,
and compares what each work-item computes with what the host computes from the same source. What is written is defined
by the C standard: a difference is a fault of the compiler's, of the plugin's or of gfxsim's.
Not here: programs that somebody thought about (the others in this folder)."""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

INTEGERS = {f"{sign}{bits}": (sign == "i", bits) for sign in "iu" for bits in (8, 16, 32, 64)}
REALS = {"f32": 24, "f64": 53}
TYPES = [*INTEGERS, *REALS]

# Programs, by seed, of which a version of clang is known to make something else on every part, and at which levels: it
# stores bytes by the mask of 16 bits (doc/targets.md). They have to go wrong: a row whose program passes is told of.
WRONG = {(54, "15"): ("O1", "O2", "O3")}

HEADER = r"""
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#pragma omp begin declare target

typedef int8_t i8;
typedef int16_t i16;
typedef int32_t i32;
typedef int64_t i64;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef float f32;
typedef double f64;

typedef struct item {
  i8 a; u8 b; i16 c; u16 d; i32 e; u32 f; i64 g; u64 h; f32 x; f64 y;
} item_t;
typedef struct pair {
  u32 low : 11, middle : 16;
  i32 high : 5;
  i64 wide;
  f64 real;
} pair_t;

/* Bits of a value; NaNs are all the same. */
static inline u64 bits_f64(f64 x) { u64 u; __builtin_memcpy(&u, &x, 8); return x != x ? 0x7ff8000000000000 : u; }
static inline u64 bits_f32(f32 x) { u32 u; __builtin_memcpy(&u, &x, 4); return x != x ? 0x7fc00000 : u; }

/* A value of 32 or 64 bits of which the compiler knows nothing: clang takes unsigned numbers with many ones on the left
 * for small negative ones when it divides and multiplies (doc/targets.md). */
#ifdef __AMDGCN__
#define OPAQUE(x) __extension__({ __typeof__(x) opaque = x; __asm__("" : "+v"(opaque)); opaque; })
#else
#define OPAQUE(x) (x)
#endif
#define PLAIN(x) (x)

/* What C leaves undefined gets some meaning. */
#define DIVISION(T, MIN, AS)                                                                                           \
  static inline T div_##T(T a, T b) { return b == 0 || (MIN && a == (T)MIN && b == (T)-1) ? a : (T)(AS(a) / AS(b)); }  \
  static inline T rem_##T(T a, T b) { return b == 0 || (MIN && a == (T)MIN && b == (T)-1) ? b : (T)(AS(a) % AS(b)); }
DIVISION(i8, INT8_MIN, PLAIN)
DIVISION(i16, INT16_MIN, PLAIN)
DIVISION(i32, INT32_MIN, PLAIN)
DIVISION(i64, INT64_MIN, PLAIN)
DIVISION(u8, 0, PLAIN)
DIVISION(u16, 0, PLAIN)
DIVISION(u32, 0, OPAQUE)
DIVISION(u64, 0, OPAQUE)
#define FROM_REAL(T, LOW, HIGH)                                                                                \
  static inline T T##_of_f64(f64 x) { return x > LOW && x < HIGH ? (T)x : 5; }                                 \
  static inline T T##_of_f32(f32 x) { return x > LOW##f && x < HIGH##f ? (T)x : 7; }
FROM_REAL(i8, -128.0, 127.0)
FROM_REAL(i16, -32768.0, 32767.0)
FROM_REAL(i32, -2147483648.0, 2147483392.0)
FROM_REAL(i64, -9223372036854775808.0, 9223371487098961920.0)
FROM_REAL(u8, 0.0, 255.0)
FROM_REAL(u16, 0.0, 65535.0)
FROM_REAL(u32, 0.0, 4294967040.0)
FROM_REAL(u64, 0.0, 18446742974197923840.0)
static inline f32 f32_of_f64(f64 x) { return (f32)x; }
static inline f64 f64_of_f32(f32 x) { return (f64)x; }
static inline f32 f32_of_f32(f32 x) { return x; }
static inline f64 f64_of_f64(f64 x) { return x; }
static inline u64 product(u64 a, u64 b) { return OPAQUE(a) * b; }
static inline u64 mulhi(u64 a, u64 b) { return (u64)((unsigned __int128)OPAQUE(a) * OPAQUE(b) >> 64); }
static inline i64 mulhi_signed(i64 a, i64 b) { return (i64)((__int128)OPAQUE(a) * OPAQUE(b) >> 64); }
"""

FOOTER = r"""
#pragma omp end declare target

static u64 next_random(u64 *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  u64 x = *state ^ *state >> 33;
  x *= 0xff51afd7ed558ccdu;
  return x ^ x >> 29;
}

/* Any bits, small numbers, and the ends of the range. */
static u64 integer(u64 *state) {
  static const u64 special[] = {0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, 0xffffffff,
                                0x7fffffffffffffff, 0x8000000000000000, 0xffffffffffffffff};
  const u64 how = next_random(state) % 4;
  const u64 value = next_random(state);
  return how == 0 ? special[value % 14] : how == 1 ? value % 100 : how == 2 ? -(value % 100) : value;
}

static f64 real(u64 *state) {
  static const f64 special[] = {0, -0.0, 1, -1, 0.5, 1e-310, -1e-40, 1e300, 3e38, 16777217, 9007199254740993, 1.0 / 3};
  const u64 how = next_random(state) % 3;
  const u64 value = next_random(state);
  if (how == 0)
    return special[value % 12];
  if (how == 1)
    return (f64)(int64_t)value / 65536.0 / 65536.0 / 65536.0;
  return (f64)(int)(value % 2001) - 1000;
}

static item_t in[ITEMS];
static u64 table[256];

static int differences;
static void compare(const char *what, int i, int word, u64 device, u64 host) {
  if (device != host && differences++ < 10)
    printf("%s, item %d, word %d: 0x%016llx on the device, 0x%016llx on the host\n", what, i, word,
           (unsigned long long)device, (unsigned long long)host);
}

int main(void) {
  u64 state = SEED;
  if (omp_get_num_devices() < 1)
    return 2;
  for (int i = 0; i < 256; i++)
    table[i] = integer(&state);
  for (int i = 0; i < ITEMS; i++) {
    item_t *p = &in[i];
    *p = (item_t){(i8)integer(&state), (u8)integer(&state), (i16)integer(&state), (u16)integer(&state),
                  (i32)integer(&state), (u32)integer(&state), (i64)integer(&state), integer(&state),
                  (f32)real(&state), real(&state)};
  }
  REGIONS
  if (differences)
    printf("%d differences\n", differences);
  return differences != 0;
}
"""

REGION = r"""
static u64 out_{k}[ITEMS][WORDS];
static void region_{k}(void) {{
  u32 *counts = calloc(16, sizeof *counts), wanted[16] = {{0}};
  u64 sum = 0, mix = 0, host_sum = 0, host_mix = 0;
  i64 most = INT64_MIN, host_most = INT64_MIN;
#pragma omp target teams distribute parallel for {clauses} map(to : in, table) map(from : out_{k}) \
    map(tofrom : counts[0 : 16]) {reductions}
  for (int i = 0; i < ITEMS; i++) {{
    u64 words[WORDS];
    item_{k}(i, &in[i], in, table, words);
    for (int w = 0; w < WORDS; w++)
      out_{k}[i][w] = words[w];
#pragma omp atomic update
    counts[words[0] & 15] += (u32)words[1];
    {reduce}
  }}
  for (int i = 0; i < ITEMS; i++) {{
    u64 words[WORDS];
    item_{k}(i, &in[i], in, table, words);
    for (int w = 0; w < WORDS; w++)
      compare("region {k}", i, w, out_{k}[i][w], words[w]);
    wanted[words[0] & 15] += (u32)words[1];
    host_sum += words[0];
    host_mix ^= words[1];
    host_most = (i64)words[2] > host_most ? (i64)words[2] : host_most;
  }}
  for (int i = 0; i < 16; i++)
    compare("atomics of region {k}", i, 0, counts[i], wanted[i]);
  if ({has_reduction}) {{
    compare("sum of region {k}", 0, 0, sum, host_sum);
    compare("mix of region {k}", 0, 0, mix, host_mix);
    compare("maximum of region {k}", 0, 0, (u64)most, (u64)host_most);
  }}
  free(counts);
}}
"""

REDUCE = "sum += words[0]; mix ^= words[1]; most = (i64)words[2] > most ? (i64)words[2] : most;"
ITEM_FIELDS = [("a", "i8"), ("b", "u8"), ("c", "i16"), ("d", "u16"), ("e", "i32"), ("f", "u32"), ("g", "i64"),
               ("h", "u64"), ("x", "f32"), ("y", "f64")]
PAIR_FIELDS = [("low", "u32"), ("middle", "u32"), ("high", "i32"), ("wide", "i64"), ("real", "f64")]
REAL_CONSTANTS = ["0.0", "-0.0", "1.0", "-1.0", "0.5", "3.0", "1e-3", "1e9", "1e30", "1e-38", "-2.75"]
INTEGER_OPERATIONS = ["+", "-", "*", "*", "&", "|", "^", "<<", ">>", "/", "%", "~", "neg", "min", "max", "count",
                      "bits", "compare", "rotate", "high", "abs"]
CLAUSES = ["", "num_teams(3)", "thread_limit(128)", "num_teams(2) thread_limit(64)", "dist_schedule(static, 7)",
           "schedule(static, 3)", "collapse(1)"]
COMPILER_CRASHES = "the compiler crashes"
WORDS = 6
MOST_COST = 3000  # evaluations per work-item, estimated


class Function:
    """Writes the body of one function. Everything it writes has a value that C defines."""

    def __init__(self, rng, functions, arguments, has_item):
        self.rng = rng
        self.functions = functions  # (name, type, argument types, cost) of those written before
        self.variables = dict(arguments)  # name: type
        self.constant = set()  # of those, what may not be written to: loop counters
        self.arrays = {}  # name: (type, a power of two)
        self.pairs = []
        self.has_item = has_item
        self.lines = []
        self.indent = 1
        self.weight = 1  # iterations of the loops around
        self.cost = 0
        self.names = 0

    def put(self, text):
        self.lines.append("  " * self.indent + text)

    def name(self):
        self.names += 1
        return f"v{self.names}"

    # ---- expressions ----

    def constant_of(self, kind):
        if kind in REALS:
            suffix = "f" if kind == "f32" else ""
            value = self.rng.choice(REAL_CONSTANTS)
            return f"({value}{suffix})"
        signed, bits = INTEGERS[kind]
        value = self.rng.choice([0, 1, 2, 3, 7, (1 << bits) - 1, 1 << (bits - 1), self.rng.getrandbits(bits),
                                 self.rng.getrandbits(6)])
        return f"(({kind})0x{value:x}u)" if bits < 64 else f"(({kind})0x{value:x}ull)"

    def convert(self, text, source, kind):
        if source == kind:
            return text
        if source in REALS:
            return f"{kind}_of_{source}({text})"
        return f"(({kind}){text})"

    def leaf(self, kind):
        choice = self.rng.random()
        if choice < 0.15:
            return self.constant_of(kind)
        if choice < 0.3 and self.has_item:
            field, source = self.rng.choice(ITEM_FIELDS)
            return self.convert(f"own->{field}", source, kind)
        if choice < 0.38 and self.pairs:
            field, source = self.rng.choice(PAIR_FIELDS)
            return self.convert(f"{self.rng.choice(self.pairs)}.{field}", source, kind)
        same = [name for name, source in self.variables.items() if source == kind]
        if same and self.rng.random() < 0.6:
            return self.rng.choice(same)
        if not self.variables:
            return self.constant_of(kind)
        name, source = self.rng.choice(list(self.variables.items()))
        return self.convert(name, source, kind)

    def expression(self, kind, depth):
        self.cost += self.weight
        if depth <= 0 or self.rng.random() < 0.1:
            return self.leaf(kind)
        choice = self.rng.random()
        if choice < 0.08:
            condition, yes = self.condition(depth - 1), self.expression(kind, depth - 1)
            return f"({condition} ? {yes} : {self.expression(kind, depth - 1)})"
        if choice < 0.16:
            call = self.call(kind, depth)
            if call:
                return call
        if choice < 0.22 and self.arrays:
            name, (source, size) = self.rng.choice(list(self.arrays.items()))
            return self.convert(f"{name}[{self.expression('u32', depth - 1)} & {size - 1}]", source, kind)
        if choice < 0.26 and self.has_item:
            return self.convert(f"table[{self.expression('u8', depth - 1)}]", "u64", kind)
        if choice < 0.28 and self.has_item:
            return self.neighbour(kind, depth)
        if choice < 0.4:
            source = self.rng.choice(TYPES)
            return self.convert(self.expression(source, depth - 1), source, kind)
        return self.real(kind, depth) if kind in REALS else self.integer(kind, depth)

    def neighbour(self, kind, depth):
        field, source = self.rng.choice(ITEM_FIELDS[3:])
        return self.convert(f"all[{self.expression('u32', depth - 1)} % ITEMS].{field}", source, kind)

    def call(self, kind, depth):
        usable = [f for f in self.functions if f[1] == kind and (self.cost + f[3] * self.weight) < MOST_COST]
        if not usable:
            return None
        name, _, kinds, cost = self.rng.choice(usable)
        self.cost += cost * self.weight
        return f"{name}({', '.join(self.expression(k, depth - 2) for k in kinds)})"

    def condition(self, depth):
        kind = self.rng.choice(TYPES)
        relation = self.rng.choice(["<", ">", "<=", ">=", "==", "!="])
        text = f"{self.expression(kind, depth)} {relation} {self.expression(kind, depth)}"
        if self.rng.random() < 0.2:
            other = self.rng.choice(TYPES)
            join, left = self.rng.choice(["&&", "||"]), self.expression(other, depth)
            text = f"({text}) {join} ({left} < {self.expression(other, depth)})"
        return f"({text})"

    def integer(self, kind, depth):
        signed, bits = INTEGERS[kind]
        wide = "u64" if bits == 64 else "u32"
        a = self.expression(kind, depth - 1)
        operation = self.rng.choice(INTEGER_OPERATIONS)
        if operation == "*" and bits == 64:
            return f"(({kind})product(({wide}){a}, ({wide}){self.expression(kind, depth - 1)}))"
        if operation in "+-*&|^" and len(operation) == 1:
            return f"(({kind})(({wide}){a} {operation} ({wide}){self.expression(kind, depth - 1)}))"
        if operation in ("<<", ">>"):
            left = f"({wide}){a}" if operation == "<<" else a
            return f"(({kind})({left} {operation} ({self.expression('u32', depth - 2)} & {bits - 1})))"
        if operation in "/%":
            return f"{'div' if operation == '/' else 'rem'}_{kind}({a}, {self.expression(kind, depth - 1)})"
        if operation == "~":
            return f"(({kind})~{a})"
        if operation == "neg":
            return f"(({kind})(0 - ({wide}){a}))"
        if operation in ("min", "max"):
            x, y = self.bind(kind, a), self.bind(kind, self.expression(kind, depth - 1))
            return f"({x} {'<' if operation == 'min' else '>'} {y} ? {x} : {y})"
        if operation == "abs":
            x = self.bind(kind, a)
            return f"({x} < {self.constant_of(kind)} ? ({kind})(0 - ({wide}){x}) : {x})"
        unsigned, long = f"u{max(bits, 32)}", "ll" if bits == 64 else ""
        if operation == "count":
            x = self.bind(unsigned, self.convert(a, kind, unsigned))
            counter = self.rng.choice(["clz", "ctz", "popcount"])
            return f"(({kind})({x} ? __builtin_{counter}{long}({x}) : {bits}))"
        if operation == "bits":
            turn = self.rng.choice(["bswap", "bitreverse"])
            return f"(({kind})__builtin_{turn}{max(bits, 32)}(({unsigned}){a}))"
        if operation == "compare":
            return f"(({kind}){self.condition(depth - 1)})"
        if operation == "rotate":
            x = self.bind(unsigned, self.convert(a, kind, unsigned))
            n = self.bind("u32", f"{self.expression('u32', depth - 2)} % {max(bits, 32) - 1} + 1")
            return f"(({kind})({x} << {n} | {x} >> ({max(bits, 32)} - {n})))"
        other = self.expression("u64" if not signed else "i64", depth - 1)
        return f"(({kind})mulhi{'_signed' if signed else ''}({a}, {other}))"

    def real(self, kind, depth):
        suffix = "f" if kind == "f32" else ""
        a = self.expression(kind, depth - 1)
        operation = self.rng.choice(["+", "-", "*", "*", "/", "neg", "abs", "round", "fma", "min", "integer"])
        if operation in "+-*/":
            return f"({a} {operation} {self.expression(kind, depth - 1)})"
        if operation == "neg":
            return f"(-{a})"
        if operation == "abs":
            return f"__builtin_fabs{suffix}({a})"
        if operation == "round":
            return f"__builtin_{self.rng.choice(['floor', 'ceil', 'trunc', 'rint'])}{suffix}({a})"
        if operation == "fma":
            return f"__builtin_fma{suffix}({a}, {self.expression(kind, depth - 1)}, {self.expression(kind, depth - 1)})"
        if operation == "min":
            x, y = self.bind(kind, a), self.bind(kind, self.expression(kind, depth - 1))
            return f"({x} {self.rng.choice('<>')} {y} ? {x} : {y})"
        source = self.rng.choice(list(INTEGERS))
        return f"(({kind}){self.expression(source, depth - 1)})"

    def bind(self, kind, text):
        """A name for a value that is needed more than once. Only where a statement may stand before the expression."""
        name = self.name()
        self.put(f"const {kind} {name} = {text};")
        return name

    # ---- statements ----

    def declare(self):
        choice = self.rng.random()
        name = self.name()
        if choice < 0.12:
            kind, size = self.rng.choice(TYPES), self.rng.choice([4, 8, 16])
            self.put(f"{kind} {name}[{size}] = {{{self.leaf(kind)}, {self.leaf(kind)}}};")
            self.arrays[name] = (kind, size)
        elif choice < 0.2:
            low, high, wide, real = (self.expression(k, 1) for k in ("u32", "i32", "i64", "f64"))
            self.put(f"pair_t {name} = {{{low} & 2047, 9, {high} & 15, {wide}, {real}}};")
            self.pairs.append(name)
        else:
            kind = self.rng.choice(TYPES)
            text = self.expression(kind, 3)
            self.put(f"{kind} {name} = {text};")
            self.variables[name] = kind

    def assign(self):
        choice = self.rng.random()
        if choice < 0.2 and self.arrays:
            name, (kind, size) = self.rng.choice(list(self.arrays.items()))
            place = f"{name}[{self.expression('u32', 1)} & {size - 1}]"
        elif choice < 0.3 and self.pairs:
            field, kind = self.rng.choice([("low", "u32"), ("middle", "u32"), ("wide", "i64"), ("real", "f64")])
            place = f"{self.rng.choice(self.pairs)}.{field}"
        else:
            names = [n for n in self.variables if n not in self.constant]
            if not names:
                return
            place = self.rng.choice(names)
            kind = self.variables[place]
        text = self.expression(kind, 4)
        self.put(f"{place} = {text};")

    def block(self, count):
        """Statements between braces; what they declare is gone afterwards."""
        before = dict(self.variables), dict(self.arrays), list(self.pairs)
        self.indent += 1
        for _ in range(count):
            self.statement()
        self.indent -= 1
        self.variables, self.arrays, self.pairs = before

    def branch(self):
        condition = self.condition(2)
        self.put(f"if {condition} {{")
        self.block(self.rng.randint(1, 3))
        if self.rng.random() < 0.5:
            self.put("} else {")
            self.block(self.rng.randint(1, 3))
        self.put("}")

    def select(self):
        value = self.expression("u32", 2)
        self.put(f"switch ({value} % 7) {{")
        for case in self.rng.sample(range(7), self.rng.randint(2, 5)):
            self.put(f"case {case}: {{")
            self.block(1)
            self.put("}" if self.rng.random() < 0.25 else "} break;")
        self.put("default: {")
        self.block(1)
        self.put("} break;")
        self.put("}")

    def loop(self):
        name = self.name()
        trips = self.rng.choice([2, 3, 5, 8])
        limit = str(trips) if self.rng.random() < 0.4 else f"({self.expression('u32', 2)} % {trips + 1})"
        bound = self.bind("u32", limit)
        self.put(f"for (u32 {name} = 0; {name} < {bound}; {name}++) {{")
        self.variables[name] = "u32"
        self.constant.add(name)
        outer, self.weight = self.weight, self.weight * trips
        self.block(self.rng.randint(1, 2))
        if self.rng.random() < 0.4:
            self.indent += 1
            condition = self.condition(2)
            self.put(f"if {condition}")
            self.put(f"  {self.rng.choice(['break', 'continue'])};")
            self.indent -= 1
        self.block(1)
        self.put("}")
        self.weight = outer
        del self.variables[name]

    def statement(self):
        choice = self.rng.random()
        if choice < 0.3 or self.indent > 4:
            self.declare()
        elif choice < 0.65:
            self.assign()
        elif choice < 0.8:
            self.branch()
        elif choice < 0.86:
            self.select()
        elif self.weight < 40 and self.cost < MOST_COST:
            self.loop()
        else:
            self.assign()


def write_function(rng, functions, index):
    kind = rng.choice(TYPES)
    kinds = [rng.choice(TYPES) for _ in range(rng.randint(1, 5))]
    f = Function(rng, functions, {f"a{i}": k for i, k in enumerate(kinds)}, False)
    for _ in range(rng.randint(2, 6)):
        f.statement()
    result = f.expression(kind, 3)
    name = f"function_{index}"
    how = rng.choice(["static", "static inline", "static __attribute__((noinline))"])
    arguments = ", ".join(f"{k} a{i}" for i, k in enumerate(kinds))
    functions.append((name, kind, kinds, f.cost))
    return [f"{how} {kind} {name}({arguments}) {{", *f.lines, f"  return {result};", "}"]


def write_item(rng, functions, k):
    f = Function(rng, functions, {"i": "i32"}, True)
    f.constant.add("i")
    for _ in range(rng.randint(6, 14)):
        f.statement()
    for word in range(WORDS):
        kind = rng.choice(TYPES)
        text = f.expression(kind, 3)
        f.put(f"words[{word}] = {f'bits_{kind}({text})' if kind in REALS else f'(u64){text}'};")
    head = f"static void item_{k}(i32 i, const item_t *own, const item_t *all, const u64 *table, u64 *words) {{"
    return [head, *f.lines, "}"]


def write_program(seed):
    """The program of this seed, always the same."""
    rng = random.Random(seed)
    functions, text = [], []
    regions = rng.randint(1, 3)
    for index in range(rng.randint(2, 5)):
        text += write_function(rng, functions, index)
    for k in range(regions):
        text += write_item(rng, functions, k)
    bodies = []
    for k in range(regions):
        clauses = rng.choice(CLAUSES)
        has_reduction = rng.random() < 0.5
        reductions = "reduction(+ : sum) reduction(^ : mix) reduction(max : most)" if has_reduction else ""
        bodies.append(REGION.format(k=k, clauses=clauses, reductions=reductions, reduce=REDUCE if has_reduction else "",
                                    has_reduction=int(has_reduction)))
    items = rng.choice([1, 63, 64, 200, 333])
    head = f"/* random_programs.py --seed={seed} */\nenum {{ ITEMS = {items}, WORDS = {WORDS} }};\n"
    calls = " ".join(f"region_{k}();" for k in range(regions))
    before, after = FOOTER.split("int main(void)")
    after = after.replace("REGIONS", calls).replace("SEED", str(seed))
    return head + HEADER + "\n".join(text) + before + "".join(bodies) + "\nint main(void)" + after


def run_one(options, scratch, number):
    """Compiles and runs one program. Returns its place in the list of combinations, and what went wrong or None."""
    seed = options.seed + number
    version, level, part = options.combinations[number % len(options.combinations)]
    what = f"--seed={seed} --versions={version} --levels={level} --parts={part}"
    source = os.path.join(scratch, f"random_{seed}.c")
    program = os.path.join(scratch, f"random_{seed}")
    with open(source, "w", encoding="ascii") as file:
        file.write(write_program(seed))
    # In CUDA mode variables are a thread's own: the team's stack has no room for all of them (doc/targets.md).
    compiler = [os.path.join(ROOT, "script", "omp-cc"), "-v", version, "-g", part, f"-{level}"]
    runner = [os.path.join(options.build, "bin", "gfxsim-run"), f"--devices={part}", f"--plugin={options.plugin}"]
    try:
        done = subprocess.run([*compiler, "-w", "-ffp-contract=off", "-fopenmp-cuda-mode", source, "-o", program],
                              capture_output=True, text=True, errors="replace", timeout=600, check=False)
        if done.returncode:
            crashed = "diagnostic msg:" in done.stderr
            return what, f"{COMPILER_CRASHES if crashed else 'does not compile'}:\n{done.stderr[-2000:]}"
        environment = dict(os.environ, OMP_TARGET_OFFLOAD="MANDATORY", KMP_WARNINGS="0")
        done = subprocess.run([*runner, program], capture_output=True, text=True, errors="replace",
                              timeout=options.timeout, env=environment, check=False)
        if done.returncode:
            return what, f"status {done.returncode}:\n{(done.stdout + done.stderr)[:2000]}"
    except subprocess.TimeoutExpired as late:
        return what, f"takes more than {late.timeout} s: {' '.join(late.cmd)}"
    os.unlink(program)
    os.unlink(source)
    return what, None


def weigh(what, wrong):
    """What a run is taken for, where a compiler is known to be wrong."""
    seed, version, level, _ = (word.split("=")[1] for word in what.split())
    if level not in WRONG.get((int(seed), version), ()):
        return wrong
    if wrong and wrong.startswith("status 1:"):
        return None
    return wrong or "passes, and is in the list of those that a compiler makes wrong"


def rocr_text():
    """The bytes of this system's ROCr, which has the names of the parts that it knows."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], check=True, text=True, stdout=subprocess.PIPE).stdout
    with open(re.search(r"libhsa-runtime64\.so\.1 .*=> (.*)", listed).group(1), "rb") as file:
        return file.read()


def all_parts(build):
    lines = subprocess.run([os.path.join(build, "bin", "gfxsim-run"), "--list-devices"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout.splitlines()
    known = rocr_text()
    parts = [line.split()[0] for line in lines]
    return " ".join(part for part in parts if part not in ("gfx942", "mi300a")  # which clang 14 to 16 do not know
                    and f"amdgcn-amd-amdhsa--{part}".encode() in known)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0].replace("\n", " "))
    parser.add_argument("--seed", type=int, default=1, help="of the first program (default 1)")
    parser.add_argument("--count", type=int, default=1, help="programs (default 1)")
    parser.add_argument("--versions", default="14 15 16", help="of clang and libomptarget (default: 14 15 16)")
    parser.add_argument("--levels", default="O0 O1 O2 O3", help="default: O0 O1 O2 O3")
    parser.add_argument("--parts", help="default: all that gfxsim, ROCr and clang 14 to 16 have")
    parser.add_argument("--plugin", default="ours", help="as gfxsim-run's (default: ours)")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="default: build/release")
    parser.add_argument("--keep", metavar="DIR", help="where the programs that fail go (default: nowhere)")
    parser.add_argument("--print", action="store_true", help="print the program of --seed, and run nothing")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (default 1)")
    parser.add_argument("--timeout", type=int, default=120, help="seconds that a program may take (default 120)")
    options = parser.parse_args()
    if not options.parts and not options.print:
        options.parts = all_parts(options.build)
    # LLVM 14's runtime has no memory for what its compiler makes team-local at -O0 (doc/targets.md).
    options.combinations = [(v, level, part) for v in options.versions.split() for level in options.levels.split()
                            for part in (options.parts or "").split() if (v, level) != ("14", "O0")]
    random.Random(0).shuffle(options.combinations)
    return options


def main():
    options = parse_options()
    if options.print:
        print(write_program(options.seed))
        return 0
    failed = crashed = 0
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(options.jobs) as pool:
        for what, wrong in pool.map(lambda number: run_one(options, scratch, number), range(options.count)):
            wrong = weigh(what, wrong)
            crashed += bool(wrong) and wrong.startswith(COMPILER_CRASHES)
            failed += bool(wrong) and not wrong.startswith(COMPILER_CRASHES)
            if wrong:
                print(f"{what}: {wrong}", flush=True)
        if options.keep and failed:
            shutil.copytree(scratch, options.keep, dirs_exist_ok=True)
    passed = options.count - failed - crashed
    print(f"random_programs.py: {passed} of {options.count} pass; the compiler crashes on {crashed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
