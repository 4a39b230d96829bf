/* AQL packets as bit patterns. */
#include "atmi_packet.h"

uint32_t atmi_packet_header(hsa_packet_type_t type, bool barrier, uint16_t setup) {
  uint32_t header = (uint32_t)type << HSA_PACKET_HEADER_TYPE |
                    (uint32_t)barrier << HSA_PACKET_HEADER_BARRIER |
                    (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                    (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  return header | (uint32_t)setup << 16;
}

uint16_t atmi_packet_dispatch_setup(const atmi_dispatch_t *dispatch) {
  unsigned dimensions = dispatch->grid[2] > 1 ? 3 : dispatch->grid[1] > 1 ? 2 : 1;
  return (uint16_t)(dimensions << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
}

void atmi_packet_fill_dispatch(const atmi_dispatch_t *dispatch, hsa_kernel_dispatch_packet_t *packet) {
  packet->workgroup_size_x = (uint16_t)dispatch->group[0];
  packet->workgroup_size_y = (uint16_t)dispatch->group[1];
  packet->workgroup_size_z = (uint16_t)dispatch->group[2];
  packet->reserved0 = 0;
  packet->grid_size_x = dispatch->grid[0];
  packet->grid_size_y = dispatch->grid[1];
  packet->grid_size_z = dispatch->grid[2];
  packet->private_segment_size = dispatch->private_bytes;
  packet->group_segment_size = dispatch->group_bytes;
  packet->kernel_object = dispatch->kernel_object;
  packet->kernarg_address = dispatch->kernarg;
  packet->reserved2 = 0;
  packet->completion_signal = dispatch->done;
}

void atmi_packet_fill_barrier(const hsa_signal_t *signals, uint32_t count, hsa_signal_t done,
                              hsa_barrier_and_packet_t *packet) {
  packet->reserved1 = 0;
  for (uint32_t i = 0; i < ATMI_PACKET_BARRIER_SIGNALS; i++)
    packet->dep_signal[i] = i < count ? signals[i] : (hsa_signal_t){0};
  packet->reserved2 = 0;
  packet->completion_signal = done;
}
