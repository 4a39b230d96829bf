/* The table of costs, and how it is printed. */
#include "base/cost.h"

#include <inttypes.h>
#include <stdbool.h>

#define NS UINT64_C(1000)
#define US (UINT64_C(1000) * NS)

/* A row for each operation: what one takes, by link (PCIe 4.0, 3.0), in picoseconds. None was measured by
 * this project: they are orders of magnitude, good for choosing between two ways of doing something, not for
 * foretelling a run. [m] is a public measurement, [e] an estimate that none was found for.
 *
 * kernels     [m] 3.5 us each of a batch, 7 us from submission to seen signal when waited for one by one,
 * with polling: community.amd.com/t5/newcomers-start-here/.../td-p/131511 (an APU); 6 us of a batch in
 *             HSAFoundation/HSA-Drivers-Linux-AMD issue 18; 11.5 us for an empty kernel, waited for, in
 *             ROCm/legacy-rocm-build issue 191
 * barrier bit [e] what the start of the next kernel could have overlapped with the end of this one
 * release     [e] a write-back of L2 that has little to write
 * scratch     [e] an interrupt, a woken thread, an allocation and its mapping
 * trips       [m] 0.85 us for a round trip of PCIe 3.0 between host and an FPGA
 *             (hackingnasdaq.blogspot.com/2014/05/pcie-latency.html), and what a GPU's own way to the link
 * adds; AMD's guide for the MI300X has 2 to 3 us for a kernel that finds its arguments in device memory
 *             (HIP_FORCE_DEV_KERNARG)
 * lines       64 bytes and the 24 of a packet's header at the rate of copies
 * DMA         [m] 6 us for a copy of 4 KiB as rocm-bandwidth-test has it (ROCm/hip issue 3809), 8.2 us each
 * for a million copies of a byte (ROCm/clr pull request 277) bytes       [m] 50 GB/s for both directions
 * together on an MI100, PCIe 4.0 x16 (ROCm/legacy-rocm-build issue 2499); half of that for 3.0; [e] within a
 * card, by one engine interrupts  [e] the driver's handler sleeping    [m] 6 to 15 us with interrupts where
 * polling has 3 (HSA-Drivers-Linux-AMD issue 18); idle processors take longer to wake calls       [e] of the
 * driver; [m] 32 GiB registered and mapped in 11.4 s, 1.36 us a page (commit "simple test of mapping many
 * system memory to gpu" of libhsakmt's tests; 4.4 us before it) queues      [m] 6.0 to 8.0 ms on an MI210,
 * the first one of a process 190 ms and more (icl-utk-edu/blaspp pull request 38, stream_create)
 */
typedef struct row {
  const char *name;
  bool is_bytes;
  uint64_t unit[GS_LINK_COUNT];
} row_t;

static const row_t rows[GS_COST_KINDS] = {
    [GS_COST_DISPATCH] = {"kernels", false, {3500 * NS, 3500 * NS}},
    [GS_COST_BARRIER_BIT] = {"packets with the barrier bit", false, {1 * US, 1 * US}},
    [GS_COST_RELEASE] = {"releases to system scope", false, {1 * US, 1 * US}},
    [GS_COST_BARRIER] = {"barrier packets", false, {2 * US, 2 * US}},
    [GS_COST_VENDOR] = {"PM4 packets", false, {2 * US, 2 * US}},
    [GS_COST_SCRATCH] = {"requests for scratch memory", false, {150 * US, 150 * US}},
    [GS_COST_SIGNAL] = {"signals counted down", false, {1 * US, 1200 * NS}},
    [GS_COST_TRIP] = {"waits of kernels for host memory", false, {1200 * NS, 1500 * NS}},
    [GS_COST_LINE] = {"lines of host memory, by kernels", false, {3520, 7040}},
    [GS_COST_DMA] = {"DMA copies and fills", false, {6 * US, 6500 * NS}},
    [GS_COST_DMA_COMMAND] = {"DMA commands", false, {300 * NS, 300 * NS}},
    [GS_COST_TO_DEVICE] = {"bytes to the device, by DMA", true, {40, 80}},
    [GS_COST_FROM_DEVICE] = {"bytes from the device, by DMA", true, {40, 80}},
    [GS_COST_WITHIN] = {"bytes within devices or host, by DMA", true, {20, 20}},
    [GS_COST_INTERRUPT] = {"interrupts", false, {3 * US, 3 * US}},
    [GS_COST_WAIT] = {"calls that wait for an event", false, {2 * US, 2 * US}},
    [GS_COST_SLEEP] = {"threads woken by an event", false, {15 * US, 15 * US}},
    [GS_COST_ALLOCATE] = {"allocations", false, {50 * US, 50 * US}},
    [GS_COST_FREE] = {"allocations freed", false, {30 * US, 30 * US}},
    [GS_COST_REGISTER] = {"pins made and ended", false, {20 * US, 20 * US}},
    [GS_COST_PAGE] = {"pages pinned", false, {1360 * NS, 1360 * NS}},
    [GS_COST_MAP] = {"changes of access", false, {20 * US, 20 * US}},
    [GS_COST_QUEUE] = {"queues made", false, {6500 * US, 6500 * US}},
    [GS_COST_EVENT] = {"events made", false, {5 * US, 5 * US}},
};

static const char *const link_names[GS_LINK_COUNT] = {
    [GS_LINK_PCIE4] = "PCIe 4.0 x16", [GS_LINK_PCIE3] = "PCIe 3.0 x16"};

uint64_t gs_cost_unit(gs_cost_t kind, gs_link_t link) {
  return rows[kind].unit[link];
}

const char *gs_cost_name(gs_cost_t kind) {
  return rows[kind].name;
}

uint64_t gs_cost_of_kernels(uint64_t dispatches, uint64_t trips, uint64_t lines, gs_link_t link) {
  return dispatches * gs_cost_unit(GS_COST_DISPATCH, link) + trips * gs_cost_unit(GS_COST_TRIP, link) +
         lines * gs_cost_unit(GS_COST_LINE, link);
}

static double microseconds(uint64_t picoseconds) {
  return (double)picoseconds * 1e-6;
}

/* One row; returns what it adds to the sum, in picoseconds. */
static uint64_t print_row(const row_t *row, uint64_t count, gs_link_t link, FILE *out) {
  const uint64_t all = count * row->unit[link];
  if (row->is_bytes)
    fprintf(out, "%14" PRIu64 " %7.0f GB/s %12.1f  %s\n", count, 1e3 / (double)row->unit[link],
            microseconds(all), row->name);
  else
    fprintf(out, "%14" PRIu64 " %12.3f %12.1f  %s\n", count, microseconds(row->unit[link]), microseconds(all),
            row->name);
  return all;
}

void gs_costs_print(gs_costs_t *costs, gs_link_t link, const char *title, FILE *out) {
  uint64_t sum = 0;
  bool any = false;
  for (int i = 0; i < GS_COST_KINDS; i++) {
    const uint64_t count = atomic_exchange_explicit(&costs->count[i], 0, memory_order_relaxed);
    if (!count)
      continue;
    if (!any)
      fprintf(out, "gfxsim: %s: what would cost on a card (%s), times estimated\n%14s %12s %12s  %s\n", title,
              link_names[link], "count", "us each", "us", "what");
    any = true;
    sum += print_row(&rows[i], count, link, out);
  }
  if (any)
    fprintf(out,
            "gfxsim: %s: about %.3f ms on a card if nothing overlaps; what kernels compute is not in it\n",
            title, (double)sum * 1e-9);
}
