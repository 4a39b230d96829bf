/* Counting and tracing of instructions. */
#include "exec/observe.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void gs_counters_add(gs_counters_t *sum, const gs_counters_t *more) {
  sum->dispatches += more->dispatches;
  sum->groups += more->groups;
  sum->waves += more->waves;
  for (size_t i = 0; i < GS_FAMILY_COUNT; i++)
    sum->instructions[i] += more->instructions[i];
  sum->lanes += more->lanes;
  sum->all_lanes += more->all_lanes;
  sum->read_bytes += more->read_bytes;
  sum->written_bytes += more->written_bytes;
  sum->nanoseconds += more->nanoseconds;
  sum->toll.lines += more->toll.lines;
  sum->toll.longest += more->toll.longest;
}

void gs_counters_join(gs_counters_t *kernel, const gs_counters_t *executor) {
  const uint64_t longest = kernel->toll.longest;
  gs_counters_add(kernel, executor);
  kernel->toll.longest = longest > executor->toll.longest ? longest : executor->toll.longest;
}

static gs_family_t family_of(const gs_opcode_t *op) {
  switch ((gs_encoding_t)op->encoding) {
  case GS_ENC_VOP1:
  case GS_ENC_VOP2:
  case GS_ENC_VOPC:
  case GS_ENC_VOP3:
  case GS_ENC_VINTERP:
  case GS_ENC_VOPD: return GS_FAMILY_VECTOR;
  case GS_ENC_VOP3P: return op->flags & (GS_OPF_MFMA | GS_OPF_WMMA) ? GS_FAMILY_MATRIX : GS_FAMILY_VECTOR;
  case GS_ENC_DS: return GS_FAMILY_LDS;
  case GS_ENC_FLAT:
  case GS_ENC_GLOBAL:
  case GS_ENC_SCRATCH:
  case GS_ENC_MUBUF:
  case GS_ENC_MTBUF: return GS_FAMILY_VECTOR_MEMORY;
  case GS_ENC_SMEM: return GS_FAMILY_SCALAR_MEMORY;
  default: return GS_FAMILY_SCALAR;
  }
}

/* Bytes that one lane moves; for scalar memory, the whole instruction. */
static uint64_t bytes_of(const gs_inst_t *in, gs_family_t family) {
  const gs_opcode_t *op = in->op;
  const unsigned data =
      family == GS_FAMILY_VECTOR_MEMORY && (op->flags & GS_OPF_STORE) ? op->src[1] : op->dst;
  const unsigned dwords = gs_type_dwords((gs_type_t)data);
  return 4 * (uint64_t)(dwords ? dwords : gs_type_dwords((gs_type_t)op->dst));
}

void gs_counters_see(gs_counters_t *counters, const gs_wave_t *w, const gs_inst_t *in) {
  if (!in->op)
    return;
  const gs_family_t family = family_of(in->op);
  counters->instructions[family]++;
  if (family == GS_FAMILY_SCALAR)
    return;
  if (family == GS_FAMILY_SCALAR_MEMORY) {
    counters->read_bytes += bytes_of(in, family);
    return;
  }
  const uint64_t lanes = (uint64_t)__builtin_popcountll(gs_exec(w));
  counters->lanes += lanes;
  counters->all_lanes += gs_wave_lanes(w);
  if (family != GS_FAMILY_VECTOR_MEMORY)
    return;
  const uint64_t bytes = lanes * bytes_of(in, family);
  if (!(in->op->flags & GS_OPF_STORE))
    counters->read_bytes += bytes;
  if (in->op->flags & (GS_OPF_STORE | GS_OPF_ATOMIC))
    counters->written_bytes += bytes;
}

void gs_stats_add(gs_kernel_stats_t **list, const char *name, const gs_counters_t *counters) {
  gs_kernel_stats_t *entry = *list;
  while (entry && strcmp(entry->name, name) != 0)
    entry = entry->next;
  if (!entry) {
    const size_t bytes = strlen(name) + 1;
    entry = calloc(1, sizeof *entry + bytes);
    if (!entry)
      return;
    memcpy(entry->name, name, bytes);
    entry->next = *list;
    *list = entry;
  }
  gs_counters_add(&entry->counters, counters);
}

void gs_stats_free(gs_kernel_stats_t *list) {
  while (list) {
    gs_kernel_stats_t *next = list->next;
    free(list);
    list = next;
  }
}

static int longer_first(const void *a, const void *b) {
  const gs_kernel_stats_t *x = *(gs_kernel_stats_t *const *)a, *y = *(gs_kernel_stats_t *const *)b;
  return (x->counters.nanoseconds < y->counters.nanoseconds) -
         (x->counters.nanoseconds > y->counters.nanoseconds);
}

static void print_kernel(const gs_kernel_stats_t *kernel, gs_link_t link, FILE *out) {
  const gs_counters_t *c = &kernel->counters;
  const double ms = (double)c->nanoseconds * 1e-6;
  const double utilisation = c->all_lanes ? 100.0 * (double)c->lanes / (double)c->all_lanes : 0;
  fprintf(out, "%10.3f %9" PRIu64 " %9" PRIu64, ms, c->dispatches, c->waves);
  for (size_t i = 0; i < GS_FAMILY_COUNT; i++)
    fprintf(out, " %11" PRIu64, c->instructions[i]);
  fprintf(out, " %5.1f%% %12" PRIu64 " %12" PRIu64, utilisation, c->read_bytes, c->written_bytes);
  const uint64_t card = gs_cost_of_kernels(c->dispatches, c->toll.longest, c->toll.lines, link);
  fprintf(out, " %10" PRIu64 " %10" PRIu64 " %10.1f  %s\n", c->toll.longest, c->toll.lines,
          (double)card * 1e-6, kernel->name);
}

void gs_stats_print(const gs_kernel_stats_t *list, const char *title, gs_link_t link, FILE *out) {
  size_t count = 0;
  for (const gs_kernel_stats_t *entry = list; entry; entry = entry->next)
    count++;
  const gs_kernel_stats_t **sorted = count ? calloc(count, sizeof *sorted) : NULL;
  if (!sorted)
    return;
  size_t i = 0;
  for (const gs_kernel_stats_t *entry = list; entry; entry = entry->next)
    sorted[i++] = entry;
  qsort(sorted, count, sizeof *sorted, longer_first);
  fprintf(out, "gfxsim: %s: kernels by time\n", title);
  fprintf(out, "%10s %9s %9s %11s %11s %11s %11s %11s %11s %6s %12s %12s %10s %10s %10s  %s\n", "ms",
          "dispatch", "waves", "scalar", "s-memory", "vector", "matrix", "lds", "v-memory", "lanes", "read B",
          "written B", "host waits", "host lines", "card us", "kernel");
  for (i = 0; i < count; i++)
    print_kernel(sorted[i], link, out);
  free(sorted);
}

void gs_trace_line(FILE *out, const char *place, const gs_wave_t *w, const gs_inst_t *in) {
  char text[256];
  if (in->op)
    gs_disassemble(w->env->target, in, text, sizeof text);
  else
    snprintf(text, sizeof text, "(no instruction: 0x%08" PRIx32 ")", in->word[0]);
  fprintf(out, "%s 0x%" PRIx64 " exec=%016" PRIx64 " %s\n", place, w->pc - in->size, gs_exec(w), text);
}
