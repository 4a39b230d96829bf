// What OpenMP programs ask of a host runtime, one construct at a time: census.py compiles each with every clang. Each
// begins at a line "//: name", with the first clang that compiles it and the last one if that are not all, and is a program of its own
// below what stands before the first one. Nothing is included, so that only clang decides what comes out.

extern int a[100], n, x, y;
extern int *p, *q;
typedef struct point {
  int x, y;
  int *p, *q;
} point_t;
extern point_t s;
int use(...);

//: target
void construct() {
#pragma omp target map(tofrom : a)
  a[0] = 1;
}

//: target_scalars
void construct() {
  double d = 1;
#pragma omp target firstprivate(d)
  use(n, d, x);
}

//: target_teams
void construct() {
#pragma omp target teams num_teams(7) thread_limit(64)
  a[0] = 1;
}

//: target_loop
void construct() {
#pragma omp target teams distribute parallel for
  for (int i = 0; i < n; i++)
    a[i] = i;
}

//: target_parallel
void construct() {
#pragma omp target parallel num_threads(5)
  a[0] = 1;
}

//: target_device_if
void construct() {
#pragma omp target device(n) if (x)
  a[0] = 1;
}

//: target_nowait
void construct() {
#pragma omp target nowait map(tofrom : a)
  a[0] = 1;
#pragma omp taskwait
}

//: target_teams_nowait
void construct() {
#pragma omp target teams distribute parallel for nowait
  for (int i = 0; i < n; i++)
    a[i] = i;
}

//: target_depend
void construct() {
#pragma omp target depend(inout : x)
  a[0] = 1;
}

//: target_nowait_depend
void construct() {
#pragma omp target nowait depend(in : x) depend(out : y)
  a[0] = 1;
}

//: target_reduction
void construct() {
  double sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum)
  for (int i = 0; i < n; i++)
    sum += a[i];
  use(sum);
}

//: map_kinds
void construct() {
  int b[9], c[9], d[9], e[9];
#pragma omp target map(to : b) map(from : c) map(alloc : d) map(always, tofrom : e)
  use(b[0], c[0], d[0], e[0]);
}

//: map_close
void construct() {
#pragma omp target map(close, tofrom : a)
  a[0] = 1;
}

//: map_present
void construct() {
#pragma omp target map(present, tofrom : a)
  a[0] = 1;
}

//: map_hold 14
void construct() {
#pragma omp target map(ompx_hold, tofrom : a)
  a[0] = 1;
}

//: map_section
void construct() {
#pragma omp target map(tofrom : p[1 : n])
  p[1] = 1;
}

//: map_section_of_local
void construct(int *local) {
#pragma omp target map(tofrom : local[1 : n])
  local[1] = 1;
}

//: map_zero_length
void construct(int *local) {
#pragma omp target map(alloc : local[ : 0])
  local[1] = 1;
}

//: map_implicit
void construct(int *local) {
  int b[9];
#pragma omp target
  use(b[0], local[1], n, &s);
}

//: map_struct
void construct() {
#pragma omp target map(tofrom : s)
  s.x = 1;
}

//: map_members
void construct() {
#pragma omp target map(tofrom : s.x) map(to : s.y)
  s.x = s.y;
}

//: map_member_pointers
void construct() {
#pragma omp target map(tofrom : s.p[ : 8], s.q[ : 8])
  s.p[0] = s.q[0];
}

//: map_struct_and_member_pointer
void construct() {
#pragma omp target map(tofrom : s, s.p[ : 8])
  s.p[0] = s.x;
}

//: map_array_of_structs
extern point_t many[10];
void construct() {
#pragma omp target map(tofrom : many[2 : 3])
  many[2].x = 1;
}

//: map_pointer_to_struct
void construct(point_t *local) {
#pragma omp target map(tofrom : local->x, local->p[ : 8])
  local->p[0] = local->x;
}

//: map_this
struct object {
  int i, *data;
  void construct() {
#pragma omp target map(tofrom : data[ : n])
    data[0] = i;
  }
};
void construct(object *o) { o->construct(); }

//: map_reference
void construct(int &r, int (&b)[9]) {
#pragma omp target map(tofrom : r, b)
  r = b[0];
}

//: map_two_dimensions
extern int grid[10][20];
void construct() {
#pragma omp target map(tofrom : grid[2 : 3][ : 20])
  grid[2][0] = 1;
}

//: map_defaultmap
void construct() {
#pragma omp target defaultmap(tofrom : scalar) defaultmap(to : aggregate)
  x = a[0];
}

//: map_private
void construct() {
  int b[9], c[9];
#pragma omp target firstprivate(b) private(c)
  use(b[0], c[0]);
}

//: map_lambda
void construct() {
  int local = 1, b[9];
  auto lambda = [&]() { local = b[0]; };
#pragma omp target map(to : lambda)
  lambda();
}

//: map_lambda_by_value
void construct(int *local) {
  auto lambda = [=]() { local[0] = n; };
#pragma omp target
  lambda();
}

//: is_device_ptr
void construct(int *local) {
#pragma omp target is_device_ptr(local)
  local[0] = 1;
}

//: has_device_addr 15
void construct(int &r) {
  int b[9];
#pragma omp target has_device_addr(b, r)
  b[0] = r;
}

//: target_data
void construct() {
#pragma omp target data map(tofrom : a) map(to : s)
  use(a);
}

//: target_data_device_if
void construct() {
#pragma omp target data map(tofrom : a) device(n) if (x)
  use(a);
}

//: use_device_ptr
void construct(int *local) {
#pragma omp target data map(tofrom : local[ : n]) use_device_ptr(local)
  use(local);
}

//: use_device_ptr_alone
void construct(int *local) {
#pragma omp target data use_device_ptr(local)
  use(local);
}

//: use_device_ptr_member
struct object {
  int *data;
  void construct() {
#pragma omp target data map(tofrom : data[ : n]) use_device_ptr(data)
    use(data);
  }
};
void construct(object *o) { o->construct(); }

//: use_device_addr
void construct() {
#pragma omp target data map(tofrom : a) use_device_addr(a)
  use(a);
}

//: use_device_addr_section
void construct(int *local) {
#pragma omp target data map(tofrom : local[ : n]) use_device_addr(local[ : n])
  use(local);
}

//: enter_exit
void construct() {
#pragma omp target enter data map(to : a) map(alloc : x)
#pragma omp target exit data map(from : a) map(release : x)
}

//: enter_exit_sections
void construct() {
#pragma omp target enter data map(to : p[ : n])
#pragma omp target exit data map(from : p[ : n])
}

//: enter_exit_members
void construct() {
#pragma omp target enter data map(to : s) map(to : s.p[ : n])
#pragma omp target exit data map(from : s.p[ : n]) map(from : s)
}

//: exit_delete
void construct() {
#pragma omp target exit data map(delete : a)
}

//: enter_nowait
void construct() {
#pragma omp target enter data map(to : a) nowait depend(out : x)
#pragma omp target exit data map(from : a) nowait depend(in : x)
}

//: update
void construct() {
#pragma omp target update to(a) from(x)
}

//: update_present
void construct() {
#pragma omp target update to(present : a)
}

//: update_section
void construct() {
#pragma omp target update to(p[1 : n]) from(s.p[ : n])
}

//: update_strided
void construct() {
#pragma omp target update to(a[0 : n : 2])
}

//: update_strided_of_known_length 14
extern double known[100];
void construct() {
#pragma omp target update to(known[3 : 5 : 2])
}

//: update_strided_rows 14
extern int grid[10][20];
void construct() {
#pragma omp target update from(grid[1 : 3 : 2][4 : 5])
}

//: update_two_dimensions
extern int grid[10][20];
void construct() {
#pragma omp target update from(grid[2 : 3][ : 5])
}

//: update_nowait
void construct() {
#pragma omp target update to(a) nowait depend(out : x)
}

//: mapper
#pragma omp declare mapper(point_t v) map(v, v.p[0 : v.x])
void construct() {
#pragma omp target map(tofrom : s)
  s.p[0] = 1;
}

//: mapper_named_array
#pragma omp declare mapper(deep : point_t v) map(v.x, v.p[0 : v.x])
void construct(point_t *local) {
#pragma omp target enter data map(mapper(deep), to : local[0 : n])
#pragma omp target update from(mapper(deep) : local[0 : n])
}

//: mapper_nested
struct outer {
  point_t inner;
  int i;
};
#pragma omp declare mapper(point_t v) map(v, v.p[0 : v.x])
#pragma omp declare mapper(outer v) map(v.inner, v.i)
void construct(outer *o) {
#pragma omp target data map(tofrom : o[0 : 2])
  use(o);
}

//: declare_target
#pragma omp declare target
int global = 5;
static int hidden;
void set() { hidden = global; }
#pragma omp end declare target
void construct() {
#pragma omp target
  set();
}

//: declare_target_link
int linked[10];
#pragma omp declare target link(linked)
void construct() {
#pragma omp target map(tofrom : linked)
  linked[0] = 1;
}

//: declare_target_constructor
struct made {
  int i;
  made();
  ~made();
};
#pragma omp declare target
made::made() : i(1) {}
made::~made() { i = 0; }
made object;
#pragma omp end declare target
void construct() {
#pragma omp target
  object.i++;
}

//: declare_target_indirect 17
#pragma omp begin declare target indirect
void callee() {}
#pragma omp end declare target
void construct(void (*f)()) {
#pragma omp target
  f();
}

//: declare_target_virtual
#pragma omp declare target
struct base {
  virtual int get() { return 1; }
};
struct derived : base {
  int get() override { return 2; }
};
#pragma omp end declare target
void construct() {
  derived d;
#pragma omp target map(tofrom : d)
  d.get();
}

//: requires_usm
#pragma omp requires unified_shared_memory
void construct() {
#pragma omp target map(tofrom : a)
  a[0] = 1;
}

//: requires_address
#pragma omp requires unified_address
void construct() {
#pragma omp target map(tofrom : a)
  a[0] = 1;
}

//: requires_reverse_offload 13 to 14
#pragma omp requires reverse_offload
void construct() {
#pragma omp target map(tofrom : a)
  a[0] = 1;
}

//: requires_dynamic_allocators
#pragma omp requires dynamic_allocators
void construct() {
#pragma omp target map(tofrom : a)
  a[0] = 1;
}

//: interop 14
typedef void *omp_interop_t;
void construct() {
  omp_interop_t o = 0;
#pragma omp interop init(targetsync : o)
#pragma omp interop use(o)
#pragma omp interop destroy(o)
}

//: interop_depend 17
typedef void *omp_interop_t;
void construct() {
  omp_interop_t o = 0;
#pragma omp interop init(targetsync : o) device(n) depend(inout : x) nowait
#pragma omp interop destroy(o) nowait depend(in : x)
}

//: bare 21
void construct() {
#pragma omp target teams ompx_bare num_teams(2, 3, 4) thread_limit(8, 4)
  a[0] = 1;
}

//: dynamic_group_memory 16
void construct() {
#pragma omp target teams ompx_dyn_cgroup_mem(1024)
  a[0] = 1;
}

//: in_task
void construct() {
#pragma omp task
#pragma omp target
  a[0] = 1;
#pragma omp taskgroup
  {
#pragma omp target nowait
    a[1] = 1;
  }
}

//: detached
typedef __UINTPTR_TYPE__ omp_event_handle_t;
void construct() {
  omp_event_handle_t event;
#pragma omp task detach(event)
  use(event);
#pragma omp target nowait depend(out : x)
  a[0] = 1;
}

//: loop_directive 15
void construct() {
#pragma omp target teams loop
  for (int i = 0; i < n; i++)
    a[i] = i;
}
