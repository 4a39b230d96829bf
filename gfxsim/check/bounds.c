/* Compares each access of a kernel with the blocks that the program has. Most are answered by what the thread
 * remembers: where the instruction in hand found its last good address. Not here: the blocks (blocks.c), what
 * is said of a wrong (findings.c). */
#include "check/check.h"

#include <inttypes.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check/swap.h"
#include "isa/memory.h"

/* What is wrong with an access. */
typedef enum kind {
  KIND_OUTSIDE, /* of a block's bytes */
  KIND_FREED,
  KIND_NOTHING, /* is mapped; the kernel will fault */
  KIND_TAKEN,   /* from this GPU; likewise */
  KIND_FOREIGN, /* another GPU's; likewise */
  KIND_PRIVATE, /* beyond the work-item's private memory */
  KIND_LDS,     /* beyond the workgroup's local memory */
} kind_t;

static const gs_rule_t rules[] = {
    [KIND_OUTSIDE] = {"bounds", "outside", GS_SEVERITY_ERROR, "An access outside of the program's memory"},
    [KIND_FREED] = {"bounds", "freed", GS_SEVERITY_ERROR, "An access to memory that was freed"},
    [KIND_NOTHING] = {"bounds", "unmapped", GS_SEVERITY_ERROR, "An access where nothing is mapped"},
    [KIND_TAKEN] = {"bounds", "access-taken", GS_SEVERITY_ERROR,
                    "An access to memory that was taken from the GPU"},
    [KIND_FOREIGN] = {"bounds", "other-gpu", GS_SEVERITY_ERROR,
                      "An access to memory that the GPU has no access to"},
    [KIND_PRIVATE] = {"bounds", "private", GS_SEVERITY_ERROR,
                      "An access beyond the private memory of a work-item"},
    [KIND_LDS] = {"bounds", "local", GS_SEVERITY_ERROR, "An access beyond the local memory of a workgroup"},
};

/* An access that is wrong. */
typedef struct wrong {
  kind_t kind;
  uint32_t rights;       /* GS_VM_* */
  uint32_t bytes;        /* of each lane */
  uint32_t lanes;        /* of this instruction that do it */
  unsigned lane;         /* the first of them */
  uint64_t address;      /* the first wrong lane's; PRIVATE and LDS: offset */
  uint64_t limit;        /* PRIVATE and LDS: how many bytes there are */
  gs_block_note_t block; /* the others: id 0 = none is near */
} wrong_t;

/* Good answers of this thread, by instruction. They are the executing thread's, as it is the thread that asks
 * 10 million times a second. */
enum { MEMORIES = 256 };
typedef struct memory {
  uint64_t version, kernel, start, end;
  const void *map; /* as the GPU saw it */
} memory_t;
static _Thread_local memory_t remembered[MEMORIES];

/* What the thread remembers for the instruction in hand; empty when that is no longer true, or of another
 * kernel: it shall be known which blocks each has accessed. */
static memory_t *recall(const gs_wave_t *w) {
  gs_check_t *check = gs_check_of(w);
  memory_t *memory = &remembered[w->pc / 8 % MEMORIES];
  const uint64_t version = atomic_load_explicit(&check->blocks.version, memory_order_acquire);
  const gs_running_kernel_t *kernel = gs_place_kernel(w);
  const uint64_t number = kernel ? kernel->number : 0;
  const void *map = atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed);
  if (memory->version != version || memory->kernel != number || memory->map != map)
    *memory = (memory_t){.version = version, .kernel = number, .map = map};
  return memory;
}

static bool is_inside(const memory_t *memory, uint64_t address, uint64_t size) {
  return address >= memory->start && address < memory->end && memory->end - address >= size;
}

/* The dword of scratch memory at `address` as the work-item's own offset into its private memory. */
static uint64_t private_offset(const gs_wave_t *w, uint64_t address, const gs_extent_t *own) {
  return (address - own->start) / gs_private_step(w) * 4 + address % 4;
}

/* Whether the bytes are in scratch memory; if they are, `wrong` says whether they are the wave's. */
static bool is_scratch(const gs_wave_t *w, uint64_t address, uint64_t size, wrong_t *wrong, bool *good) {
  gs_extent_t all, own;
  gs_place_scratch(w, &all, &own);
  if (address < all.start || address >= all.end)
    return false;
  *good = address >= own.start && address < own.end && own.end - address >= size;
  wrong->kind = KIND_PRIVATE;
  wrong->address = private_offset(w, address, &own);
  wrong->limit = (own.end - own.start) / gs_wave_lanes(w);
  return true;
}

/* Whether all bytes are good. `wrong` gets what is wrong, as far as the address goes. */
static bool is_good(const gs_wave_t *w, memory_t *memory, uint64_t address, uint64_t size, wrong_t *wrong) {
  bool good;
  if (is_inside(memory, address, size))
    return true;
  if (is_scratch(w, address, size, wrong, &good))
    return good;
  gs_answer_t answer;
  gs_blocks_t *blocks = &gs_check_of(w)->blocks;
  const gs_vm_map_t *map = atomic_load_explicit(&w->env->vm->seen, memory_order_relaxed);
  uint64_t at = address;
  while (at < address + size) {
    gs_blocks_ask(blocks, map, at, &answer);
    if (answer.verdict != GS_VERDICT_GOOD)
      break;
    if (answer.id)
      gs_kernel_used(w, answer.id);
    memory->start = answer.start;
    memory->end = answer.end;
    at = answer.end;
  }
  if (at >= address + size)
    return true;
  /* A range that this snapshot lacks may be in the next, with which the instruction is repeated. */
  if (answer.verdict >= GS_VERDICT_NOTHING && gs_vm_reader_is_behind(w->env->vm))
    return true;
  static const kind_t kinds[] = {[GS_VERDICT_OUTSIDE] = KIND_OUTSIDE,
                                 [GS_VERDICT_FREED] = KIND_FREED,
                                 [GS_VERDICT_NOTHING] = KIND_NOTHING,
                                 [GS_VERDICT_TAKEN] = KIND_TAKEN,
                                 [GS_VERDICT_FOREIGN] = KIND_FOREIGN};
  wrong->kind = kinds[answer.verdict];
  wrong->address = address;
  wrong->block = answer.block;
  return false;
}

static const char *action_of(uint32_t rights) {
  if (rights == (GS_VM_READ | GS_VM_WRITE))
    return "atomic access to";
  return rights & GS_VM_WRITE ? "write of" : "read of";
}

static void describe_offset(const wrong_t *wrong, char *text, size_t size) {
  const bool lds = wrong->kind == KIND_LDS;
  const char *whose = lds ? "workgroup's local memory (LDS)" : "work-item's private memory (stack)";
  if (wrong->address > UINT32_MAX)
    snprintf(text, size, "This is another wave's private memory, not its own");
  else
    snprintf(text, size, "Offset %" PRIu64 " is beyond the %s, which has %" PRIu64 " bytes%s", wrong->address,
             whose, wrong->limit, lds ? ": reads give 0 there, and writes are lost" : "");
}

/* Whether this process can read there. The kernel of the host says so without a fault. */
static bool is_of_host(uint64_t address) {
  uint8_t byte;
  const struct iovec to = {&byte, sizeof byte}, from = {(void *)(uintptr_t)address, sizeof byte};
  return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == sizeof byte;
}

/* Of an address of the host's. */
static void describe_copy(gs_finding_t *finding, const gs_block_note_t *copy) {
  char place[GS_BLOCK_NAME + 16] = "";
  if (*copy->file)
    snprintf(place, sizeof place, " (%s:%" PRIu32 ")", copy->file, copy->line);
  snprintf(finding->detail[0], sizeof finding->detail[0],
           "There the host has %s%s%s%s, of which this process has a copy on a GPU", *copy->name ? "`" : "",
           *copy->name ? copy->name : "a variable", *copy->name ? "`" : "", place);
  finding->hint = "the kernel was given the host's address of what is mapped: is_device_ptr wants the "
                  "device's, of use_device_ptr or omp_target_alloc; a pointer in a struct or an array gets "
                  "it where what it points to is mapped as s.p[0:n]";
}

/* Of an address where nothing is mapped. */
static void describe_nothing(gs_blocks_t *blocks, gs_finding_t *finding) {
  enum { BESIDE = 1 << 20 }; /* what is so near is meant, and not what the host has there by chance */
  const gs_block_note_t *block = &finding->block;
  gs_block_note_t copy;
  const uint64_t at = finding->address, away = at < block->start ? block->start - at : at - block->end;
  if ((!block->id || away > BESIDE) && is_of_host(at)) {
    finding->block.id = 0;
    finding->where = "of the host's memory, which is not mapped for this GPU";
    if (gs_blocks_find_copy(blocks, at, &copy))
      describe_copy(finding, &copy);
  } else if (finding->block.id) {
    finding->where = ", where nothing is mapped";
  }
}

/* Of another GPU's memory. */
static void describe_foreign(gs_finding_t *finding) {
  finding->where = ", which this GPU has no access to";
  finding->hint =
      "hsa_amd_agents_allow_access gives it; what omp_target_alloc returns is for its device alone";
}

static void tell(gs_wave_t *w, const wrong_t *wrong, gs_found_t *found) {
  gs_finding_t finding = {
      .by_line = true, .address = wrong->address, .bytes = wrong->bytes, .block = wrong->block};
  gs_side_t *side = &finding.side[0];
  gs_side_of_wave(side, w, wrong->lane);
  side->more = wrong->lanes - 1;
  snprintf(finding.title, sizeof finding.title, "Invalid %s %" PRIu32 " bytes",
           action_of(wrong->kind != KIND_LDS && side->place.rights ? side->place.rights : wrong->rights),
           wrong->bytes);
  finding.about_block = wrong->kind != KIND_PRIVATE && wrong->kind != KIND_LDS;
  if (!finding.about_block)
    describe_offset(wrong, finding.detail[0], sizeof finding.detail[0]);
  if (wrong->kind == KIND_PRIVATE)
    finding.hint =
        w->env->dynamic_stack
            ? "if calls or run-time arrays need more, LIBOMPTARGET_STACK_SIZE sets it for OpenMP, and "
              "hipLimitStackSize for HIP"
            : "does an index go beyond a variable? The compiler says that this is enough for all calls "
              "that it knows of, and no environment variable makes it more";
  if (wrong->kind == KIND_NOTHING)
    describe_nothing(&gs_check_of(w)->blocks, &finding);
  if (wrong->kind == KIND_FOREIGN)
    describe_foreign(&finding);
  if (wrong->kind == KIND_TAKEN) {
    finding.side[1] = (gs_side_t){.actor = GS_ACTOR_HOST,
                                  .call = "hsa_amd_agents_allow_access",
                                  .what = "Only other GPUs may access it since",
                                  .stack = wrong->block.shared};
    finding.hint = gs_kernels_hint;
  }
  gs_findings_tell(&gs_check_of(w)->findings, found, &finding);
}

static void report(gs_wave_t *w, const wrong_t *wrong) {
  if (!wrong->lanes)
    return;
  const gs_key_t key = {.rule = &rules[wrong->kind],
                        .pc = {w->pc},
                        .object = {gs_block_identity(&wrong->block), wrong->rights}};
  gs_found_t *found = gs_findings_meet(&gs_check_of(w)->findings, &key, gs_times(w, wrong->lanes));
  if (found)
    tell(w, wrong, found);
}

/* The bytes of the dword that are good, a bit each. */
static unsigned good_bytes(const gs_wave_t *w, memory_t *memory, uint64_t address) {
  wrong_t byte = {.lanes = 0};
  unsigned good = 0;
  for (unsigned i = 0; i < 4; i++)
    good |= (unsigned)is_good(w, memory, address + i, 1, &byte) << i;
  return good;
}

/* Whether the lane accesses the dword for an item in it: by a compare-and-swap that changes good bytes only,
 * or by the load in front of one. What else may be in the dword is as it was, and nobody's loss. */
static bool is_for_item(const gs_wave_t *w, memory_t *memory, uint64_t address, uint64_t size, unsigned lane,
                        uint32_t rights) {
  gs_check_t *check = gs_check_of(w);
  gs_sites_t *sites = check->race ? &check->race->sites : &check->sites;
  gs_swap_t swap;
  if (size != 4 || address % 4 || rights == GS_VM_WRITE)
    return false;
  const unsigned good = good_bytes(w, memory, address);
  if (!good)
    return false;
  if (rights == GS_VM_READ)
    return sites->site[gs_site_of(sites, w, 15)].flags & GS_SITE_COMPARED;
  return gs_swap_find(w, &swap) && !(gs_swap_changes(w, &swap, lane) & ~good);
}

/* Looks at one lane. The first that is wrong is what is told; the others are counted. */
static void look(gs_wave_t *w, memory_t *memory, uint64_t address, uint64_t size, unsigned lane,
                 wrong_t *wrong) {
  wrong_t found = *wrong;
  if (is_good(w, memory, address, size, &found) || is_for_item(w, memory, address, size, lane, wrong->rights))
    return;
  if (!wrong->lanes) {
    found.lane = lane;
    *wrong = found;
  }
  wrong->lanes++;
}

static wrong_t wrong_of(const gs_access_t *a) {
  return (wrong_t){.rights = a->rights, .bytes = a->bytes};
}

static void watch_lanes(gs_wave_t *w, const gs_access_t *a) {
  memory_t *memory = recall(w);
  const uint64_t span = gs_access_span(a);
  wrong_t wrong = wrong_of(a);
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    if (GS_UNLIKELY(!is_inside(memory, a->at[l], span)))
      look(w, memory, a->at[l], span, l, &wrong);
  }
  report(w, &wrong);
}

static void watch_block(gs_wave_t *w, uint64_t address, uint64_t size, uint32_t stride, uint32_t rights,
                        bool scalar) {
  memory_t *memory = recall(w);
  if (GS_LIKELY(is_inside(memory, address, size)))
    return;
  wrong_t wrong = {.rights = rights, .bytes = stride ? stride : (uint32_t)size};
  if (scalar) {
    /* Compilers fetch small items with the dword that they are in, which no card minds. */
    for (uint64_t at = address; at < address + size; at += 4)
      if (!good_bytes(w, memory, at))
        look(w, memory, at, 4, 0, &wrong);
    if (wrong.lanes)
      wrong.lanes = 1;
  } else if (stride) {
    for (unsigned l = 0; l < gs_wave_lanes(w); l++)
      look(w, memory, address + l * (uint64_t)stride, stride, l, &wrong);
  } else {
    const uint64_t exec = gs_exec(w);
    look(w, memory, address, size, exec ? (unsigned)__builtin_ctzll(exec) : 0, &wrong);
    if (wrong.kind == KIND_PRIVATE) /* a whole row for each dword of a lane */
      wrong.bytes = (uint32_t)(size / gs_wave_lanes(w));
    if (wrong.lanes)
      wrong.lanes = (uint32_t)__builtin_popcountll(exec);
  }
  report(w, &wrong);
}

static void look_at_lds(const gs_wave_t *w, const gs_access_t *a, unsigned lane, uint64_t offset,
                        wrong_t *wrong) {
  const uint64_t limit = w->env->lds_bytes;
  if (offset < limit && limit - offset >= a->bytes)
    return;
  if (!wrong->lanes) {
    wrong->kind = KIND_LDS;
    wrong->lane = lane;
    wrong->address = offset;
    wrong->limit = limit;
  }
  wrong->lanes++;
}

static void watch_lds(gs_wave_t *w, const gs_access_t *a) {
  wrong_t wrong = wrong_of(a);
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    look_at_lds(w, a, l, a->at[l], &wrong);
  }
  report(w, &wrong);
}

static void watch_mixed(gs_wave_t *w, const gs_access_t *a) {
  memory_t *memory = recall(w);
  wrong_t wrong = wrong_of(a);
  for (uint64_t left = a->lanes; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctzll(left);
    const uint32_t offset = (uint32_t)a->at[l];
    switch (a->at[l] >> 32) {
    case GS_SHARED_APERTURE_HI: look_at_lds(w, a, l, offset, &wrong); break;
    case GS_PRIVATE_APERTURE_HI:
      look(w, memory, gs_private_address(w, offset) + 4u * l, a->bytes < 4 ? a->bytes : 4, l, &wrong);
      break;
    default: look(w, memory, a->at[l], a->bytes, l, &wrong);
    }
  }
  report(w, &wrong);
}

const gs_watch_t gs_bounds_watch = {.lanes = watch_lanes,
                                    .mixed = watch_mixed,
                                    .block = watch_block,
                                    .lds = watch_lds,
                                    .copy_begins = gs_copies_begin,
                                    .copy_ends = gs_copies_end};
