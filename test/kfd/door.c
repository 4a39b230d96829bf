/* The kernel driver's interface as gfxsim answers it (libgfxsim-kfd.so, preloaded), without ROCr: files,
 * descriptors, calls and their errors, forks and programs that follow. Expects
 * GFXSIM_DEVICES=gfx90a:1G,gfx906:1G. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kfd/abi.h"

#define TOPOLOGY "/sys/devices/virtual/kfd/kfd/topology"
#define CALL(nr) _IOC(_IOC_READ | _IOC_WRITE, 'K', nr, 8)

enum {
  GET_VERSION = 0x01,
  CREATE_QUEUE = 0x02,
  DESTROY_QUEUE = 0x03,
  UPDATE_QUEUE = 0x07,
  CREATE_EVENT = 0x08,
  DESTROY_EVENT = 0x09,
  SET_EVENT = 0x0A,
  RESET_EVENT = 0x0B,
  WAIT_EVENTS = 0x0C,
  APERTURES = 0x14,
  ACQUIRE_VM = 0x15,
  ALLOCATE = 0x16,
  FREE = 0x17,
  MAP = 0x18,
  UNMAP = 0x19,
  DESCRIBE_FILE = 0x1C,
  IMPORT_FILE = 0x1D,
  AVAILABLE = 0x23,
  EXPORT_FILE = 0x24,
  FIND_PROCESS = 0x80,
  TELL_PROCESS = 0x81,
  SAMPLE = 0x85,
  PAGE = 4096,
  VERSION = 117, /* 1.17 */
  FIRST_GPU = 0x1001,
  SECOND_GPU,
};

static int kfd = -1;

static int open_kfd(void **state) {
  (void)state;
  kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
  return kfd < 0;
}

static int version_of(int file) {
  kfd_version_t version = {0};
  return ioctl(file, CALL(GET_VERSION), &version) ? -errno : (int)(version.major * 100 + version.minor);
}

#define assert_fails(call, error)                                                                            \
  do {                                                                                                       \
    errno = 0;                                                                                               \
    assert_int_equal(call, -1);                                                                              \
    assert_int_equal(errno, error);                                                                          \
  } while (0)

/* ---- Files ---- */

static unsigned count_entries(const char *path) {
  DIR *folder = opendir(path);
  unsigned count = 0;
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));)
    count += entry->d_name[0] != '.';
  rewinddir(folder);
  for (const struct dirent64 *entry; (entry = readdir64(folder));)
    count -= entry->d_name[0] != '.';
  assert_int_equal(count, 0); /* both ways see the same */
  rewinddir(folder);
  while (readdir(folder))
    count++;
  assert_int_equal(closedir(folder), 0);
  return count - 2;
}

/* The value that a file of the topology has for a name. */
static unsigned long long value_in(const char *path, const char *name) {
  char word[64];
  unsigned long long value = 0;
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  while (fscanf(file, "%63s %llu", word, &value) == 2 && strcmp(word, name) != 0) {
  }
  assert_string_equal(word, name);
  fclose(file);
  return value;
}

static void test_topology_is_text(void **state) {
  (void)state;
  assert_int_equal(count_entries(TOPOLOGY "/nodes"), 3);
  assert_int_equal(count_entries("/sys/class/kfd/kfd/topology/nodes/"), 3);
  assert_int_equal(value_in(TOPOLOGY "/nodes/1/properties", "gfx_target_version"), 90010);
  assert_int_equal(value_in(TOPOLOGY "/nodes/2/properties", "gfx_target_version"), 90006);
  assert_int_equal(value_in(TOPOLOGY "/nodes//1/mem_banks/0/properties", "size_in_bytes"), 1 << 30);
  assert_int_equal(value_in(TOPOLOGY "/nodes/1/properties", "drm_render_minor"), 128);
  assert_true(value_in(TOPOLOGY "/nodes/1/properties", "capability") & UINT32_C(1) << 29);
  /* Device memory is private: no link leads there from the processor, but one does from the other GPU. */
  assert_int_equal(value_in(TOPOLOGY "/nodes/0/properties", "io_links_count"), 0);
  assert_int_equal(count_entries(TOPOLOGY "/nodes/0/io_links"), 0);
  assert_int_equal(value_in(TOPOLOGY "/nodes/1/p2p_links/0/properties", "node_to"), 2);
  assert_int_equal(value_in(TOPOLOGY "/nodes/1/io_links/0/properties", "node_to"), 0);
}

static void test_paths_that_are_not_there(void **state) {
  (void)state;
  static const char *const paths[] = {TOPOLOGY "/nodes/3/properties",
                                      TOPOLOGY "/nodes/1/mem_banks/1/properties",
                                      TOPOLOGY "/nodes/x",
                                      TOPOLOGY "/nodes/1/propertiesx",
                                      "/dev/dri/renderD130",
                                      "/dev/kfdx"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    struct stat status;
    assert_fails(open(paths[i], O_RDONLY), ENOENT);
    assert_fails(stat(paths[i], &status), ENOENT);
    assert_fails(access(paths[i], F_OK), ENOENT);
    assert_null(fopen(paths[i], "r"));
    assert_null(opendir(paths[i]));
  }
  assert_fails(open(TOPOLOGY "/nodes/1/properties", O_RDWR), EACCES);
  assert_null(opendir("/dev/kfd"));
}

static void expect_device(const struct stat *status, unsigned device_major, unsigned device_minor) {
  assert_true(S_ISCHR(status->st_mode));
  assert_int_equal(major(status->st_rdev), device_major);
  assert_int_equal(minor(status->st_rdev), device_minor);
}

static void test_devices_look_like_devices(void **state) {
  (void)state;
  struct stat status;
  struct statx extended;
  assert_int_equal(stat("/dev/kfd", &status), 0);
  assert_true(S_ISCHR(status.st_mode));
  assert_int_equal(stat("/dev/dri/renderD129", &status), 0);
  expect_device(&status, 226, 129);
  const int render = openat(AT_FDCWD, "/dev/dri/renderD129", O_RDWR);
  const int copied = fcntl(render, F_DUPFD_CLOEXEC, 100);
  assert_true(render >= 0 && copied >= 100);
  assert_int_equal(fstat(copied, &status), 0);
  expect_device(&status, 226, 129);
  assert_int_equal(statx(AT_FDCWD, "/dev/dri/renderD128", 0, STATX_TYPE, &extended), 0);
  assert_int_equal(extended.stx_rdev_minor, 128);
  assert_int_equal(access("/dev/dri/renderD128", R_OK | W_OK), 0);
  assert_fails(access(TOPOLOGY "/generation_id", W_OK), EACCES);
  assert_int_equal(stat("/sys/dev/char/226:129/device/drm", &status), 0);
  assert_true(S_ISDIR(status.st_mode));
  assert_int_equal(count_entries("/sys/dev/char/226:129/device/drm"), 2);
  close(render);
  close(copied);
  /* What is not the driver's is what it was. */
  assert_int_equal(stat("/dev/null", &status), 0);
  expect_device(&status, 1, 3);
  assert_fails(stat("/dev/nothing", &status), ENOENT);
}

static void test_links_are_read(void **state) {
  (void)state;
  char target[64] = "";
  assert_true(readlink("/sys/dev/char/226:128/device/subsystem", target, sizeof target - 1) > 0);
  assert_non_null(strstr(target, "bus/pci"));
  assert_int_equal(readlink("/sys/dev/char/226:128/device/subsystem", target, 3), 3);
  assert_fails((int)readlink("/dev/kfd", target, sizeof target), EINVAL);
}

/* As libraries of system management look for devices. */
static void test_management_finds_the_devices(void **state) {
  (void)state;
  struct stat status;
  char target[64] = "", line[64] = "";
  assert_int_equal(count_entries("/sys/class/drm"), 4);
  assert_int_equal(stat("/sys/class/drm/card1", &status), 0);
  assert_true(S_ISDIR(status.st_mode));
  assert_fails(stat("/sys/class/drm/card2", &status), ENOENT);
  assert_true(readlink("/sys/class/drm/card1", target, sizeof target - 1) > 0);
  assert_string_equal(target, "../../devices/pci0000:00/0000:02:00.0/drm/card1");
  assert_int_equal(readlink("/sys/class/drm/renderD128", target, 5), 5);
  static const struct {
    const char *name, *text;
  } rows[] = {{"vendor", "0x1002\n"},
              {"device", "0x66a1\n"},
              {"revision", "0x02\n"},
              {"unique_id", "67667873696d0002\n"},
              {"mem_info_vram_total", "1073741824\n"},
              {"mem_info_vram_used", "0\n"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char path[64];
    snprintf(path, sizeof path, "/sys/class/drm/card1/device/%s", rows[i].name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, rows[i].text);
    fclose(file);
  }
}

/* libdrm opens render nodes, and tells devices apart by their names. */
static void test_libdrm_knows_the_devices(void **state) {
  (void)state;
  void *library = dlopen("libdrm_amdgpu.so.1", RTLD_NOW);
  assert_non_null(library);
  int (*initialize)(int, uint32_t *, uint32_t *, void **) = NULL;
  const char *(*name_of)(void *) = NULL;
  *(void **)&initialize = dlsym(library, "amdgpu_device_initialize");
  *(void **)&name_of = dlsym(library, "amdgpu_get_marketing_name");
  void *device[2] = {NULL, NULL};
  for (int i = 0; i < 2; i++) {
    uint32_t version[2];
    const int file = open64(i ? "/dev/dri/renderD129" : "/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    assert_int_equal(initialize(file, &version[0], &version[1], &device[i]), 0);
    assert_int_equal(version[0], 3);
    close(file);
  }
  assert_ptr_not_equal(device[0], device[1]);
  assert_string_equal(name_of(device[0]), "AMD Instinct MI210");
}

/* ---- Calls ---- */

static void test_calls_that_are_wrong(void **state) {
  (void)state;
  uint64_t nothing[16] = {0};
  assert_int_equal(version_of(kfd), VERSION);
  assert_fails(ioctl(kfd, CALL(GET_VERSION), NULL), EFAULT);
  assert_fails(ioctl(kfd, CALL(0x7F), nothing), ENOTTY);
  assert_fails(ioctl(kfd, TIOCGWINSZ, nothing), ENOTTY);
  kfd_create_queue_by_engine_t queue = {
      .queue = {.gpu_id = FIRST_GPU, .type = KFD_QUEUE_SDMA_BY_ENGINE, .ring_size = PAGE}, .engine = 64};
  assert_fails(ioctl(kfd, CALL(CREATE_QUEUE), &queue), EINVAL); /* so many engines no GPU has */
  static const unsigned calls[] = {
      CREATE_QUEUE, 0x03,     0x07,          DESTROY_EVENT, SET_EVENT,   RESET_EVENT,  WAIT_EVENTS,
      ACQUIRE_VM,   ALLOCATE, FREE,          MAP,           UNMAP,       AVAILABLE,    0x04,
      0x12,         0x13,     DESCRIBE_FILE, IMPORT_FILE,   EXPORT_FILE, FIND_PROCESS, TELL_PROCESS};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    memset(nothing, 0, sizeof nothing);
    assert_fails(ioctl(kfd, CALL(calls[i]), nothing), EINVAL);
  }
}

/* Nobody samples program counters, and callers are told so in the driver's own words. */
static void test_no_sampling(void **state) {
  (void)state;
  uint64_t argument[8] = {0};
  assert_fails(ioctl(kfd, CALL(SAMPLE), argument), EOPNOTSUPP);
}

static void test_render_nodes_belong_to_their_gpus(void **state) {
  (void)state;
  const int render = open("/dev/dri/renderD129", O_RDWR | O_CLOEXEC);
  kfd_acquire_vm_t wanted = {.render_file = (uint32_t)render, .gpu_id = FIRST_GPU};
  assert_fails(ioctl(kfd, CALL(ACQUIRE_VM), &wanted), EINVAL);
  wanted.gpu_id = SECOND_GPU;
  assert_int_equal(ioctl(kfd, CALL(ACQUIRE_VM), &wanted), 0);
  assert_fails(ioctl(render, CALL(GET_VERSION), &wanted), ENOTTY);
  close(render);
}

/* ---- Memory ---- */

static uint8_t *reserve(size_t size) {
  uint8_t *address = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  assert_true(address != MAP_FAILED);
  return address;
}

static kfd_allocate_t request(const void *address, uint64_t size, uint32_t flags) {
  return (kfd_allocate_t){
      .address = (uintptr_t)address, .size = size, .gpu_id = FIRST_GPU, .flags = flags | KFD_MEMORY_WRITABLE};
}

static void release(uint64_t handle, void *address, size_t size) {
  kfd_free_t wanted = {.handle = handle};
  assert_int_equal(ioctl(kfd, CALL(FREE), &wanted), 0);
  assert_fails(ioctl(kfd, CALL(FREE), &wanted), EINVAL);
  /* The addresses stay the caller's until he gives them up. */
  assert_true(mmap(address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) ==
              MAP_FAILED);
  assert_int_equal(munmap(address, size), 0);
}

static void test_visible_memory_is_mapped(void **state) {
  (void)state;
  const size_t size = 8 * PAGE;
  uint8_t *address = reserve(size);
  kfd_allocate_t wanted = request(address, size, KFD_MEMORY_GTT);
  assert_int_equal(ioctl(kfd, CALL(ALLOCATE), &wanted), 0);
  assert_ptr_equal(
      mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, kfd, (off_t)wanted.mmap_offset),
      address);
  assert_int_equal(address[size - 1], 0);
  address[size - 1] = 1;
  uint32_t gpus[2] = {FIRST_GPU, SECOND_GPU};
  kfd_map_t map = {.handle = wanted.handle, .gpu_ids = (uintptr_t)gpus, .count = 2};
  for (int i = 0; i < 2; i++, map.done = 0) { /* twice is as once */
    assert_int_equal(ioctl(kfd, CALL(MAP), &map), 0);
    assert_int_equal(map.done, 2);
  }
  gpus[1] = 7;
  map.done = 0;
  assert_fails(ioctl(kfd, CALL(MAP), &map), EINVAL);
  /* At another address are the same bytes. */
  volatile uint8_t *other = mmap(NULL, size, PROT_READ, MAP_SHARED, kfd, (off_t)wanted.mmap_offset);
  assert_true(other != MAP_FAILED && other[size - 1] == 1);
  address[0] = 7;
  assert_int_equal(other[0], 7);
  assert_int_equal(munmap((void *)(uintptr_t)other, size), 0);
  kfd_allocate_t again = request(address + PAGE, PAGE, KFD_MEMORY_GTT);
  assert_fails(ioctl(kfd, CALL(ALLOCATE), &again), EINVAL); /* in use */
  release(wanted.handle, address, size);
}

static void test_private_memory_is_limited_and_hidden(void **state) {
  (void)state;
  const size_t size = (size_t)600 << 20;
  uint8_t *address = reserve(2 * size);
  kfd_available_memory_t before = {.gpu_id = FIRST_GPU}, after = before;
  assert_int_equal(ioctl(kfd, CALL(AVAILABLE), &before), 0);
  kfd_allocate_t first = request(address, size, KFD_MEMORY_VRAM),
                 second = request(address + size, size, KFD_MEMORY_VRAM);
  assert_int_equal(ioctl(kfd, CALL(ALLOCATE), &first), 0);
  assert_fails(ioctl(kfd, CALL(ALLOCATE), &second), ENOMEM);
  assert_int_equal(ioctl(kfd, CALL(AVAILABLE), &after), 0);
  assert_int_equal(before.bytes - after.bytes, size);
  void *seen = mmap(address, size, PROT_READ, MAP_SHARED | MAP_FIXED, kfd, (off_t)first.mmap_offset);
  assert_true(seen == MAP_FAILED && errno == EPERM);
  assert_ptr_equal(mmap(address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, kfd, (off_t)first.mmap_offset),
                   address);
  release(first.handle, address, size);
  assert_int_equal(ioctl(kfd, CALL(AVAILABLE), &after), 0);
  assert_int_equal(before.bytes, after.bytes);
  munmap(address + size, size);
}

static void test_memory_of_the_program(void **state) {
  (void)state;
  static uint8_t bytes[4 * PAGE] __attribute__((aligned(PAGE)));
  static const uint8_t constant[PAGE] __attribute__((aligned(PAGE))) = {1};
  uint8_t *address = reserve(sizeof bytes);
  kfd_allocate_t wanted = request(address, sizeof bytes, KFD_MEMORY_USERPTR);
  wanted.mmap_offset = (uintptr_t)constant;
  wanted.size = PAGE;
  assert_fails(ioctl(kfd, CALL(ALLOCATE), &wanted), EFAULT); /* which a GPU might write to */
  wanted.mmap_offset = (uintptr_t)bytes;
  wanted.size = sizeof bytes;
  assert_int_equal(ioctl(kfd, CALL(ALLOCATE), &wanted), 0);
  bytes[0] = 1; /* it stays the program's */
  release(wanted.handle, address, sizeof bytes);
  assert_int_equal(bytes[0], 1);
}

static void test_allocations_that_are_wrong(void **state) {
  (void)state;
  uint8_t *address = reserve(PAGE);
  static uint8_t used[PAGE] __attribute__((aligned(PAGE)));
  const kfd_allocate_t wrong[] = {
      request(address, 0, KFD_MEMORY_GTT),
      request(address, PAGE - 1, KFD_MEMORY_GTT),
      request(address + 1, PAGE, KFD_MEMORY_GTT),
      request(address, PAGE, KFD_MEMORY_GTT | KFD_MEMORY_VRAM),
      request(address, PAGE, 0),
      request(NULL, PAGE, KFD_MEMORY_USERPTR),
      request(address, PAGE, KFD_MEMORY_USERPTR),
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    kfd_allocate_t wanted = wrong[i];
    assert_fails(ioctl(kfd, CALL(ALLOCATE), &wanted), EINVAL);
  }
  kfd_allocate_t over = request(used, PAGE, KFD_MEMORY_GTT); /* would take the bytes of the program */
  assert_fails(ioctl(kfd, CALL(ALLOCATE), &over), ENOMEM);
  kfd_allocate_t far = request(address, UINT64_MAX - PAGE + 1, KFD_MEMORY_GTT);
  assert_fails(ioctl(kfd, CALL(ALLOCATE), &far), ENOMEM);
  munmap(address, PAGE);
}

/* Memory without an address is a file for whoever wants to map it, and is limited as all memory is. */
static void test_files_of_memory(void **state) {
  (void)state;
  const size_t size = 8 * PAGE;
  kfd_available_memory_t before = {.gpu_id = FIRST_GPU}, after = before;
  assert_int_equal(ioctl(kfd, CALL(AVAILABLE), &before), 0);
  kfd_allocate_t wanted = request(NULL, size, KFD_MEMORY_VRAM);
  assert_int_equal(ioctl(kfd, CALL(ALLOCATE), &wanted), 0);
  uint32_t gpu = FIRST_GPU;
  kfd_map_t map = {.handle = wanted.handle, .gpu_ids = (uintptr_t)&gpu, .count = 1};
  assert_fails(ioctl(kfd, CALL(MAP), &map), EINVAL); /* nowhere */
  kfd_export_dmabuf_t exported = {.handle = wanted.handle, .flags = O_CLOEXEC};
  assert_int_equal(ioctl(kfd, CALL(EXPORT_FILE), &exported), 0);
  assert_int_equal(fcntl((int)exported.file, F_GETFD), FD_CLOEXEC);
  assert_int_equal(lseek((int)exported.file, 0, SEEK_END), size);
  kfd_dmabuf_info_t info = {.file = exported.file, .metadata_size = 64};
  assert_int_equal(ioctl(kfd, CALL(DESCRIBE_FILE), &info), 0);
  assert_true(info.size == size && info.gpu_id == FIRST_GPU && info.flags & KFD_MEMORY_VRAM &&
              !info.metadata_size);
  uint8_t *address = reserve(size);
  kfd_import_dmabuf_t imported = {.address = (uintptr_t)address, .gpu_id = FIRST_GPU, .file = exported.file};
  assert_int_equal(ioctl(kfd, CALL(IMPORT_FILE), &imported), 0);
  assert_fails(ioctl(kfd, CALL(IMPORT_FILE), &imported), EINVAL); /* in use */
  assert_int_equal(ioctl(kfd, CALL(AVAILABLE), &after), 0);
  assert_int_equal(before.bytes - after.bytes, size); /* once */
  close((int)exported.file);
  info.file = (uint32_t)kfd;
  assert_fails(ioctl(kfd, CALL(DESCRIBE_FILE), &info), EINVAL);
  release(imported.handle, address, size);
  kfd_free_t last = {.handle = wanted.handle};
  assert_int_equal(ioctl(kfd, CALL(FREE), &last), 0);
  assert_int_equal(ioctl(kfd, CALL(AVAILABLE), &after), 0);
  assert_int_equal(before.bytes, after.bytes);
}

/* As the kernel's drm.h and amdgpu_drm.h have it. */
typedef struct gem_va {
  uint32_t handle, padding, operation, flags;
  uint64_t address, offset, size;
} gem_va_t;
enum { GEM_MAP = 1, GEM_UNMAP = 2, GEM_ALL_RIGHTS = 7 << 1 };

static int render_call(int render, unsigned number, void *argument) {
  return ioctl(render, _IOC(_IOC_READ | _IOC_WRITE, 'd', number, 8), argument);
}

/* A handle of the render node for memory without an address. */
static uint32_t import_memory(int render, const kfd_allocate_t *memory) {
  kfd_export_dmabuf_t exported = {.handle = memory->handle, .flags = O_CLOEXEC};
  assert_int_equal(ioctl(kfd, CALL(EXPORT_FILE), &exported), 0);
  uint32_t prime[3] = {0, 0, exported.file};
  assert_int_equal(render_call(render, 0x2E, prime), 0);
  close((int)exported.file);
  return prime[0];
}

/* To the driver, addresses are in use where a GPU has them mapped, so a program may reserve them by an
 * allocation that no GPU maps: ROCr 6.1 does, and then maps files there. */
static void test_files_at_reserved_addresses(void **state) {
  (void)state;
  const size_t size = 8 * PAGE;
  uint8_t *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  kfd_allocate_t reserved = request(address, size, KFD_MEMORY_USERPTR);
  kfd_allocate_t memory = request(NULL, 2 * PAGE, KFD_MEMORY_VRAM),
                 over = request(address + 2 * PAGE, PAGE, KFD_MEMORY_GTT);
  reserved.mmap_offset = (uintptr_t)address;
  assert_int_equal(ioctl(kfd, CALL(ALLOCATE), &reserved), 0);
  assert_int_equal(ioctl(kfd, CALL(ALLOCATE), &memory), 0);
  const int render = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
  uint32_t handle = import_memory(render, &memory), gpu = FIRST_GPU;
  gem_va_t view = {.handle = handle, .operation = GEM_MAP, .flags = GEM_ALL_RIGHTS, .size = 2 * PAGE}, other,
           end;
  view.address = (uintptr_t)address;
  other = end = view;
  other.address += 4 * PAGE;
  end.operation = GEM_UNMAP;
  kfd_map_t map = {.handle = reserved.handle, .gpu_ids = (uintptr_t)&gpu, .count = 1}, unmap = map;

  assert_int_equal(ioctl(kfd, CALL(MAP), &map), 0);
  assert_fails(render_call(render, 0x48, &view), EINVAL); /* a GPU has them mapped */
  assert_int_equal(ioctl(kfd, CALL(UNMAP), &unmap), 0);
  assert_int_equal(render_call(render, 0x48, &view), 0);
  assert_int_equal(render_call(render, 0x48, &other), 0);
  assert_fails(ioctl(kfd, CALL(MAP), &map), EINVAL); /* and now, too */
  assert_fails(ioctl(kfd, CALL(ALLOCATE), &over), EINVAL);
  assert_int_equal(render_call(render, 0x48, &end), 0);
  assert_fails(render_call(render, 0x48, &end), EINVAL);
  assert_fails(ioctl(kfd, CALL(MAP), &map), EINVAL); /* the other file is still there */
  end.address = other.address;
  assert_int_equal(render_call(render, 0x48, &end), 0);
  map.done = 0;
  assert_int_equal(ioctl(kfd, CALL(MAP), &map), 0); /* nothing is left in its addresses */
  unmap.done = 0;
  assert_int_equal(ioctl(kfd, CALL(UNMAP), &unmap), 0);

  /* Whoever frees the reservation first frees no file with it. */
  assert_int_equal(render_call(render, 0x48, &view), 0);
  kfd_free_t first = {.handle = reserved.handle}, last = {.handle = memory.handle};
  assert_int_equal(ioctl(kfd, CALL(FREE), &first), 0);
  end.address = view.address;
  assert_int_equal(render_call(render, 0x48, &end), 0);
  assert_int_equal(ioctl(kfd, CALL(FREE), &last), 0);
  assert_int_equal(render_call(render, 0x09, &(uint64_t){handle}), 0);
  close(render);
  munmap(address, size);
}

/* ---- Events ---- */

static uint32_t create_event(void) {
  kfd_create_event_t event = {.auto_reset = 1};
  assert_int_equal(ioctl(kfd, CALL(CREATE_EVENT), &event), 0);
  assert_true(event.page_offset != 0 && event.slot_index == event.event_id - 1);
  return event.event_id;
}

static uint32_t wait_for(kfd_waited_event_t *events, uint32_t count, uint32_t milliseconds) {
  kfd_wait_events_t wait = {.events = (uintptr_t)events, .count = count, .timeout = milliseconds};
  assert_int_equal(ioctl(kfd, CALL(WAIT_EVENTS), &wait), 0);
  return wait.result;
}

static void set_event(uint32_t id, unsigned call) {
  kfd_event_id_t event = {.event_id = id};
  assert_int_equal(ioctl(kfd, CALL(call), &event), 0);
}

static void test_events(void **state) {
  (void)state;
  kfd_waited_event_t events[2] = {{.event_id = create_event()}, {.event_id = create_event()}};
  assert_int_equal(wait_for(events, 2, 0), KFD_WAIT_TIMEOUT);
  set_event(events[1].event_id, SET_EVENT);
  assert_int_equal(wait_for(events, 2, 10000), KFD_WAIT_COMPLETE);
  assert_int_equal(wait_for(events, 2, 1), KFD_WAIT_TIMEOUT); /* the wait took it */
  set_event(events[1].event_id, SET_EVENT);
  set_event(events[1].event_id, RESET_EVENT);
  assert_int_equal(wait_for(events, 2, 1), KFD_WAIT_TIMEOUT);
  set_event(events[0].event_id, DESTROY_EVENT);
  kfd_wait_events_t wait = {.events = (uintptr_t)events, .count = 2};
  assert_fails(ioctl(kfd, CALL(WAIT_EVENTS), &wait), EINVAL);
  set_event(events[1].event_id, DESTROY_EVENT);
}

/* The first event brings the page on which devices announce events; later ones may bring another. */
static void test_page_of_events(void **state) {
  (void)state;
  const size_t size = 8 * PAGE;
  for (int i = 0; i < 2; i++) {
    uint64_t *page = (uint64_t *)(void *)reserve(size);
    kfd_allocate_t wanted = request(page, size, KFD_MEMORY_GTT);
    assert_int_equal(ioctl(kfd, CALL(ALLOCATE), &wanted), 0);
    kfd_create_event_t event = {.page_offset = wanted.handle, .auto_reset = 1};
    assert_int_equal(ioctl(kfd, CALL(CREATE_EVENT), &event), 0);
    for (size_t slot = 0; slot < size / sizeof *page; slot++)
      assert_true(page[slot] == UINT64_MAX); /* nothing is announced */
    set_event(event.event_id, DESTROY_EVENT);
    event.page_offset = wanted.handle + 1000;
    assert_fails(ioctl(kfd, CALL(CREATE_EVENT), &event), EINVAL);
    release(wanted.handle, page, size);
  }
}

/* Who has seen an age does not miss what another wait took. */
static void test_ages_of_events(void **state) {
  (void)state;
  kfd_waited_event_t mine = {.event_id = create_event()}, other = mine;
  mine.data.last_age = 1;
  assert_int_equal(wait_for(&mine, 1, 0), KFD_WAIT_TIMEOUT);
  set_event(mine.event_id, SET_EVENT);
  assert_int_equal(wait_for(&other, 1, 0), KFD_WAIT_COMPLETE);
  assert_int_equal(wait_for(&mine, 1, 0), KFD_WAIT_COMPLETE);
  assert_int_equal(mine.data.last_age, 2);
  assert_int_equal(wait_for(&mine, 1, 0), KFD_WAIT_TIMEOUT);
  set_event(mine.event_id, DESTROY_EVENT);
}

/* The driver says how large the memory is to which a queue's waves are saved, and takes no other control
 * stack and nothing smaller; nor another buffer for the ends of kernels. Leaves sizes that it takes. */
static void expect_save_area(kfd_create_queue_t *queue) {
  const uint32_t stack = (uint32_t)value_in(TOPOLOGY "/nodes/1/properties", "ctl_stack_size");
  const uint32_t area = (uint32_t)value_in(TOPOLOGY "/nodes/1/properties", "cwsr_size");
  const struct {
    uint32_t stack, area;
    uint64_t end_of_pipe, end_bytes;
  } bad[] = {{0, area, 0, 0},
             {stack - PAGE, area, 0, 0},
             {stack + PAGE, area, 0, 0},
             {stack, area - 1, 0, 0},
             {stack, area, queue->ring, 2 * PAGE}};
  /* Four compute units, of 40 waves each with 8 bytes; registers, LDS and the state of the hardware. */
  assert_int_equal(stack, PAGE);
  assert_int_equal(area, PAGE + 4 * (0x80000 + 0x4000 + 0x10000 + 0x1000));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    queue->control_stack_size = bad[i].stack;
    queue->save_area_size = bad[i].area;
    queue->eop_address = bad[i].end_of_pipe;
    queue->eop_size = bad[i].end_bytes;
    assert_fails(ioctl(kfd, CALL(CREATE_QUEUE), queue), EINVAL);
  }
  queue->control_stack_size = stack;
  queue->save_area_size = area;
  queue->eop_size = PAGE;
}

/* A queue whose commands are PM4: a kernel that is described by registers stores a word, and the release
 * behind it raises an event. */
static void run_pm4_kernel(uint32_t groups) {
  enum {
    CODE = 1024,
    PLACE = 2048,
    INDEX = 3072,
    SIZE = 4 * PAGE,
    WORD = 0x12345678
  }; /* offsets: in bytes */
  /* v_mov_b32 v0, 0; v_mov_b32 v1, WORD; v_add_u32 v1, s2, v1; global_store_dword v0, v1, s[0:1]; s_endpgm:
   * s2 is the group's number */
  static const uint32_t code[] = {0x7E000280, 0x7E0202FF, WORD,      0x68020202,
                                  0xDC708000, 0x00000100, 0xBF810000};
  kfd_waited_event_t event = {.event_id = create_event()};
  uint32_t *ring = (uint32_t *)(void *)reserve(SIZE);
  const uint64_t base = (uintptr_t)ring, entry = base + PAGE + CODE, place = base + PAGE + PLACE;
  kfd_allocate_t wanted = request(ring, SIZE, KFD_MEMORY_GTT | KFD_MEMORY_WRITABLE | KFD_MEMORY_EXECUTABLE);
  assert_int_equal(ioctl(kfd, CALL(ALLOCATE), &wanted), 0);
  assert_ptr_equal(
      mmap(ring, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, kfd, (off_t)wanted.mmap_offset), ring);
  uint32_t gpu = FIRST_GPU;
  kfd_map_t map = {.handle = wanted.handle, .gpu_ids = (uintptr_t)&gpu, .count = 1};
  assert_int_equal(ioctl(kfd, CALL(MAP), &map), 0);
  memcpy(ring + (PAGE + CODE) / 4, code, sizeof code);
  uint64_t *write = (uint64_t *)(void *)(ring + (PAGE + INDEX) / 4);
  volatile uint32_t *stored = ring + (PAGE + PLACE) / 4;
  kfd_create_queue_t queue = {.ring = base,
                              .ring_size = PAGE,
                              .write_pointer = (uintptr_t)write,
                              .read_pointer = (uintptr_t)(write + 1),
                              .gpu_id = FIRST_GPU,
                              .type = KFD_QUEUE_COMPUTE,
                              .percentage = 100};
  expect_save_area(&queue);
  assert_int_equal(ioctl(kfd, CALL(CREATE_QUEUE), &queue), 0);
  const uint32_t commands[] = {0xC0017600,
                               0x20C,
                               (uint32_t)(entry >> 8),
                               0xC0017600,
                               0x20D,
                               (uint32_t)(entry >> 40),
                               0xC0037600,
                               0x207,
                               1,
                               1,
                               1,
                               0xC0027600,
                               0x212,
                               0,
                               2 << 1 | 1 << 7,
                               0xC0027600,
                               0x240,
                               (uint32_t)place,
                               (uint32_t)(place >> 32),
                               0xC0031500,
                               groups,
                               1,
                               1,
                               1,
                               0xC0064900,
                               0,
                               1 << 24,
                               0,
                               0,
                               0,
                               0,
                               event.event_id};
  memcpy(ring, commands, sizeof commands);
  kfd_update_queue_t stop = {.queue_id = queue.queue_id, .ring_size = PAGE, .percentage = 100};
  kfd_update_queue_t go = {.ring = base, .queue_id = queue.queue_id, .ring_size = PAGE, .percentage = 100};
  assert_int_equal(ioctl(kfd, CALL(UPDATE_QUEUE), &stop), 0); /* without a ring it does nothing */
  __atomic_store_n(write, sizeof commands / sizeof *commands, __ATOMIC_RELEASE);
  assert_int_equal(wait_for(&event, 1, 100), KFD_WAIT_TIMEOUT);
  assert_int_equal(*stored, 0);
  assert_int_equal(ioctl(kfd, CALL(UPDATE_QUEUE), &go), 0);
  assert_int_equal(wait_for(&event, 1, 10000), KFD_WAIT_COMPLETE);
  assert_in_range(*stored, WORD, WORD + groups - 1);
  kfd_destroy_queue_t end = {.queue_id = queue.queue_id};
  assert_int_equal(ioctl(kfd, CALL(DESTROY_QUEUE), &end), 0);
  assert_int_equal(write[1], sizeof commands / sizeof *commands);
  set_event(event.event_id, DESTROY_EVENT);
  release(wanted.handle, ring, SIZE);
}

static void test_queue_of_pm4(void **state) {
  (void)state;
  run_pm4_kernel(1);
}

/* For pm4_check.sh: two workgroups, of which nothing says who stores first. */
static void race_of_pm4(void **state) {
  (void)state;
  run_pm4_kernel(2);
}

/* ---- Descriptors, processes, threads ---- */

static void test_copies_of_descriptors(void **state) {
  (void)state;
  const int copied = dup(kfd), other = open("/dev/kfd", O_RDWR);
  assert_int_equal(version_of(copied), VERSION);
  assert_int_equal(version_of(other), VERSION);
  assert_int_equal(fcntl(other, F_GETFD), 0);
  assert_int_equal(fcntl(kfd, F_GETFD), FD_CLOEXEC);
  close(copied);
  close(other);
  const int null = open("/dev/null", O_RDWR);
  assert_int_equal(dup2(null, other), other); /* a number that was the driver's */
  assert_int_equal(version_of(other), -ENOTTY);
  close(null);
  close(other);
}

static int wait_status(pid_t child) {
  int status = -1;
  return waitpid(child, &status, 0) == child ? status : -1;
}

/* A program that closes all that it does not know. */
static void test_closing_all_descriptors(void **state) {
  (void)state;
  const pid_t child = fork();
  if (child == 0) {
    kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    const uint32_t event = create_event();
    for (int file = 3; file < 4096; file++)
      close(file);
    set_event(event, SET_EVENT);
    kfd_waited_event_t wanted = {.event_id = event};
    const bool kept = wait_for(&wanted, 1, 0) == KFD_WAIT_COMPLETE;
    const int again = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    _exit(kept && version_of(again) == VERSION ? 0 : 1);
  }
  assert_int_equal(wait_status(child), 0);
}

static void test_fork(void **state) {
  (void)state;
  const uint32_t event = create_event();
  const pid_t child = fork();
  if (child == 0) {
    if (version_of(kfd) != -EBADF)
      _exit(1);
    kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    kfd_event_id_t parents = {.event_id = event};
    if (version_of(kfd) != VERSION || ioctl(kfd, CALL(SET_EVENT), &parents) != -1)
      _exit(2);
    _exit(count_entries(TOPOLOGY "/nodes") == 3 ? 0 : 3);
  }
  assert_int_equal(wait_status(child), 0);
  assert_int_equal(version_of(kfd), VERSION);
  set_event(event, DESTROY_EVENT);
}

/* A process of the machine that `file` stands for: says how much of a GPU is free, takes 600 MiB of it, and
 * says whether it could; then it lives until it is killed. */
static pid_t start_on_machine(const char *file, const char *devices, int64_t answer[2]) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  if (!child) {
    const size_t size = (size_t)600 << 20;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
    kfd_available_memory_t room = {.gpu_id = FIRST_GPU};
    setenv("GFXSIM_SHARED", file, 1);
    setenv("GFXSIM_DEVICES", devices, 1);
    kfd = open("/dev/kfd", O_RDWR);
    kfd_allocate_t wanted = request(reserve(size), size, KFD_MEMORY_VRAM);
    answer[0] = ioctl(kfd, CALL(AVAILABLE), &room) ? -1 : (int64_t)room.bytes;
    answer[1] = ioctl(kfd, CALL(ALLOCATE), &wanted) ? errno : 0;
    if (write(ends[1], answer, 2 * sizeof *answer) > 0)
      pause();
    _exit(1);
  }
  close(ends[1]);
  assert_int_equal(read(ends[0], answer, 2 * sizeof *answer), 2 * sizeof *answer);
  close(ends[0]);
  return child;
}

static void end(pid_t child) {
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, NULL, 0), child);
}

static void test_processes_share_memory(void **state) {
  (void)state;
  static const char devices[] = "gfx90a:1G,gfx906:1G", others[] = "gfx90a:1G";
  char file[] = "/tmp/gfxsim-door-XXXXXX";
  const int made = mkstemp(file);
  assert_true(made >= 0);
  int64_t first[2], second[2], stranger[2], late[2];
  const pid_t holder = start_on_machine(file, devices, first);
  assert_int_equal(first[0], INT64_C(1) << 30);
  assert_int_equal(first[1], 0);
  end(start_on_machine(file, devices, second));
  assert_int_equal(second[0], (INT64_C(1) << 30) - (INT64_C(600) << 20));
  assert_int_equal(second[1], ENOMEM);
  end(start_on_machine(file, others, stranger)); /* another machine, which says so */
  assert_int_equal(stranger[1], 0);
  end(holder); /* who cannot give anything back */
  end(start_on_machine(file, devices, late));
  assert_int_equal(late[0], INT64_C(1) << 30);
  assert_int_equal(late[1], 0);
  close(made);
  unlink(file);
}

static void test_exec(void **state) {
  (void)state;
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "door", "--once", (char *)NULL);
    _exit(9);
  }
  assert_int_equal(wait_status(child), 0);
}

static void *open_and_close(void *failed) {
  for (int i = 0; i < 200; i++) {
    const int file = open("/dev/kfd", O_RDWR | O_CLOEXEC);
    FILE *text = fopen(TOPOLOGY "/nodes/1/gpu_id", "r");
    unsigned id = 0;
    if (version_of(file) != VERSION || !text || fscanf(text, "%u", &id) != 1 || id != FIRST_GPU)
      return failed;
    DIR *folder = opendir(TOPOLOGY "/nodes");
    if (!folder || !readdir(folder))
      return failed;
    closedir(folder);
    fclose(text);
    close(file);
  }
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t thread[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, open_and_close, thread), 0);
  for (int i = 0; i < THREADS; i++) {
    void *failed = thread;
    pthread_join(thread[i], &failed);
    assert_null(failed);
  }
}

static void on_alarm(int number) {
  (void)number;
}

/* A handler runs while a thread waits, and the wait goes on. */
static void test_signals(void **state) {
  (void)state;
  struct sigaction action = {.sa_handler = on_alarm};
  kfd_waited_event_t event = {.event_id = create_event()};
  sigaction(SIGALRM, &action, NULL);
  ualarm(20000, 0);
  assert_int_equal(wait_for(&event, 1, 200), KFD_WAIT_TIMEOUT);
  set_event(event.event_id, DESTROY_EVENT);
}

static int once(void) {
  kfd = open("/dev/kfd", O_RDWR);
  return version_of(kfd) == VERSION && count_entries(TOPOLOGY "/nodes") == 3 ? 0 : 1;
}

int main(int argc, char **argv) {
  const struct CMUnitTest race[] = {cmocka_unit_test(race_of_pm4)};
  if (argc > 1 && strcmp(argv[1], "--race-of-pm4") == 0)
    return cmocka_run_group_tests(race, open_kfd, NULL);
  if (argc > 1)
    return strcmp(argv[1], "--once") ? 2 : once();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_topology_is_text),
      cmocka_unit_test(test_paths_that_are_not_there),
      cmocka_unit_test(test_devices_look_like_devices),
      cmocka_unit_test(test_links_are_read),
      cmocka_unit_test(test_management_finds_the_devices),
      cmocka_unit_test(test_libdrm_knows_the_devices),
      cmocka_unit_test(test_calls_that_are_wrong),
      cmocka_unit_test(test_no_sampling),
      cmocka_unit_test(test_render_nodes_belong_to_their_gpus),
      cmocka_unit_test(test_visible_memory_is_mapped),
      cmocka_unit_test(test_private_memory_is_limited_and_hidden),
      cmocka_unit_test(test_memory_of_the_program),
      cmocka_unit_test(test_allocations_that_are_wrong),
      cmocka_unit_test(test_files_of_memory),
      cmocka_unit_test(test_files_at_reserved_addresses),
      cmocka_unit_test(test_events),
      cmocka_unit_test(test_page_of_events),
      cmocka_unit_test(test_ages_of_events),
      cmocka_unit_test(test_queue_of_pm4),
      cmocka_unit_test(test_copies_of_descriptors),
      cmocka_unit_test(test_closing_all_descriptors),
      cmocka_unit_test(test_fork),
      cmocka_unit_test(test_processes_share_memory),
      cmocka_unit_test(test_exec),
      cmocka_unit_test(test_threads),
      cmocka_unit_test(test_signals),
  };
  return cmocka_run_group_tests_name("the kernel driver's interface", tests, open_kfd, NULL);
}
