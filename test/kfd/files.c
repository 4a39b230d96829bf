/* The driver's files as programs look for them that are no users of ROCr: folders by descriptor and from
 * within, names in folders of the system, links and where they lead, what libraries of system management
 * read, and what a device does as a file. Libgfxsim-kfd.so is preloaded. Expects
 * GFXSIM_DEVICES=gfx90a:1G,gfx906:1G. Not here: calls of the devices (door.c). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define NODES      "/sys/class/kfd/kfd/topology/nodes"
#define REAL_NODES "/sys/devices/virtual/kfd/kfd/topology/nodes"
#define CPUS       "/sys/devices/system/node/node0"
#define SECOND     "/sys/devices/pci0000:00/0000:02:00.0"

#define assert_fails(call, error)                                                                            \
  do {                                                                                                       \
    errno = 0;                                                                                               \
    assert_int_equal(call, -1);                                                                              \
    assert_int_equal(errno, error);                                                                          \
  } while (0)

static bool is_device(int file, unsigned device_major, unsigned device_minor) {
  struct stat status;
  return !fstat(file, &status) && S_ISCHR(status.st_mode) && major(status.st_rdev) == device_major &&
         minor(status.st_rdev) == device_minor;
}

/* The first line of a file, as `openat` finds it. */
static const char *line_of(int folder, const char *path) {
  static char line[128];
  const int file = openat(folder, path, O_RDONLY | O_CLOEXEC);
  assert_true(file >= 0);
  const ssize_t size = read(file, line, sizeof line - 1);
  assert_true(size >= 0);
  line[size] = '\0';
  line[strcspn(line, "\n")] = '\0';
  close(file);
  return line;
}

/* How often a stream has names that begin so. Closes it. */
static unsigned count(DIR *stream, const char *prefix) {
  unsigned found = 0;
  assert_non_null(stream);
  for (const struct dirent *entry; (entry = readdir(stream));)
    found += !strncmp(entry->d_name, prefix, strlen(prefix));
  closedir(stream);
  return found;
}

static void test_relative_paths(void **state) {
  (void)state;
  const int dri = open("/dev/dri", O_RDONLY | O_DIRECTORY), dev = open("/dev", O_PATH | O_DIRECTORY);
  assert_true(dri >= 0 && dev >= 0);
  assert_true(is_device(openat(dri, "renderD129", O_RDWR), 226, 129));
  assert_true(is_device(openat(dri, "../kfd", O_RDWR), 234, 0));
  assert_true(is_device(openat(dev, "kfd", O_RDWR), 234, 0));
  assert_true(is_device(openat(dev, "./dri//card1", O_RDWR), 226, 1));
  assert_true(is_device(open("/dev/../dev/./kfd", O_RDWR), 234, 0));
  assert_fails(openat(dri, "renderD130", O_RDWR), ENOENT);
  const int nodes = open(NODES, O_PATH | O_DIRECTORY);
  const int node = openat(nodes, "1", O_RDONLY | O_DIRECTORY);
  assert_string_equal(line_of(node, "gpu_id"), "4097");
  assert_string_equal(line_of(node, "../2/gpu_id"), "4098");
  struct stat status;
  assert_int_equal(fstatat(node, "mem_banks/0", &status, 0), 0);
  assert_true(S_ISDIR(status.st_mode));
  assert_int_equal(faccessat(node, "properties", R_OK, 0), 0);
  assert_fails(fstatat(node, "mem_banks/1", &status, 0), ENOENT);
  /* What is not the driver's is found as ever. */
  const int root = open("/", O_PATH | O_DIRECTORY);
  assert_true(is_device(openat(root, "dev/null", O_RDWR), 1, 3));
  assert_true(is_device(openat(dev, "null", O_RDWR), 1, 3));
  close(root);
  close(node);
  close(nodes);
  close(dev);
  close(dri);
}

static void test_streams_of_descriptors(void **state) {
  (void)state;
  assert_int_equal(count(fdopendir(open("/dev/dri", O_RDONLY | O_DIRECTORY)), "card"), 2);
  assert_int_equal(count(opendir("/dev"), "kfd"), 1);
  assert_int_equal(count(opendir("/dev/"), "dri"), 1);
  assert_int_equal(count(opendir("/dev"), "null"), 1);
  assert_int_equal(count(fdopendir(open("/sys/class", O_RDONLY | O_DIRECTORY)), "drm"), 1);
  DIR *stream = opendir(NODES);
  assert_non_null(stream);
  for (int i = 0; i < 3; i++)
    assert_non_null(readdir(stream));
  const long place = telldir(stream);
  const struct dirent *entry = readdir(stream);
  assert_string_equal(entry->d_name, "1");
  assert_int_equal(entry->d_type, DT_DIR);
  seekdir(stream, place);
  assert_string_equal(readdir(stream)->d_name, "1");
  closedir(stream);
}

static int is_no_dot(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

static void test_lists_of_the_library(void **state) {
  (void)state;
  struct dirent **names;
  assert_int_equal(scandir(NODES, &names, is_no_dot, alphasort), 3);
  for (int i = 0; i < 3; free(names[i++]))
    assert_int_equal(names[i]->d_name[0], '0' + i);
  free(names);
  assert_fails(scandir(NODES "/3", &names, NULL, NULL), ENOENT);
  static const struct {
    const char *pattern, *first;
    size_t count;
  } rows[] = {
      {"/sys/class/drm/card[0-9]*", "/sys/class/drm/card0", 2},
      {"/dev/dri/render*", "/dev/dri/renderD128", 2},
      {"/dev/k*d", "/dev/kfd", 1},
      {NODES "/*/gpu_id", NODES "/0/gpu_id", 3},
      {"/sys/class/drm/card*/device/hwmon/*/name", "/sys/class/drm/card0/device/hwmon/hwmon0/name", 2}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    glob_t paths;
    assert_int_equal(glob(rows[i].pattern, 0, NULL, &paths), 0);
    assert_int_equal(paths.gl_pathc, rows[i].count);
    assert_string_equal(paths.gl_pathv[0], rows[i].first);
    globfree(&paths);
  }
}

static void test_links_lead_somewhere(void **state) {
  (void)state;
  static const char *const rows[][2] = {{NODES, REAL_NODES},
                                        {"/sys/class/drm/card1/device", SECOND},
                                        {"/sys/class/drm/card1/device/drm/renderD129/device", SECOND},
                                        {"/sys/dev/char/226:129/device", SECOND},
                                        {"/sys/bus/pci/drivers/amdgpu/0000:02:00.0", SECOND},
                                        {"/sys/class/drm/card1/device/driver", "/sys/bus/pci/drivers/amdgpu"},
                                        {"/dev/kfd", "/dev/kfd"},
                                        {"/dev/null", "/dev/null"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char resolved[PATH_MAX];
    assert_ptr_equal(realpath(rows[i][0], resolved), resolved);
    assert_string_equal(resolved, rows[i][1]);
    char *other = canonicalize_file_name(rows[i][0]);
    assert_string_equal(other, rows[i][1]);
    free(other);
  }
  assert_null(realpath("/sys/class/drm/card2", NULL));
  struct stat status, followed;
  assert_int_equal(lstat("/sys/class/drm/card1", &status), 0);
  assert_true(S_ISLNK(status.st_mode));
  assert_int_equal(stat("/sys/class/drm/card1", &status), 0);
  assert_int_equal(stat(SECOND "/drm/card1", &followed), 0);
  assert_true(S_ISDIR(status.st_mode) && status.st_ino == followed.st_ino);
  assert_fails(open("/sys/class/drm/card1", O_RDONLY | O_NOFOLLOW), ELOOP);
  assert_string_equal(line_of(AT_FDCWD, "/sys/dev/char/234:0/dev"), "234:0");
}

/* Descriptors and paths tell the same, also of whom a descriptor is. */
static void test_what_files_are(void **state) {
  (void)state;
  static const char *const paths[] = {REAL_NODES, REAL_NODES "/1/properties", "/dev/dri/card1", "/dev/kfd"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    struct stat by_path, by_file;
    struct statx extended;
    char link[32], name[PATH_MAX] = "";
    const int file = open(paths[i], O_RDONLY | O_CLOEXEC);
    assert_int_equal(stat(paths[i], &by_path), 0);
    assert_int_equal(fstat(file, &by_file), 0);
    assert_int_equal(by_path.st_mode & S_IFMT, by_file.st_mode & S_IFMT);
    assert_int_equal(by_path.st_rdev, by_file.st_rdev);
    assert_int_equal(statx(file, "", AT_EMPTY_PATH, STATX_TYPE, &extended), 0);
    assert_int_equal(extended.stx_mode & S_IFMT, by_path.st_mode & S_IFMT);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    assert_int_equal(readlink(link, name, sizeof name - 1), (ssize_t)strlen(paths[i]));
    assert_string_equal(name, paths[i]);
    assert_int_equal(listxattr(paths[i], name, sizeof name), 0);
    assert_fails((int)lgetxattr(paths[i], "security.selinux", name, sizeof name), ENODATA);
    close(file);
  }
  /* Folders and texts have numbers of their own, so that whoever walks knows where he was. */
  struct stat one, two;
  assert_int_equal(stat(NODES "/1", &one), 0);
  assert_int_equal(stat(NODES "/2", &two), 0);
  assert_true(one.st_ino != two.st_ino);
}

static void test_from_within(void **state) {
  (void)state;
  char before[PATH_MAX], now[PATH_MAX];
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(NODES "/1"), 0);
  assert_non_null(getcwd(now, sizeof now));
  assert_string_equal(now, REAL_NODES "/1");
  assert_string_equal(line_of(AT_FDCWD, "name"), "aldebaran");
  assert_string_equal(line_of(AT_FDCWD, "../2/name"), "vega20");
  assert_int_equal(count(opendir("."), "prop"), 1);
  assert_int_equal(chdir("/dev"), 0);
  assert_true(is_device(open("kfd", O_RDWR), 234, 0));
  assert_fails(chdir(NODES "/3"), ENOENT);
  assert_fails(chdir("/dev/kfd"), ENOTDIR);
  assert_int_equal(chdir(before), 0);
}

/* Of management: what the driver says of the second GPU. */
static void test_management(void **state) {
  (void)state;
  static const char *const rows[][2] = {{"vendor", "0x1002"},
                                        {"device", "0x66a1"},
                                        {"subsystem_device", "0x66a1"},
                                        {"revision", "0x02"},
                                        {"class", "0x038000"},
                                        {"unique_id", "67667873696d0002"},
                                        {"mem_info_vram_total", "1073741824"},
                                        {"mem_info_vis_vram_total", "0"},
                                        {"pp_dpm_sclk", "0: 1725Mhz *"},
                                        {"current_link_speed", "16.0 GT/s PCIe"},
                                        {"current_link_width", "16"},
                                        {"power_dpm_force_performance_level", "auto"},
                                        {"uevent", "DRIVER=amdgpu"},
                                        {"hwmon/hwmon1/name", "amdgpu"},
                                        {"hwmon/hwmon1/freq1_input", "1725000000"},
                                        {"drm/card1/dev", "226:1"},
                                        {"drm/renderD129/uevent", "MAJOR=226"}};
  const int device = open("/sys/class/drm/card1/device", O_RDONLY | O_DIRECTORY);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_string_equal(line_of(device, rows[i][0]), rows[i][1]);
  /* Every name that is listed is there, and is what the listing says. */
  DIR *stream = fdopendir(device);
  for (const struct dirent *entry; (entry = readdir(stream));) {
    struct stat status;
    assert_int_equal(fstatat(device, entry->d_name, &status, AT_SYMLINK_NOFOLLOW), 0);
    assert_int_equal(entry->d_type, IFTODT(status.st_mode));
  }
  closedir(stream);
  assert_fails(open(SECOND "/pp_dpm_sclk", O_WRONLY), EACCES);
  assert_fails(open(SECOND "/drm/card0", O_RDONLY), ENOENT);
}

/* The kernel sees a file in memory; the program is to see a device. */
static void test_devices_as_files(void **state) {
  (void)state;
  uint64_t word = 0;
  const int kfd = open("/dev/kfd", O_RDWR | O_CLOEXEC), render = open("/dev/dri/renderD128", O_RDWR);
  assert_fails(open("/dev/kfd", O_RDWR | O_DIRECTORY), ENOTDIR);
  assert_fails(open("/dev/kfd", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST);
  assert_int_equal(read(kfd, &word, sizeof word), 0);
  assert_int_equal(write(kfd, &word, sizeof word), -1);
  assert_int_equal(ftruncate(kfd, 1), -1);
  assert_ptr_equal(mmap(NULL, 4096, PROT_READ, MAP_SHARED, kfd, 0), MAP_FAILED);
  assert_ptr_equal(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, render, 0), MAP_FAILED);
  static const unsigned long requests[] = {FIONREAD, TIOCGWINSZ, _IO('K', 0x7f), _IO('X', 1), 0};
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    assert_fails(ioctl(kfd, requests[i], &word), ENOTTY);
    assert_int_equal(ioctl(render, requests[i], &word), -1);
  }
  assert_int_equal(ioctl(kfd, FIOCLEX), 0);
  struct pollfd ready = {.fd = kfd, .events = POLLIN};
  assert_int_equal(poll(&ready, 1, 0), 1); /* as with all devices that cannot be waited for */
  const int waits = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  assert_fails(epoll_ctl(waits, EPOLL_CTL_ADD, kfd, &event), EPERM);
  const int plain = open("/dev/null", O_RDWR);
  assert_int_equal(dup2(plain, kfd), kfd);
  assert_fails(ioctl(kfd, _IOR('K', 1, uint64_t), &word), ENOTTY); /* it is another file now */
  close(waits);
  close(plain);
  close(kfd);
  close(render);
}

static void test_opened_anew(void **state) {
  (void)state;
  char line[32];
  FILE *stream = freopen(NODES "/2/name", "r", fopen("/dev/null", "r"));
  assert_non_null(stream);
  assert_non_null(fgets(line, sizeof line, stream));
  assert_string_equal(line, "vega20\n");
  assert_null(freopen(NODES "/3/name", "r", stream));
}

/* Programs that others start see the same: `command` says so by its status. */
static void expect_success(const char *command) {
  char *const words[] = {(char *)"sh", (char *)"-c", (char *)command, NULL};
  extern char **environ;
  pid_t child;
  int status = 0;
  assert_int_equal(posix_spawnp(&child, "sh", NULL, NULL, words, environ), 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (status)
    print_message("failed: %s\n", command);
  assert_int_equal(status, 0);
}

static void test_other_programs(void **state) {
  (void)state;
  expect_success("test -c /dev/kfd && test -L /sys/class/drm/card0 && ls -l /dev/kfd /dev/dri /sys/class/drm "
                 ">/dev/null");
  expect_success("test \"$(cd " NODES " && echo *)\" = '0 1 2'");
  expect_success("cd " NODES " && test \"$(ls)\" = \"$(printf '0\\n1\\n2')\"");
  expect_success("test $(find " REAL_NODES " -name properties | wc -l) -ge 12");
  expect_success("test $(find /dev -maxdepth 2 -name 'render*' | wc -l) = 2");
  expect_success("test $(ls /dev | grep -cx -e kfd -e dri) = 2");
  expect_success("test \"$(readlink -f /sys/class/drm/card1/device)\" = " SECOND);
  expect_success("test \"$(stat -c %t:%T /dev/dri/card1)\" = e2:1");
  expect_success("grep -rq 'node_to 2' " NODES "/1/p2p_links");
}

/* Without these ROCr's thunk finds no devices: the system's, which have an event, or, where a virtual machine
 * has none, ours. */
static void test_caches_of_processors(void **state) {
  (void)state;
  if (access(CPUS "/cpu0", F_OK))
    skip(); /* a kernel that knows of no nodes; the thunk looks elsewhere then */
  expect_success("ls " CPUS "/cpu0/cache | grep -qx index0");
  expect_success("cd " CPUS "/cpu0/cache/index0 && test \"$(cat level)\" = 1 && "
                 "{ test -e uevent || test \"$(echo $(cat *))\" = '64 1 64 1 0 00000001 32K Data 8'; }");
  assert_int_equal(access(CPUS "/cpu4000000000/cache", F_OK), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_relative_paths),       cmocka_unit_test(test_streams_of_descriptors),
      cmocka_unit_test(test_lists_of_the_library), cmocka_unit_test(test_links_lead_somewhere),
      cmocka_unit_test(test_what_files_are),       cmocka_unit_test(test_from_within),
      cmocka_unit_test(test_management),           cmocka_unit_test(test_devices_as_files),
      cmocka_unit_test(test_opened_anew),          cmocka_unit_test(test_other_programs),
      cmocka_unit_test(test_caches_of_processors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
