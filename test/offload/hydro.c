/* A blast in a gas, on a mesh of hexahedra that moves with it: nodes have positions and velocities, cells have masses,
 * energies and volumes. A step takes the pressure on the corners of all cells, the motion of the nodes, the work done on
 * the cells, and the time that the next step may take. The host computes the same; mass points and work are made so that
 * energy is kept. `hydro N` times 40 steps of N x N x N cells. */
#include "check.h"

#define TOLERANCE 1e-9 /* of positions and energies, between device and host */
#define GAMMA     1.4
#define EDGE      1.0

enum { CORNERS = 8, STEPS = 40 };

typedef struct mesh {
  int n, cells, nodes;
  double *x, *v;        /* [3][nodes] */
  double *mass;     /* of nodes */
  double *filling;  /* mass of cells */
  double *energy, *volume;
  double *pressure; /* with what damps shocks */
  double *force;    /* [cells][CORNERS][3] */
} mesh_t;

static void *take(int count) {
  void *memory = calloc((size_t)count, sizeof(double));
  if (!memory)
    exit(1);
  return memory;
}

/* Node of a corner of cell (i, j, k); corners go round the lower face, then round the upper one. */
static inline int node_of(int n, int i, int j, int k, int corner) {
  const int u = (corner & 3) == 1 || (corner & 3) == 2, v = (corner & 3) >= 2, w = corner >= 4;
  return ((k + w) * (n + 1) + j + v) * (n + 1) + i + u;
}

static void mesh_init(mesh_t *m, int n) {
  const int nodes = (n + 1) * (n + 1) * (n + 1), cells = n * n * n;
  *m = (mesh_t){.n = n, .cells = cells, .nodes = nodes};
  m->x = take(3 * nodes), m->v = take(3 * nodes), m->mass = take(nodes);
  m->energy = take(cells), m->volume = take(cells), m->filling = take(cells), m->pressure = take(cells);
  m->force = take(cells * CORNERS * 3);
  for (int i = 0; i < nodes; i++) {
    m->x[i] = EDGE * (i % (n + 1)) / n;
    m->x[nodes + i] = EDGE * (i / (n + 1) % (n + 1)) / n;
    m->x[2 * nodes + i] = EDGE * (i / (n + 1) / (n + 1)) / n;
  }
  for (int c = 0; c < cells; c++) {
    m->volume[c] = m->filling[c] = EDGE * EDGE * EDGE / cells;
    m->energy[c] = c == 0 ? 0.1 : 1e-6 * m->filling[c]; /* all in one corner */
    for (int k = 0; k < CORNERS; k++)
      m->mass[node_of(n, c % n, c / n % n, c / n / n, k)] += m->filling[c] / CORNERS;
  }
}

static void mesh_fini(mesh_t *m) {
  double *const all[] = {m->x, m->v, m->mass, m->energy, m->volume, m->filling, m->pressure, m->force};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
}

/* A cell is six tetrahedra around the diagonal from corner 0 to corner 6; each has two more corners: these, and the next
 * of the list. What a corner's motion adds to the volume is the area that pressure pushes there. */
static void push(const mesh_t *m, int on_device) {
  const int n = m->n, nodes = m->nodes, cells = m->cells;
  const double *x = m->x, *pressure = m->pressure;
  double *force = m->force, *volume = m->volume;
#pragma omp target teams distribute parallel for if (target : on_device) map(                                              \
    to : x[0 : 3 * nodes], pressure[0 : cells]) map(tofrom : force[0 : cells * CORNERS * 3], volume[0 : cells])
  for (int c = 0; c < cells; c++) {
    const int i = c % n, j = c / n % n, k = c / n / n;
    const int o = node_of(n, i, j, k, 0), e = node_of(n, i, j, k, 6);
    const double p = pressure[c] / 6;
    double *const f = &force[c * CORNERS * 3];
    double sum = 0;
    for (int t = 0; t < CORNERS * 3; t++)
      f[t] = 0;
    for (int t = 0; t < 6; t++) {
      const int a = 0x547321 >> (4 * t) & 7, b = 0x154732 >> (4 * t) & 7;
      const int na = node_of(n, i, j, k, a), nb = node_of(n, i, j, k, b);
      for (int d = 0; d < 3; d++) {
        const double *y = x + (d + 1) % 3 * nodes, *z = x + (d + 2) % 3 * nodes;
        const double ay = y[na] - y[o], az = z[na] - z[o], by = y[nb] - y[o], bz = z[nb] - z[o];
        const double ey = y[e] - y[o], ez = z[e] - z[o];
        const double after_a = by * ez - bz * ey, after_b = ey * az - ez * ay, after_e = ay * bz - az * by;
        f[a * 3 + d] += p * after_a;
        f[b * 3 + d] += p * after_b;
        f[6 * 3 + d] += p * after_e;
        f[d] -= p * (after_a + after_b + after_e);
        sum += (x[d * nodes + na] - x[d * nodes + o]) * after_a;
      }
    }
    volume[c] = sum / 6;
  }
}

/* Adds up the forces of the cells around each node. Nodes of the three planes through the origin stay in them. */
static void move(const mesh_t *m, double dt, int on_device) {
  const int n = m->n, nodes = m->nodes, cells = m->cells;
  const double *force = m->force, *mass = m->mass;
  double *x = m->x, *v = m->v;
#pragma omp target teams distribute parallel for if (target : on_device) map(                                              \
    to : force[0 : cells * CORNERS * 3], mass[0 : nodes]) map(tofrom : x[0 : 3 * nodes], v[0 : 3 * nodes])
  for (int at = 0; at < nodes; at++) {
    const int i = at % (n + 1), j = at / (n + 1) % (n + 1), k = at / (n + 1) / (n + 1);
    double fx = 0, fy = 0, fz = 0;
    for (int c = 0; c < CORNERS; c++) {
      const int u = i - ((c & 3) == 1 || (c & 3) == 2), w = j - ((c & 3) >= 2), q = k - (c >= 4);
      if (u < 0 || w < 0 || q < 0 || u >= n || w >= n || q >= n)
        continue;
      const double *f = &force[(((q * n + w) * n + u) * CORNERS + c) * 3];
      fx += f[0];
      fy += f[1];
      fz += f[2];
    }
    v[at] = i == 0 ? 0 : v[at] + dt * fx / mass[at];
    v[nodes + at] = j == 0 ? 0 : v[nodes + at] + dt * fy / mass[at];
    v[2 * nodes + at] = k == 0 ? 0 : v[2 * nodes + at] + dt * fz / mass[at];
    for (int d = 0; d < 3; d++)
      x[d * nodes + at] += dt * v[d * nodes + at];
  }
}

/* The work of the corner forces; pressure of an ideal gas, and damping where a cell gets smaller. Returns the time of the
 * next step. */
static double work(const mesh_t *m, double dt, int on_device) {
  const int n = m->n, nodes = m->nodes, cells = m->cells;
  const double *force = m->force, *v = m->v, *volume = m->volume, *filling = m->filling;
  double *energy = m->energy, *pressure = m->pressure, next = 1;
#pragma omp target teams distribute parallel for reduction(min : next) if (target : on_device) map(                        \
    to : force[0 : cells * CORNERS * 3], v[0 : 3 * nodes], volume[0 : cells], filling[0 : cells])                              \
    map(tofrom : energy[0 : cells], pressure[0 : cells], next)
  for (int c = 0; c < cells; c++) {
    double power = 0;
    for (int k = 0; k < CORNERS; k++) {
      const int at = node_of(n, c % n, c / n % n, c / n / n, k);
      for (int d = 0; d < 3; d++)
        power += force[(c * CORNERS + k) * 3 + d] * v[d * nodes + at];
    }
    energy[c] -= dt * power;
    const double length = cbrt(volume[c]), density = filling[c] / volume[c];
    const double gas = fmax((GAMMA - 1) * energy[c] / volume[c], 1e-12);
    const double speed = sqrt(GAMMA * gas / density);
    const double growth = pressure[c] > 0 ? power / pressure[c] / (length * length) : 0; /* of its edges, a speed */
    const double shrink = growth < 0 ? -growth : 0;
    pressure[c] = gas + density * shrink * (2 * shrink + 0.5 * speed);
    next = fmin(next, 0.1 * length / (speed + 4 * shrink));
  }
  return next;
}

static double run(const mesh_t *m, int on_device) {
  const int nodes = m->nodes, cells = m->cells;
  double *x = m->x, *v = m->v, *mass = m->mass, *energy = m->energy, *volume = m->volume, *filling = m->filling;
  double *pressure = m->pressure, *force = m->force;
  const double start = omp_get_wtime();
#pragma omp target data if (on_device) map(tofrom : x[0 : 3 * nodes], v[0 : 3 * nodes], energy[0 : cells])                 \
    map(to : mass[0 : nodes], volume[0 : cells], filling[0 : cells], pressure[0 : cells])                                      \
    map(to : force[0 : cells * CORNERS * 3])
  {
    double dt = work(m, 0, on_device);
    for (int s = 0; s < STEPS; s++) {
      push(m, on_device);
      move(m, dt, on_device);
      dt = work(m, dt, on_device);
    }
  }
  return omp_get_wtime() - start;
}

static double all_energy(const mesh_t *m) {
  double sum = 0;
  for (int c = 0; c < m->cells; c++)
    sum += m->energy[c];
  for (int i = 0; i < m->nodes; i++)
    for (int d = 0; d < 3; d++)
      sum += 0.5 * m->mass[i] * m->v[d * m->nodes + i] * m->v[d * m->nodes + i];
  return sum;
}

int main(int argc, char **argv) {
  const int n = check_size(argc, argv, 6, 100);
  mesh_t got, want;
  mesh_init(&got, n);
  mesh_init(&want, n);
  const double before = all_energy(&got), seconds = run(&got, 1);
  if (argc > 1)
    printf("hydro: %.6f s\n", seconds);
  (void)run(&want, 0);
  for (int i = 0; i < 3 * got.nodes; i++)
    check_near("position", i, got.x[i], want.x[i], TOLERANCE, EDGE);
  for (int c = 0; c < got.cells; c++)
    check_near("energy", c, got.energy[c], want.energy[c], TOLERANCE, before);
  check_near("all energy", 0, all_energy(&got), before, 0.05, before); /* up to what time steps of first order lose */
  check_true("the blast has moved the mesh", got.x[got.nodes - 1] >= EDGE && got.x[1] > 1.01 * EDGE / n);
  mesh_fini(&got);
  mesh_fini(&want);
  return check_done("hydro");
}
