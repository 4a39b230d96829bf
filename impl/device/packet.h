/* AQL packets as bit patterns (HSA Platform System Architecture, "Architected Queuing Language"). Pure
 * functions. Not here: rings and doorbells (device/queue). */
#ifndef ATMI_DEVICE_PACKET_H
#define ATMI_DEVICE_PACKET_H

#include <hsa/hsa.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Everything that a kernel dispatch says to the device. Dimensions are x, y, z; the last two are 1 but for
 * launches that ask for them. */
typedef struct atmi_dispatch {
  uint64_t kernel_object; /* address of the kernel descriptor */
  uint32_t group[3];      /* work-items per workgroup, 1 to 65535 */
  uint32_t grid[3];       /* work-items in all, not workgroups */
  uint32_t private_bytes; /* scratch per work-item */
  uint32_t group_bytes;   /* LDS per workgroup, static and dynamic */
  void *kernarg;
  hsa_signal_t done; /* decremented on completion; handle 0 for none */
} atmi_dispatch_t;

/* The first four bytes of a packet: header in the low half, setup (of a dispatch) in the high half. They are
 * written last, in one store, and make the packet the device's. `barrier`: wait until all packets before it
 * are complete. Both fences have system scope: what the host or another device wrote before is seen, and what
 * the packet wrote is visible everywhere when it completes. */
static inline uint32_t atmi_packet_header(hsa_packet_type_t type, bool barrier, uint16_t setup) {
  uint32_t header = (uint32_t)type << HSA_PACKET_HEADER_TYPE |
                    (uint32_t)barrier << HSA_PACKET_HEADER_BARRIER |
                    (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                    (uint32_t)HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  return header | (uint32_t)setup << 16;
}

/* The setup half of a dispatch: how many dimensions it has. */
static inline uint16_t atmi_packet_dispatch_setup(const atmi_dispatch_t *dispatch) {
  unsigned dimensions = dispatch->grid[2] > 1 ? 3 : dispatch->grid[1] > 1 ? 2 : 1;
  return (uint16_t)(dimensions << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS);
}

/* Fills everything but the first four bytes; of the copy below, the first eight. */
static inline void atmi_packet_fill_dispatch(const atmi_dispatch_t *dispatch,
                                             hsa_kernel_dispatch_packet_t *packet) {
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

/* The same from a packet like it, with its own signal. */
static inline void atmi_packet_fill_copy(const hsa_kernel_dispatch_packet_t *like, hsa_signal_t done,
                                         hsa_kernel_dispatch_packet_t *packet) {
  memcpy((char *)packet + 8, (const char *)like + 8, sizeof *packet - 16);
  packet->completion_signal = done;
}

/* A barrier that lets the queue go on when all of up to five signals are zero. Everything but the first four
 * bytes. */
enum { ATMI_PACKET_BARRIER_SIGNALS = 5 };
static inline void atmi_packet_fill_barrier(const hsa_signal_t *signals, uint32_t count, hsa_signal_t done,
                                            hsa_barrier_and_packet_t *packet) {
  packet->reserved1 = 0;
  for (uint32_t i = 0; i < ATMI_PACKET_BARRIER_SIGNALS; i++)
    packet->dep_signal[i] = i < count ? signals[i] : (hsa_signal_t){0};
  packet->reserved2 = 0;
  packet->completion_signal = done;
}

#endif
