/* The tool "init" as others know it: how it begins with each wave, what it does with each kind of
 * instruction, and what copies of the DMA engine do to memory. Not here: following instructions (init_flow.c,
 * init_memory.c). */
#include "check/init.h"

#include <stdlib.h>
#include <string.h>

#include "check/digest.h"
#include "exec/internal.h"
#include "exec/place.h"

/* ---- Waves ---- */

/* What is kept of a workgroup. */
typedef struct group_flow {
  gs_local_t local;
  gs_wave_flow_t wave[GS_GROUP_WAVES_MAX];
} group_flow_t;

/* All of it is undefined. Memory that is new is touched only where it is needed. */
static void begin_group(gs_wave_t *w, group_flow_t *group) {
  group->local.bytes = w->env->lds_bytes;
  memset(group->local.bits, 0xff, w->env->lds_bytes);
  memset(group->local.origin, 0, (w->env->lds_bytes + 3) / 4 * sizeof *group->local.origin);
}

static void begin_registers(gs_wave_t *w, gs_wave_flow_t *f, const gs_begin_t *begin) {
  memset(f->rows, 0xff, sizeof f->rows);
  memset(f->fresh, 0xff, sizeof f->fresh);
  memset(f->s_origin, 0, sizeof f->s_origin);
  f->scc = 1;
  f->scc_origin = 0;
  f->all = UINT64_MAX >> (64 - gs_wave_lanes(w));
  f->scalars[0] = ~begin->sgprs[0];
  f->scalars[1] = ~begin->sgprs[1];
  f->scalars[2] = 0; /* the command processor sets up what is no operand */
  for (unsigned reg = 0; reg < GS_SGPRS; reg++)
    gs_flow_set_scalar(f, reg, f->scalars[reg / 64] >> reg % 64 & 1 ? UINT32_MAX : 0, 0);
  gs_flow_define_scalars(f, GS_S_EXEC, 2);
  memset(&f->s[GS_S_TTMP0], 0, (GS_S_M0 - GS_S_TTMP0) * sizeof *f->s);
  for (unsigned reg = GS_S_TTMP0; reg < GS_S_M0; reg++)
    f->scalars[reg / 64] &= ~(UINT64_C(1) << reg % 64);
  for (unsigned reg = 0; reg < begin->vgprs; reg++)
    gs_flow_define(f, reg, gs_exec(w));
}

static void begin(gs_wave_t *w, const gs_begin_t *begin) {
  void **keep = &begin->keep[GS_KEEP_FLOW];
  if (!*keep)
    *keep = aligned_alloc(_Alignof(group_flow_t), sizeof(group_flow_t));
  group_flow_t *group = *keep;
  w->flow = NULL;
  if (!group) /* without memory for it the wave is not followed */
    return;
  gs_wave_flow_t *f = &group->wave[begin->wave];
  if (begin->wave == 0)
    begin_group(w, group);
  f->local = &group->local;
  begin_registers(w, f, begin);
  w->flow = f;
  gs_extent_t all, own;
  gs_place_scratch(w, &all, &own);
  if (own.end > own.start)
    gs_bits_set(&gs_init_of(w)->memory, own.start, own.end, true);
}

/* ---- Instructions ---- */

static bool is_scalar(const gs_inst_t *in) {
  return in->op->encoding < GS_ENC_SMEM;
}

/* Waits and hints are not followed. What changes modes or goes who knows where ends a block. */
static gs_passing_t passing_of(const gs_inst_t *in, gs_special_t special) {
  const bool waits = strncmp(in->op->name, "s_wait", 6) == 0 || strcmp(in->op->name, "s_nop") == 0;
  if (in->op->src[0] == GS_T_BRANCH)
    return GS_PASSES_LAST;
  if (in->op->encoding == GS_ENC_SOPP)
    return waits ? GS_PASSES : GS_PASSES_NOT;
  if (special == GS_SPECIAL_INDEX)
    return GS_PASSES_NOT;
  if (special == GS_SPECIAL_JUMP || special == GS_SPECIAL_NOTHING)
    return is_scalar(in) ? GS_PASSES_LAST : GS_PASSES_NOT;
  return GS_PASSES;
}

gs_passing_t gs_digest_flow(const gs_init_t *init, const gs_inst_t *in, gs_digest_t *digest) {
  const gs_special_t special = (gs_special_t)init->rules[in->op - gs_opcodes].special;
  digest->is_plain_flow = special != GS_SPECIAL_INDEXED && special != GS_SPECIAL_RELATIVE;
  digest->minds_scc = is_scalar(in);
  return digest->is_plain_flow ? passing_of(in, special) : GS_PASSES_NOT;
}

/* Whether the instruction has nothing to do with what is undefined. */
static bool is_plain(const gs_wave_flow_t *f, const gs_digest_t *digest) {
  return digest && digest->is_plain_flow && !(f->scc && digest->minds_scc) &&
         !gs_digest_meets(digest, f->rows, f->scalars);
}

static void execute(gs_wave_t *w, const gs_inst_t *in, const void *digest) {
  if (!w->flow || !in->op || is_plain(gs_wave_flow(w), digest)) {
    in->fn(w, in);
    return;
  }
  const gs_flow_rule_t *rule = &gs_init_of(w)->rules[in->op - gs_opcodes];
  switch ((gs_encoding_t)in->op->encoding) {
  case GS_ENC_SOP1:
  case GS_ENC_SOP2:
  case GS_ENC_SOPK:
  case GS_ENC_SOPC:
  case GS_ENC_SOPP: gs_flow_scalar(w, in, rule); break;
  case GS_ENC_SMEM: gs_flow_scalar_memory(w, in, rule); break;
  case GS_ENC_VOP1:
  case GS_ENC_VOP2:
  case GS_ENC_VOPC:
  case GS_ENC_VOP3:
  case GS_ENC_VOP3P:
  case GS_ENC_VINTERP: gs_flow_vector(w, in, rule); break;
  case GS_ENC_VOPD: gs_flow_dual(w, in); break;
  default:
    if (rule->special == GS_SPECIAL_EXCHANGE || rule->special == GS_SPECIAL_NOTHING ||
        rule->special == GS_SPECIAL_DEFINED)
      gs_flow_vector(w, in, rule);
    else
      gs_flow_memory(w, in, rule);
  }
}

/* ---- Copies ---- */

static void *copy_begins(void *context, const gs_copy_t *copy) {
  gs_check_t *check = context;
  gs_bits_t *memory = &check->init->memory;
  const uint64_t end = copy->to + copy->bytes;
  if (!copy->from)
    gs_bits_set(memory, copy->to, end, false);
  else if (gs_init_host_sees(copy->map, copy->to))
    gs_init_report_copy(check, copy->from, copy->from + copy->bytes);
  else if (copy->from != copy->to)
    gs_bits_copy(memory, copy->to, copy->from, copy->bytes);
  return NULL;
}

/* ---- The tool ---- */

static const gs_watch_t watch = {.lanes = gs_touch_lanes,
                                 .mixed = gs_touch_mixed,
                                 .block = gs_touch_block,
                                 .local = gs_touch_local,
                                 .local_block = gs_touch_local_block,
                                 .copy_begins = copy_begins,
                                 .execute = execute,
                                 .begin = begin};

static void ignore(gs_wave_t *w, const gs_access_t *a) {
  (void)w;
  (void)a;
}

int gs_init_create(gs_check_t *check) {
  gs_init_t *init = calloc(1, sizeof *init);
  if (!init)
    return -1;
  check->init = init;
  init->rules = gs_flow_make_rules();
  init->origin = calloc(GS_MOST_ORIGINS, sizeof *init->origin);
  init->check = check;
  pthread_mutex_init(&init->lock, NULL);
  if (!init->rules || !init->origin || gs_bits_init(&init->memory))
    return -1;
  gs_check_share(check, &watch);
  check->internal = watch;
  check->internal.context = check;
  check->internal.lds = ignore;
  check->watch.internal = &check->internal;
  return 0;
}

void gs_init_destroy(gs_check_t *check) {
  gs_init_t *init = check->init;
  if (!init)
    return;
  for (uint32_t i = 0; init->origin && i < GS_MOST_ORIGINS; i++)
    free(init->origin[i].block);
  gs_bits_fini(&init->memory);
  pthread_mutex_destroy(&init->lock);
  free(init->origin);
  free(init->rules);
  free(init);
}

void gs_init_came(gs_check_t *check, uint64_t start, uint64_t end) {
  if (check->init)
    gs_bits_set(&check->init->memory, start, end, true);
}
