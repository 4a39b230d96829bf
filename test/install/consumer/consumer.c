/* Starts with the plugin linked in: its dependencies are found, and it does nothing before it is called. */
#include <omptarget_amdgpu_plugin.h>

int main(void) {
  return sizeof(KernelArgsTy) == 104 ? OFFLOAD_SUCCESS : 1;
}
