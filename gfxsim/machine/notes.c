/* The exported functions by which others tell the checker what memory there is (check/notes.h). Not here:
 * what is made of it. */
#include "check/notes.h"

#include <string.h>

#include "check/called.h"
#include "check/check.h"
#include "check/host_read.h"
#include "check/init.h"
#include "machine/process.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT gfxsim_note_allocate_t gfxsim_note_allocate;
EXPORT gfxsim_note_free_t gfxsim_note_free;
EXPORT gfxsim_note_refused_t gfxsim_note_refused;
EXPORT gfxsim_note_map_t gfxsim_note_map;
EXPORT gfxsim_note_found_t gfxsim_note_found;
EXPORT gfxsim_note_mapping_t gfxsim_note_mapping;
EXPORT gfxsim_note_copy_t gfxsim_note_copy;
EXPORT gfxsim_note_brought_t gfxsim_note_brought;
EXPORT gfxsim_note_host_t gfxsim_note_host;
EXPORT gfxsim_note_returns_t gfxsim_note_returns;
EXPORT gfxsim_note_access_t gfxsim_note_access;
EXPORT gfxsim_note_caller_t gfxsim_note_caller;
EXPORT gfxsim_notes_are_wanted_t gfxsim_notes_are_wanted;

/* What gfxsim_note_caller has said on this thread. */
static _Thread_local uint64_t caller;
/* And what last, until it has returned there. */
static _Thread_local uint64_t last_caller;

/* The stack, and who called, if that is not in it. */
static gfxsim_stack_t with_caller(const gfxsim_stack_t *stack) {
  gfxsim_stack_t whole = *stack;
  bool found = !caller || whole.depth == GFXSIM_STACK_DEPTH;
  for (uint32_t i = 0; i < whole.depth; i++)
    found |= whole.frame[i] == caller;
  if (!found)
    whole.frame[whole.depth++] = caller;
  return whole;
}

/* The checker of the open library, or NULL. */
static gs_check_t *open_check(gs_machine_t **machine) {
  *machine = gs_machine_current();
  return *machine ? (*machine)->check : NULL;
}

void gfxsim_note_caller(uint64_t address) {
  gs_machine_t *machine;
  gs_check_t *check = address ? open_check(&machine) : NULL;
  caller = address;
  last_caller = address ? address : last_caller;
  gs_called_construct();
  if (check)
    gs_transfer_construct(check->transfer);
}

int gfxsim_notes_are_wanted(void) {
  const gs_machine_t *machine = gs_machine_current();
  if (!machine || !machine->check || !machine->check->findings.tools)
    return 0;
  gs_transfer_listen(machine->check->transfer);
  return 1;
}

/* Pages that are the block's alone: those of memory that was locked, and of allocations if ROCr did not put
 * several into one (HSA_DISABLE_FRAGMENT_ALLOCATOR). */
static void find_pages(gs_machine_t *machine, gs_block_note_t *block) {
  HsaPointerInfo info = {0};
  const uint64_t start = block->start, pages = gs_page_up(block->end);
  block->outer_start = start;
  block->outer_end = block->end;
  if (gs_memory_query(&machine->memory, (void *)(uintptr_t)start, &info) != HSAKMT_STATUS_SUCCESS)
    return;
  const bool locked = info.Type == HSA_POINTER_REGISTERED_USER;
  if (!locked && (info.GPUAddress != start || start + info.SizeInBytes > pages))
    return;
  block->outer_start = gs_page_down(start);
  block->outer_end = pages;
}

/* Whether the host can't write there but by copies. */
static bool is_hidden(gs_machine_t *machine, uint64_t address) {
  HsaPointerInfo info = {0};
  return gs_memory_query(&machine->memory, (void *)(uintptr_t)address, &info) == HSAKMT_STATUS_SUCCESS &&
         info.Type == HSA_POINTER_ALLOCATED && gs_machine_gpu(machine, info.Node) &&
         !info.MemFlags.ui32.HostAccess;
}

void gfxsim_note_allocate(uint64_t address, uint64_t bytes, const char *call, const gfxsim_stack_t *stack) {
  gs_machine_t *machine;
  gs_check_t *check = open_check(&machine);
  const bool locks = strstr(call, "_lock");
  /* With XNACK a lock gives nothing that a GPU does not have. */
  if (!check || (locks && atomic_load(&machine->xnack)))
    return;
  gs_block_note_t block = {
      .start = address, .end = address + bytes, .call = call, .made = with_caller(stack), .locked = locks};
  find_pages(machine, &block);
  gs_blocks_add(&check->blocks, &block);
  if (is_hidden(machine, address))
    gs_init_came(check, address, address + bytes);
}

/* Kernels that run may need what is freed. */
static void tell_kernels(gs_machine_t *machine, gs_check_t *check, uint64_t address,
                         const gfxsim_stack_t *stack) {
  for (uint32_t i = 0; i < machine->gpu_count; i++) {
    gs_vm_reader_t reader;
    if (!gs_kernels_run(check, i))
      continue;
    gs_vm_reader_register(gs_device_vm(machine->gpu[i].device), &reader);
    gs_kernels_freed(check, i, gs_vm_reader_enter(&reader), address, stack);
    gs_vm_reader_leave(&reader);
    gs_vm_reader_unregister(&reader);
  }
}

void gfxsim_note_free(uint64_t address, const gfxsim_stack_t *stack) {
  gs_machine_t *machine;
  gs_check_t *check = open_check(&machine);
  if (!check)
    return;
  const gfxsim_stack_t whole = with_caller(stack);
  gs_copies_freed(check, address, &whole);
  tell_kernels(machine, check, address, &whole);
  gs_blocks_free(&check->blocks, address, &whole);
}

void gfxsim_note_refused(uint64_t address, const gfxsim_stack_t *stack) {
  const gfxsim_stack_t nobody = {0}, whole = with_caller(stack ? stack : &nobody);
  gs_machine_t *machine;
  gs_check_t *check = open_check(&machine);
  if (check)
    gs_frees_tell(check, address, &whole);
}

void gfxsim_note_access(uint64_t address, uint64_t nodes, const gfxsim_stack_t *stack) {
  gs_machine_t *machine;
  gs_check_t *check = open_check(&machine);
  HsaPointerInfo info = {0};
  uint32_t gpus = 0;
  if (!check || gs_memory_query(&machine->memory, (void *)(uintptr_t)address, &info) != HSAKMT_STATUS_SUCCESS)
    return;
  nodes |= UINT64_C(1) << info.Node;
  for (uint32_t node = 0; node < 64; node++) {
    const gs_gpu_t *gpu = nodes >> node & 1 ? gs_machine_gpu(machine, node) : NULL;
    gpus |= gpu ? 1U << (gpu - machine->gpu) : 0;
  }
  gs_copies_share(check, address, gpus, stack);
}

/* Copies from the memory of whichever GPU has it. */
static bool read_device(void *context, uint64_t address, void *to, uint64_t bytes) {
  const gs_machine_t *machine = context;
  bool found = false;
  for (uint32_t i = 0; i < machine->gpu_count && !found; i++) {
    gs_vm_reader_t reader;
    gs_vm_reader_register(gs_device_vm(machine->gpu[i].device), &reader);
    const gs_vm_map_t *map = gs_vm_reader_enter(&reader);
    const void *from =
        gs_vm_find_mapped(map, address) ? gs_vm_translate(map, address, bytes, GS_VM_READ) : NULL;
    found = from != NULL;
    if (found)
      memcpy(to, from, bytes);
    gs_vm_reader_leave(&reader);
    gs_vm_reader_unregister(&reader);
  }
  return found;
}

void gs_machine_compare_reads(gs_machine_t *machine) {
  if (machine->check)
    gs_host_read_tell(machine->check->host_read, read_device, machine);
}

void gfxsim_note_map(uint64_t address, uint64_t bytes, const char *name, const char *file, uint32_t line,
                     uint64_t host) {
  gs_machine_t *machine;
  gs_check_t *check = open_check(&machine);
  if (!check)
    return;
  char text[GS_BLOCK_NAME];
  if (name)
    name = gs_called(name, text);
  gs_host_read_tell(check->host_read, read_device, machine);
  gs_blocks_name(&check->blocks, address, host, name, file, line);
  const gfxsim_stack_t stack = with_caller(&(const gfxsim_stack_t){.depth = 0});
  gs_transfer_map(check->transfer, address, bytes, name, file, line, host, &stack);
}

void gfxsim_note_found(uint64_t address, uint64_t bytes, const char *name, const char *file, uint32_t line,
                       uint64_t host) {
  gs_machine_t *machine;
  gs_check_t *check = open_check(&machine);
  gs_block_note_t block;
  char text[GS_BLOCK_NAME], whole[GS_BLOCK_NAME];
  (void)file, (void)line, (void)host;
  if (!check)
    return;
  if (name)
    name = gs_called(name, text);
  const gfxsim_stack_t stack = with_caller(&(const gfxsim_stack_t){.depth = 0});
  gs_transfer_found(check->transfer, address, bytes, name, &stack);
  if (!name || !gs_blocks_find(&check->blocks, address, &block) || !gs_called_whole(block.name, name, whole))
    return;
  gs_blocks_name(&check->blocks, block.start, block.host, whole, block.file, block.line);
  gs_transfer_rename(check->transfer, address, whole);
}

void gfxsim_note_mapping(uint32_t what, uint64_t address, uint64_t bytes) {
  gs_machine_t *machine;
  gs_check_t *check = open_check(&machine);
  if (!check)
    return;
  const gfxsim_stack_t stack = with_caller(&(const gfxsim_stack_t){.depth = 0});
  gs_host_read_tell(check->host_read, read_device, machine);
  if (what == GFXSIM_MAPPING_REGION)
    gs_transfer_region(check->transfer);
  else
    gs_transfer_note(check->transfer, (gfxsim_mapping_t)what, address, bytes, &stack, read_device, machine);
}

void gfxsim_note_brought(uint64_t address, uint64_t host, uint64_t bytes) {
  gs_machine_t *machine;
  gs_check_t *check = open_check(&machine);
  if (check)
    gs_host_read_brought(check->host_read, address, host, bytes);
}

void gfxsim_note_host(uint32_t what, uint64_t address, uint64_t bytes, uint64_t code) {
  gs_machine_t *machine;
  gs_check_t *check = open_check(&machine);
  const gfxsim_stack_t stack = {1, {code}};
  if (check)
    gs_transfer_host(check->transfer, (gfxsim_host_t)what, address, bytes, &stack);
}

void gfxsim_note_returns(uint64_t code) {
  gs_machine_t *machine;
  gs_check_t *check = open_check(&machine);
  if (!check)
    return;
  gs_transfer_tell_undone(check->transfer);
  gs_host_read_returns(check->host_read, code, last_caller);
  last_caller = 0;
}

void gfxsim_note_copy(const gfxsim_copy_t *copy, const char *call, const gfxsim_stack_t *stack) {
  gs_machine_t *machine;
  gs_check_t *check = open_check(&machine);
  const gfxsim_stack_t whole = with_caller(stack);
  if (check)
    gs_copies_look(check, copy, call, &whole);
}
