// Memory and events of one process in another, which is this program again.
#include "hip_test.h"

#include <cstring>
#include <string>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { COUNT = 100000 };

__global__ void turn(unsigned *data, size_t count) {
  const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
  if (i < count)
    data[i] = ~data[i];
}

// Handles are bytes: in hexadecimal they are arguments.
static std::string text_of(const hipIpcMemHandle_t &handle) {
  std::string text;
  for (unsigned char byte : handle.reserved) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

static int be_peer(const char *text) {
  hipIpcMemHandle_t handle;
  for (size_t i = 0; i < sizeof handle.reserved; i++) {
    const char digits[] = {text[2 * i], text[2 * i + 1], 0};
    handle.reserved[i] = char(std::strtoul(digits, nullptr, 16));
  }
  void *memory = nullptr;
  CALL(hipIpcOpenMemHandle(&memory, handle, hipIpcMemLazyEnablePeerAccess));
  turn<<<groups_for(COUNT), THREADS>>>(static_cast<unsigned *>(memory), COUNT);
  CALL(hipDeviceSynchronize());
  CALL(hipIpcCloseMemHandle(memory));
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1)
    return be_peer(argv[1]);
  unsigned *memory = allocate<unsigned>(COUNT);
  std::vector<unsigned> host(COUNT), back(COUNT);
  for (unsigned i = 0; i < COUNT; i++)
    host[i] = i;
  CALL(hipMemcpy(memory, host.data(), COUNT * sizeof(unsigned), hipMemcpyHostToDevice));
  hipIpcMemHandle_t handle;
  CALL(hipIpcGetMemHandle(&handle, memory));
  std::string text = text_of(handle);
  char *arguments[] = {argv[0], &text[0], nullptr};
  pid_t child = 0;
  int status = -1;
  EXPECT(posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, arguments, environ) == 0);
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  CALL(hipMemcpy(back.data(), memory, COUNT * sizeof(unsigned), hipMemcpyDeviceToHost));
  for (unsigned i = 0; i < COUNT; i++)
    EXPECT(back[i] == ~i);
  return 0;
}
