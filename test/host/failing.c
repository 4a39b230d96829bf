/* Does what fails, by its argument; each prints what the test compares. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int array[64];

static void extend(void) {
#pragma omp target enter data map(to : array [0:32])
#pragma omp target enter data map(to : array [16:32])
}

static void miss(void) {
#pragma omp target map(present, tofrom : array)
  array[0] = 1;
}

/* An index that goes too far, of one of two small arrays that share an allocation. */
static void stray(void) {
  static int other[64];
  long index = array[0] + (100L << 20);
#pragma omp target map(tofrom : array, other) firstprivate(index)
  other[1] = array[index];
}

/* The same in front of what is mapped. */
static void stray_in_front(void) {
  static double values[400 << 10];
  long index = array[0] + 99;
#pragma omp target map(tofrom : values [100:300 << 10]) firstprivate(index)
  values[100] = values[index];
}

/* The device's memory by the host. */
static void touch(void) {
  double *p = omp_target_alloc(64, omp_get_default_device());
  p[1] = 5;
  printf("%g\n", p[1]);
  omp_target_free(p, omp_get_default_device());
}

/* A task that fails, behind some that do not, and has nothing to copy back. */
static void trap_without_waiting(void) {
#pragma omp target nowait
  {}
#pragma omp target nowait
  {}
#pragma omp target nowait
  {
    __builtin_trap();
  }
#pragma omp taskwait
  printf("past\n");
}

static void far(void) {
#pragma omp target device(17)
  {}
}

/* A pointer to the device's memory, which nobody has mapped: a region that uses it gets it as it is. */
static void keep(void) {
  int device = omp_get_default_device(), result = 0, *p = omp_target_alloc(sizeof *p, device);
#pragma omp target
  *p = 7;
#pragma omp target map(from : result)
  result = *p;
  omp_target_free(p, device);
  printf("%s\n", result == 7 ? "right" : "wrong");
}

/* A null pointer at the end of calls whose need for stack the compiler cannot know. */
#pragma omp declare target
static __attribute__((noinline)) int descend(int *pointer, int depth) {
  volatile int place[4] = {depth};
  return depth ? descend(pointer, depth - 1) + place[0] : *pointer;
}
#pragma omp end declare target

static void recurse(void) {
  int result = 0, depth = array[0] + 3;
  int *pointer = NULL;
#pragma omp target map(tofrom : result) firstprivate(pointer, depth)
  result = descend(pointer, depth);
  printf("%d\n", result);
}

static void use_device(void) {
#pragma omp target map(tofrom : array)
  array[0] = 1;
}

/* A construct that nobody waits for, and that has not begun when the program ends. */
static void leave_behind(void) {
#pragma omp target nowait map(tofrom : array)
  array[0] = 1;
}

/* The same behind another one: it may have begun, and take its time. */
static void leave_running(void) {
  static int long_array[20000];
  use_device();
#pragma omp target teams distribute parallel for nowait map(tofrom : long_array)
  for (int i = 0; i < 20000; i++)
    for (int k = 0; k < 50; k++)
      long_array[i] = long_array[i] * 3 + k;
}

/* A pointer in a struct is set on the device when what it points to is mapped. */
static void attach(void) {
  static struct {
    long count[3];
    int *pointer;
  } object = {.pointer = array};
#pragma omp target enter data map(to : object)
#pragma omp target enter data map(to : object.pointer [0:64])
}

/* Which device a region ran on: 0 the host. */
static int where(int device) {
  int on_device = 0;
#pragma omp target map(tofrom : on_device) device(device)
  on_device = !omp_is_initial_device();
  return on_device;
}

static void say_where(void) {
  printf("%d devices, default %d, host %d\n", omp_get_num_devices(), where(omp_get_default_device()),
         where(omp_get_initial_device()));
  if (getenv("LIBOMPTARGET_PROFILE") && getenv("LIBOMPTARGET_AMDGPU_TIMELINE"))
    printf("the environment was changed\n");
}

/* What the API answers to wrong arguments: none of it ends the program. */
static void misuse(void) {
  int host = omp_get_initial_device(), device = omp_get_default_device(), data[4] = {1, 2, 3, 4};
  size_t one = 1, none = 0;
  void *memory = omp_target_alloc(16, device);
  int wrong = 0;
  wrong += omp_target_alloc(16, 99) != NULL;
  wrong += omp_target_alloc(16, -7) != NULL;
  wrong += omp_target_alloc(0, device) != NULL;
  omp_target_free(NULL, device);
  omp_target_free(memory, 99);
  wrong += !omp_target_memcpy(NULL, data, 16, 0, 0, device, host);
  wrong += !omp_target_memcpy(memory, NULL, 16, 0, 0, device, host);
  wrong += !omp_target_memcpy(memory, data, 16, 0, 0, 99, host);
  wrong += !!omp_target_memcpy(memory, data, 0, 0, 0, device, host);
  wrong += !omp_target_memcpy_rect(memory, data, 4, 0, &one, &none, &none, &one, &one, device, host);
  wrong += !omp_target_memcpy_rect(memory, data, 4, 1, NULL, &none, &none, &one, &one, device, host);
  wrong += omp_target_memcpy_rect(NULL, NULL, 4, 1, &one, &none, &none, &one, &one, device, host) < 3;
  wrong += !omp_target_associate_ptr(NULL, memory, 16, 0, device);
  wrong += !omp_target_associate_ptr(data, memory, 16, 0, host);
  wrong += !omp_target_disassociate_ptr(data, device);
  wrong += omp_target_is_present(NULL, device) || omp_target_is_present(data, device);
  wrong += !omp_target_is_present(data, host);
  wrong += !!omp_target_memcpy(memory, data, 16, 0, 0, device, host);
  memset(data, 0, sizeof data);
  wrong += !!omp_target_memcpy(data, memory, 16, 0, 0, host, device);
  wrong += data[3] != 4;
  omp_target_free(memory, device);
  printf("%s\n", wrong ? "wrong" : "right");
}

/* The libraries that old compilers link to do not have these. */
__attribute__((weak)) int omp_target_is_accessible(const void *memory, size_t bytes, int device);
__attribute__((weak)) void *llvm_omp_target_lock_mem(void *memory, size_t bytes, int device);

/* Host memory is pinned if the device can access it. What is mapped is small: copies do not pin it. */
static int is_pinned(void) {
  return omp_target_is_accessible(array, sizeof array, omp_get_default_device());
}

static void pin(void) {
  int before = is_pinned(), within = 0;
#pragma omp target data map(to : array)
  {
#pragma omp target map(tofrom : array)
    array[0] = 1;
    within = is_pinned();
  }
  printf("pinned: %d before, %d within, %d after\n", before, within, is_pinned());
}

/* Only a part of what is going to be mapped is pinned, so it cannot be pinned as a whole. */
static void pin_other(void) {
  static int large[4096];
  llvm_omp_target_lock_mem(large + 64, sizeof large / 2, omp_get_default_device());
#pragma omp target enter data map(to : large)
  printf("mapped\n");
}

/* As programs of clang 13 to 18 do before main: none of anything, then reverse offload. */
void __tgt_register_requires(long flags);
static void require(void) {
  __tgt_register_requires(1);
  __tgt_register_requires(2);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*run)(void);
  } parts[] = {{"extend", extend},
               {"miss", miss},
               {"far", far},
               {"where", say_where},
               {"misuse", misuse},
               {"keep", keep},
               {"attach", attach},
               {"pin", pin},
               {"pin-other", pin_other},
               {"require", require},
               {"recurse", recurse},
               {"leave-behind", leave_behind},
               {"stray", stray},
               {"stray-in-front", stray_in_front},
               {"touch", touch},
               {"trap-without-waiting", trap_without_waiting},
               {"leave-running", leave_running}};
  for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++)
    if (!strcmp(argv[1], parts[i].name))
      parts[i].run();
  printf("end\n");
  return 0;
}
