#!/usr/bin/env python3
"""Random programs of maps, which run with LLVM's libomptarget and with ours: the host's data and what is mapped must be the same
after each construct, and where one ends the program, so must the other. What LLVM's does wrong is left out, see LEFT OUT."""

import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

PREFACE = r"""
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
typedef struct { int n; double *p; int *q; double list[8]; float last; } part_t;
typedef struct { int k; part_t in; part_t *next; double *d; } whole_t;
static double a[64], b[64][8], *p;
static int c[64], *q;
static part_t s[4], *sp;
static whole_t t;
#pragma omp begin declare target
double g[32];
int h = 3;
#pragma omp end declare target
static void *made(size_t bytes) {
  void *memory = calloc(1, bytes);
  if (!memory)
    exit(2);
  return memory;
}
static void make_part(part_t *x, int k) {
  *x = (part_t){.n = k, .p = made(16 * sizeof *x->p), .q = made(16 * sizeof *x->q), .last = 4};
  for (int i = 0; i < 16; i++) x->p[i] = k * 50 + i, x->q[i] = k * 9 + i, x->list[i & 7] = i + k;
}
static void make(void) {
  p = made(64 * sizeof *p), q = made(64 * sizeof *q), sp = made(4 * sizeof *sp);
  for (int i = 0; i < 64; i++) a[i] = i + .5, c[i] = 3 * i, p[i] = 100 + i, q[i] = 7 * i;
  for (int i = 0; i < 512; i++) b[i / 8][i % 8] = i;
  for (int i = 0; i < 32; i++) g[i] = i;
  for (int k = 0; k < 4; k++) make_part(&s[k], k), make_part(&sp[k], k + 4);
  t = (whole_t){.k = 5, .in = s[3], .next = made(sizeof *t.next), .d = made(8 * sizeof *t.d)};
#pragma omp target update to(g, h)
}
static double sum_of(const part_t *x) {
  double sum = x->n + x->last;
  for (int i = 0; i < 16; i++) sum += x->p[i] * (i + 1) + x->q[i] * (i + 2) + x->list[i & 7] * (i + 3);
  return sum;
}
static void show(int step) {
  double sums[8] = {h, 0, 0, 0, 0, t.k + t.in.n, 0, 0};
  for (int i = 0; i < 64; i++) sums[1] += a[i] * (i + 1), sums[2] += c[i] * (i + 1), sums[3] += p[i] * (i + 1), sums[4] += q[i] * (i + 1);
  for (int i = 0; i < 512; i++) sums[6] += b[i / 8][i % 8] * (i + 1);
  for (int i = 0; i < 32; i++) sums[0] += g[i] * (i + 1);
  for (int i = 0; i < 8; i++) sums[5] += t.in.list[i] * (i + 1) + t.next->list[i] * (i + 9) + t.d[i] * (i + 5);
  for (int k = 0; k < 4; k++) sums[7] += sum_of(&s[k]) * (k + 1) + sum_of(&sp[k]) * (k + 5);
  printf("%d:", step);
  for (int i = 0; i < 8; i++) printf(" %.12g", sums[i]);
  const void *places[] = {&a[20], &b[4], &c[20], &p[20], &q[20], &s[1], s[1].p, &sp[2], sp[2].q, &t, t.in.p, t.next, t.d};
  printf(" ");
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) printf("%d", omp_target_is_present(places[i], omp_get_default_device()));
  puts("");
  fflush(stdout);
}
"""


class Item:
    """A list item: what is mapped, what a region does with it, what an update names."""

    def __init__(self, root, text, bodies, updates):
        self.root, self.text, self.bodies, self.updates = root, text, bodies, updates
        self.attaches = bool(re.search(r"\.[pqd]\[|next", text))


def array(rand, name, version):
    low, count = rand.choice([0, 8, 16]), rand.choice([16, 32])
    first = low + rand.randrange(count // 2)
    some = rand.randrange(4, count - (first - low) + 1)
    bodies = [f"for (int i = {low}; i < {low + count}; i++) {name}[i] = {name}[i] * 3 + i % 7;",
              f"for (int i = {first}; i < {first + some}; i += 2) {name}[i] -= 5;", f"{name}[{low + rand.randrange(count)}] += 9;"]
    updates = [f"{name}[{low}:{count}]", f"{name}[{first}:{some}]"] + [f"{name}[{first}:{some // 2}:2]"] * (version >= 22)
    return Item(name, f"{name}[{low}:{count}]", bodies, updates)


def structs(rand, version):
    """LEFT OUT: with clang 22 and later a pointer is not mapped with its pointee, so s must be there as a whole."""
    adds = ["for (int i = 0; i < 16; i++) s[1].p[i] += 2;", "for (int i = 4; i < 12; i++) s[1].q[i] ^= 5;"]
    kinds = {
        "whole": [Item("s", "s", ["for (int k = 0; k < 4; k++) s[k].n += 2, s[k].list[k] *= 2;"], ["s", "s[1]", "s[1].n", "s[1:2]", "s[2].list[2:3]"]),
                  Item("s", "s, s[1].p[0:16]", [adds[0], "s[1].n++;"], ["s[1].p[2:5]", "s[1].p[0:16]"])],
        "members": [Item("s", "s[1].p[0:16]", [adds[0]], ["s[1].p[2:5]", "s[1].p[0:16]"]),
                    Item("s", "s[1].n, s[1].p[0:16], s[1].q[4:8]", [adds[0], adds[1]], ["s[1].p[2:5]", "s[1].n", "s[1].q[4:8]"]),
                    Item("s", "s[1].n, s[1].list, s[1].last", ["s[1].n += 3; s[1].list[2] = 7; s[1].last++;"], ["s[1].list", "s[1].n"])],
        "section": [Item("sp", "sp[0:4]", ["for (int k = 0; k < 4; k++) sp[k].n++;", "sp[2].list[5] = 3;"], ["sp[1:2]", "sp[0].list", "sp[2].n"]),
                    Item("sp", "sp[0:4], sp[2].q[0:16]", ["for (int i = 0; i < 16; i++) sp[2].q[i] += 5;", "sp[2].n *= 2;"],
                         ["sp[2].q[3:4]", "sp[0:4]"])],
    }
    outer = [Item("t", "t", ["t.k += 3; t.in.list[1]++; t.in.n *= 2;"], ["t", "t.in", "t.k", "t.in.list[1:2]"]),
             Item("t", "t, t.in.p[0:16]", ["t.k += 3; for (int i = 0; i < 16; i++) t.in.p[i] *= 2;"], ["t.in.p[0:16]", "t.k"]),
             Item("t", "t, t.next[0:1], t.d[0:4]", ["t.k++; t.next->n += 2; t.next->list[0] -= 1; t.d[1] += 2;"],
                  ["t.next[0:1]", "t.next->list[1:3]", "t.d[0:4]", "t.k"])]
    return kinds[rand.choice(["whole", "section"] if version >= 22 else list(kinds))] + [rand.choice(outer)]


class Program:
    def __init__(self, seed, version):
        self.rand, self.version, self.depth, self.step, self.lines = random.Random(seed), version, 0, 0, []
        self.items = [array(self.rand, name, version) for name in self.rand.sample("acpq", 2)] + structs(self.rand, version)
        self.items.append(Item("b", "b[4:8]", ["for (int i = 32; i < 96; i++) b[i / 8][i % 8] += i;", "b[5][3] = 1;"],
                               ["b[4:8]", "b[5:2][1:3]", "b[4:3][0:8]", "b[4:3:2][1:3]"]))
        for _ in range(self.rand.randrange(12, 24)): # of few items, so that they meet
            self.construct()
        self.show()

    def line(self, text):
        self.lines.append("  " * (self.depth + 1) + text)

    def show(self):
        self.step += 1
        self.line(f"show({self.step});")

    def clause(self, kind, item, holds=False):
        """LEFT OUT: LLVM's copies nothing TO a block with attached pointers in it, although ALWAYS says so."""
        modifiers = {.15: "" if item.attaches else "always, ", .22: "close, ", .27: "ompx_hold, " if holds else ""}
        drawn = self.rand.random()
        modifier = next((text for limit, text in modifiers.items() if drawn < limit), "")
        return f"map({modifier}{kind}: {item.text})"

    def some_items(self, most):
        chosen = {}
        for item in self.rand.sample(self.items, len(self.items)):
            chosen.setdefault(item.root, item)
        return list(chosen.values())[:self.rand.randrange(1, most + 1)]

    def region(self):
        items = self.some_items(3)
        clauses = " ".join(self.clause(self.rand.choice(["tofrom", "tofrom", "to"]), item, True) for item in items)
        waits = self.rand.random() < .15
        self.line(f"#pragma omp target {clauses}{' nowait' * waits}{f' if({self.rand.randrange(2)})' * (self.rand.random() < .15)}")
        bodies = [self.rand.choice(item.bodies) for item in items]
        if self.rand.random() < .2:
            bodies.append(self.rand.choice(["for (int i = 0; i < 32; i++) g[i] += h;", "h += 2;", "g[h & 31] = 9;"]))
        self.line("{ " + " ".join(bodies) + " }")
        if waits:
            self.line("#pragma omp taskwait")

    def enter(self):
        item, kind = self.rand.choice(self.items), self.rand.choice(["to", "to", "alloc"])
        self.line(f"#pragma omp target enter data {self.clause(kind, item)}")
        if kind == "alloc":
            for part in item.text.split(", "): # what was there before is defined again
                self.line(f"#pragma omp target update to({part})")

    def exit(self):
        self.line(f"#pragma omp target exit data {self.clause(self.rand.choice(['from', 'from', 'release', 'delete']), self.rand.choice(self.items))}")

    def update(self):
        updates = self.rand.choice([self.rand.choice(self.items).updates] * 4 + [["g", "h", "g[3:9]"]])
        self.line(f"#pragma omp target update {self.rand.choice(['to', 'from'])}({self.rand.choice(updates)})")

    def data(self):
        if self.depth == 3:
            return
        self.line("#pragma omp target data " + " ".join(self.clause(self.rand.choice(["tofrom", "to"]), item, True) for item in self.some_items(2)))
        self.line("{")
        self.depth += 1
        for _ in range(self.rand.randrange(1, 4)):
            self.construct()
        self.depth -= 1
        self.line("}")

    def host(self):
        self.line(self.rand.choice(self.rand.choice(self.items).bodies))

    def construct(self):
        kinds = {self.region: 30, self.enter: 15, self.exit: 15, self.update: 20, self.data: 12, self.host: 8}
        self.rand.choices(list(kinds), list(kinds.values()))[0]()
        self.show()

    def text(self):
        return PREFACE + "int main(void) {\n  make();\n  show(0);\n" + "\n".join(self.lines) + "\n  return 0;\n}\n"


def result(runtime, program, options):
    """What a run prints, and how it ends: all right, or why not (without addresses)."""
    done = subprocess.run([options.run, f"--runtime={runtime}", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=120, check=False, env=dict(os.environ, OMP_TARGET_OFFLOAD="MANDATORY"))
    message = next(iter(re.findall(r"message: (.*)", done.stderr)), "") if done.returncode else ""
    return done.stdout, done.returncode, re.sub(r"0x\w+", "ADDRESS", message)


def compare(seed, options):
    base = os.path.join(options.folder, str(seed))
    with open(base + ".c", "w", encoding="utf-8") as file:
        file.write(Program(seed, options.version).text())
    subprocess.run([os.path.join(ROOT, "script/omp-cc"), "-v", str(options.version), "-O1", "-fopenmp-version=51", "-w", base + ".c",
                    "-o", base], check=True)
    stock, ours = (result(runtime, base, options) for runtime in ("stock", "ours"))
    if stock == ours:
        os.remove(base)
        return None
    return f"{base}.c:\n--- LLVM's: status {stock[1]} {stock[2]}\n{stock[0]}--- ours: status {ours[1]} {ours[2]}\n{ours[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", help="gfxsim-run")
    parser.add_argument("version", type=int, help="of clang and of LLVM's libomptarget")
    parser.add_argument("folder", help="for the programs")
    parser.add_argument("--seeds", default="1-12", help="FIRST-LAST (default: 1-12)")
    parser.add_argument("--jobs", type=int, default=1, help="at a time (default: 1)")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    first, last = map(int, options.seeds.split("-"))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        differences = [text for text in pool.map(lambda seed: compare(seed, options), range(first, last + 1)) if text]
    print("\n".join(differences + [f"random_maps: {last - first + 1} programs, {len(differences)} differ"]))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
