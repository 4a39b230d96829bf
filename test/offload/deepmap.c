/* Structs with pointer members mapped deep: member sections, nested structs, linked lists by enter data, mappers. */
#include "check.h"

typedef struct vec {
  int length;
  double *data;
} vec_t;

typedef struct model {
  char name[8];
  vec_t weights;
  vec_t bias;
  int *flags;
  struct model *next;
} model_t;

/* Pointer members in one construct. */
static void member_sections(void) {
  vec_t v = {100, malloc(100 * sizeof(double))};
  for (int i = 0; i < v.length; i++)
    v.data[i] = i;
#pragma omp target map(to : v.length) map(tofrom : v.data[0 : v.length])
  for (int i = 0; i < v.length; i++)
    v.data[i] = v.data[i] * 2 + v.length;
  for (int i = 0; i < v.length; i++)
    check_f64("member", i, v.data[i], i * 2.0 + 100);
  free(v.data);
}

/* Enter data for the struct, then for its members: the device struct's pointers are attached. */
static void enter_data(void) {
  model_t m = {"model", {50, malloc(50 * sizeof(double))}, {20, malloc(20 * sizeof(double))},
               malloc(50 * sizeof(int)), NULL};
  for (int i = 0; i < 50; i++) {
    m.weights.data[i] = i * 0.5;
    m.flags[i] = i % 3;
  }
  for (int i = 0; i < 20; i++)
    m.bias.data[i] = -i;
  double *weights = m.weights.data;
#pragma omp target enter data map(to : m)
#pragma omp target enter data map(to : m.weights.data[0 : 50], m.bias.data[0 : 20], m.flags[0 : 50])
  int name_sum = 0;
#pragma omp target teams distribute parallel for map(tofrom : name_sum)
  for (int i = 0; i < m.weights.length; i++) {
    if (m.flags[i] != 1)
      m.weights.data[i] += m.bias.data[i % m.bias.length];
    if (i < 5) {
#pragma omp atomic
      name_sum += m.name[i];
    }
  }
#pragma omp target exit data map(from : m.weights.data[0 : 50]) map(release : m.bias.data[0 : 20], m.flags[0 : 50])
#pragma omp target exit data map(release : m)
  check_true("host pointer is unchanged", m.weights.data == weights);
  check_int("name", 0, name_sum, 'm' + 'o' + 'd' + 'e' + 'l');
  for (int i = 0; i < 50; i++)
    check_f64("weights", i, m.weights.data[i], i * 0.5 + (i % 3 != 1 ? -(i % 20) : 0));
  free(m.weights.data);
  free(m.bias.data);
  free(m.flags);
}

/* A list of nodes in one array; links are made on the device from indices, then followed. */
typedef struct node {
  int value;
  struct node *next;
} node_t;

static void linked_list(void) {
  enum { COUNT = 64 };
  node_t *nodes = calloc(COUNT, sizeof *nodes);
  for (int i = 0; i < COUNT; i++)
    nodes[i].value = i + 1;
  long sum = 0;
  int length = 0;
#pragma omp target map(tofrom : nodes[0 : COUNT]) map(tofrom : sum, length)
  {
    for (int i = 0; i < COUNT; i++) {
      int follow = (i * 5 + 3) % COUNT;
      nodes[i].next = &nodes[follow];
    }
    node_t *n = &nodes[0];
    do {
      sum = sum * 3 % 1000003 + n->value;
      length++;
      n = n->next;
    } while (n != &nodes[0]);
  }
  long want = 0;
  int want_length = 0, at = 0;
  do {
    want = want * 3 % 1000003 + at + 1;
    want_length++;
    at = (at * 5 + 3) % COUNT;
  } while (at != 0);
  check_int("list sum", 0, sum, want);
  check_int("list length", 0, length, want_length);
  free(nodes);
}

/* Mappers that map the whole struct and a section behind one of its pointers lose the attached pointer when they are used
 * a second time (libomptarget 16); these name the members. */
#pragma omp declare mapper(whole : vec_t v) map(to : v.length) map(tofrom : v.data[0 : v.length])
#pragma omp declare mapper(vec_t v) map(tofrom : v.length, v.data[0 : v.length])

/* The variables are static, because libomptarget 16 does not unmap what was mapped by a mapper. */
static void mappers(void) {
  static vec_t v;
  v.length = 77;
  v.data = malloc(77 * sizeof(double));
  static vec_t many[4];
  for (int i = 0; i < 77; i++)
    v.data[i] = i;
#pragma omp target map(mapper(whole), tofrom : v)
  for (int i = 0; i < v.length; i++)
    v.data[i] += 1;
#pragma omp target map(tofrom : v)
  for (int i = 0; i < v.length; i++)
    v.data[i] *= 3;
  for (int i = 0; i < 77; i++)
    check_f64("mapper", i, v.data[i], (i + 1) * 3.0);
  for (int k = 0; k < 4; k++) {
    many[k].length = 10 + k;
    many[k].data = malloc((size_t)many[k].length * sizeof(double));
    for (int i = 0; i < many[k].length; i++)
      many[k].data[i] = k * 100 + i;
  }
#pragma omp target teams distribute parallel for map(mapper(whole), tofrom : many[0 : 4])
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < many[k].length; i++)
      many[k].data[i] = -many[k].data[i];
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 10 + k; i++)
      check_f64("array of mapped", k * 100 + i, many[k].data[i], -(k * 100.0 + i));
    free(many[k].data);
  }
  free(v.data);
}

/* A matrix as an array of row pointers. */
static void row_pointers(void) {
  enum { ROWS = 9, COLUMNS = 31 };
  int *rows[ROWS];
#pragma omp target enter data map(alloc : rows)
  for (int r = 0; r < ROWS; r++) {
    rows[r] = malloc(COLUMNS * sizeof(int));
    for (int c = 0; c < COLUMNS; c++)
      rows[r][c] = r * c;
    int *row = rows[r];
#pragma omp target enter data map(to : row[0 : COLUMNS])
#pragma omp target map(to : row[0 : 0])
    rows[r] = row;
  }
#pragma omp target teams distribute parallel for collapse(2)
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++)
      rows[r][c] += 1000;
  for (int r = 0; r < ROWS; r++) {
    int *row = rows[r];
#pragma omp target exit data map(from : row[0 : COLUMNS])
    for (int c = 0; c < COLUMNS; c++)
      check_int("rows", r * COLUMNS + c, row[c], r * c + 1000);
    free(row);
  }
#pragma omp target exit data map(delete : rows)
}

int main(void) {
  member_sections();
  enter_data();
  linked_list();
  mappers();
  row_pointers();
  return check_done("deepmap");
}
