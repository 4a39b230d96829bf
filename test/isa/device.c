/* See device.h: the least of a dispatch that an executor wants to see. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "exec/internal.h"

struct isa_device {
  gs_device_t *device;
  gs_executor_t *executor; /* the device's */
  gs_group_t *group;
  gs_run_t run;
  atomic_bool stop;
};

static const gs_option_t *translate_option(void) {
  const gs_option_t *option = NULL;
  for (size_t i = 0; (option = gs_option_at(i)); i++)
    if (strcmp(option->name, "GFXSIM_TRANSLATE") == 0)
      break;
  return option;
}

bool isa_device_translates(void) {
  return translate_option() != NULL;
}

bool isa_device_choose(gs_options_t *options, const char *way) {
  const gs_option_t *const option = translate_option();
  char reason[128];
  if (!option || !way || gs_option_parse(option, way, options, reason, sizeof reason))
    return true;
  (void)fprintf(stderr, "%s=%s: %s\n", option->name, way, reason);
  return false;
}

isa_device_t *isa_device_create(gs_target_t target, const gs_level_t *level, const char *way) {
  const gs_device_ops_t ops = {0};
  gs_options_t options = {.workers = 1, .execute = true};
  isa_device_t *const d = calloc(1, sizeof *d);
  if (!d || !isa_device_choose(&options, way)) {
    free(d);
    return NULL;
  }
  d->device = gs_device_create(gs_profile_find(gs_target_name(target)), 0, &options, &ops);
  d->group = gs_group_create();
  if (!d->device || !d->group || gs_device_reserve(d->device)) {
    isa_device_destroy(d);
    return NULL;
  }
  d->device->handlers[GS_WIDE].usual = level->handlers;
  d->device->handlers[GS_NARROW].usual = level->wave32_handlers;
  isa_device_look(d, GS_LOOKS_ALWAYS);
  d->executor = d->device->idle_executors;
  d->run.device = d->device;
  atomic_init(&d->run.turn_passes, GS_TURN_PASSES);
  d->run.kernel.target = target;
  d->device->exact_turns = true; /* what both ways have done by the end of one is compared */
  /* A run that is to end gives each of its waves one turn. */
  atomic_init(&d->stop, true);
  d->run.kernel.dispatch.stop = &d->stop;
  return d;
}

void isa_device_look(isa_device_t *d, gs_looks_t looks) {
  d->device->handlers[GS_WIDE].looks = d->device->handlers[GS_NARROW].looks = looks;
}

void isa_device_destroy(isa_device_t *d) {
  if (!d)
    return;
  gs_group_destroy(d->group);
  gs_device_destroy(d->device);
  free(d);
}

gs_vm_t *isa_device_vm(isa_device_t *d) {
  return gs_device_vm(d->device);
}

void isa_device_run(isa_device_t *d, gs_wave_t *w, const gs_wave_env_t *env) {
  gs_group_t *const group = d->group;
  gs_wave_t *const wave = &group->wave[0];
  const gs_wave_env_t *const own = w->env;
  group->run = &d->run;
  group->wave_count = 1;
  group->live_waves = 2; /* one that never comes, so that a barrier keeps the wave */
  group->env = *env;
  *wave = *w;
  wave->env = &group->env;
  (void)gs_group_run(d->executor, &d->run, group);
  gs_vm_reader_leave(&d->executor->vm);
  d->executor->map = NULL; /* as between two dispatches */
  *w = *wave;
  w->env = own;
}
