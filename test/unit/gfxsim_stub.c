/* exec/device.h without execution. */
#include "gfxsim_stub.h"

#include "check/init.h"
#include "check/sweep.h"
#include "exec/place.h"

#include <hsa/hsa.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

gs_stub_t gs_stub;

struct gs_device {
  const gs_profile_t *profile;
  gs_vm_t *vm;
  uint32_t cus;
};

gs_device_t *gs_device_create(const gs_profile_t *profile, uint32_t ordinal, const gs_options_t *options,
                              const gs_device_ops_t *ops) {
  (void)ordinal;
  (void)ops;
  gs_device_t *device = calloc(1, sizeof *device);
  if (!device)
    return NULL;
  device->profile = profile;
  device->cus = options->cus ? options->cus : profile->cus;
  device->vm = gs_vm_create();
  return device;
}

void gs_device_destroy(gs_device_t *device) {
  if (!device)
    return;
  gs_vm_destroy(device->vm);
  free(device);
}

gs_vm_t *gs_device_vm(gs_device_t *device) {
  return device->vm;
}

const gs_profile_t *gs_device_profile(const gs_device_t *device) {
  return device->profile;
}

const struct gs_watch *gs_device_watch(const gs_device_t *device) {
  (void)device;
  return NULL;
}

uint32_t gs_device_cus(const gs_device_t *device) {
  return device->cus;
}

uint32_t gs_device_masked_cus(const gs_device_t *device, const gs_cu_mask_t *mask) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < mask->words; i++)
    count += (uint32_t)__builtin_popcount(mask->bits[i]);
  return mask->words ? count : device->cus;
}

void gs_device_print_stats(gs_device_t *device, FILE *out) {
  (void)device;
  (void)out;
}

void gs_device_flush_trace(gs_device_t *device) {
  (void)device;
}

bool gs_dispatch_is_narrow(const gs_device_t *device, const gs_vm_map_t *map, const gs_dispatch_t *dispatch) {
  (void)device;
  (void)map;
  (void)dispatch;
  return false;
}

uint32_t gs_dispatch_private_bytes(const gs_device_t *device, const gs_vm_map_t *map,
                                   const gs_dispatch_t *dispatch) {
  (void)device;
  (void)map;
  const hsa_kernel_dispatch_packet_t *packet = (const void *)(uintptr_t)dispatch->packet;
  return packet->private_segment_size;
}

int gs_device_reserve(gs_device_t *device) {
  (void)device;
  if (gs_stub.no_memory)
    return -1;
  gs_stub.reserved++;
  return 0;
}

void gs_device_unreserve(gs_device_t *device) {
  (void)device;
  gs_stub.reserved--;
}

gs_outcome_t gs_device_run(gs_device_t *device, const gs_dispatch_t *dispatch, gs_fault_t *fault) {
  (void)device;
  gs_stub.last = *dispatch;
  if (dispatch->shader) {
    gs_stub.shader = *dispatch->shader;
    memcpy(&gs_stub.packet, (const void *)(uintptr_t)dispatch->packet, sizeof gs_stub.packet);
  }
  gs_stub.running++;
  while (gs_stub.until_stopped && !atomic_load(dispatch->stop)) {
    const struct timespec pause = {.tv_nsec = 100000};
    nanosleep(&pause, NULL);
  }
  gs_stub.running--;
  gs_stub.runs++;
  *fault = gs_stub.fault;
  return gs_stub.until_stopped ? GS_STOPPED : gs_stub.outcome;
}

/* exec/place.h: no wave ever runs here. */
void gs_place_of(const gs_wave_t *w, unsigned lane, gs_place_t *place) {
  (void)w;
  (void)lane;
  *place = (gs_place_t){.profile = "stub"};
}

void gs_place_kernel_name(const gs_vm_map_t *map, const gs_launch_t *launch, char name[GS_PLACE_TEXT]) {
  (void)map;
  (void)launch;
  snprintf(name, GS_PLACE_TEXT, "stub");
}

void gs_place_of_other(const gs_vm_map_t *map, const gs_launch_t *launch, uint64_t group, unsigned wave,
                       unsigned lane, uint64_t pc, gs_place_t *place) {
  (void)map, (void)launch, (void)group, (void)wave, (void)lane, (void)pc;
  *place = (gs_place_t){.profile = "stub"};
}

bool gs_place_near(const gs_place_t *place, bool (*fits)(const char *pattern, const char *instruction),
                   const char *pattern) {
  (void)place, (void)fits, (void)pattern;
  return false;
}

uint64_t gs_place_group(const gs_wave_t *w) {
  (void)w;
  return 0;
}

unsigned gs_place_wave(const gs_wave_t *w) {
  (void)w;
  return 0;
}

void *gs_place_kernel(const gs_wave_t *w) {
  (void)w;
  return NULL;
}

void gs_place_scratch(const gs_wave_t *w, gs_extent_t *all, gs_extent_t *own) {
  (void)w;
  *all = *own = (gs_extent_t){0, 0};
}

/* check/sweep.h: every processor has the first level. */
extern const gs_sweep_t gs_base_sweep;
const gs_sweep_t *gs_sweep_for_processor(void) {
  return &gs_base_sweep;
}

/* check/init.h: nor does what follows instructions. */
gs_passing_t gs_digest_flow(const gs_init_t *init, const gs_inst_t *in, struct gs_digest *digest) {
  (void)init;
  (void)in;
  (void)digest;
  return GS_PASSES_NOT;
}

void gs_init_sum(const gs_init_t *init, gs_target_t target, gs_init_sum_t *sum, const gs_passage_t *block,
                 unsigned count) {
  (void)init;
  (void)target;
  (void)sum;
  (void)block;
  (void)count;
}

bool gs_init_may_pass(const gs_wave_t *w, const gs_init_sum_t *sum) {
  (void)w;
  (void)sum;
  return false;
}

void gs_init_pass(gs_wave_t *w, const gs_init_sum_t *sum) {
  (void)w;
  (void)sum;
}

int gs_init_create(gs_check_t *check) {
  (void)check;
  return 0;
}

void gs_init_destroy(gs_check_t *check) {
  (void)check;
}

void gs_init_came(gs_check_t *check, uint64_t start, uint64_t end) {
  (void)check;
  (void)start;
  (void)end;
}
