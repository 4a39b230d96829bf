/* Checked memory access of the command and DMA processors. */
#include "packet/bus.h"

#include <string.h>

#include "exec/guard.h"

void gs_bus_init(gs_bus_t *bus, gs_vm_t *vm) {
  memset(bus, 0, sizeof *bus);
  gs_vm_reader_register(vm, &bus->reader);
}

void gs_bus_fini(gs_bus_t *bus) {
  gs_vm_reader_unregister(&bus->reader);
}

void gs_bus_enter(gs_bus_t *bus) {
  bus->map = gs_vm_reader_enter(&bus->reader);
}

void gs_bus_leave(gs_bus_t *bus) {
  bus->map = NULL;
  gs_vm_reader_leave(&bus->reader);
}

/* What of `wanted` bytes at `address` is in that range, which may be NULL; or NULL and a fault. */
static void *span_in(gs_bus_t *bus, const gs_vm_range_t *range, uint64_t address, uint64_t wanted,
                     uint32_t access, uint64_t *size) {
  if (!range || (range->access & access) != access) {
    bus->fault = (gs_fault_t){
        .address = address,
        .access = range ? access & ~range->access : access,
        .not_present = !range,
    };
    return NULL;
  }
  const uint64_t room = range->end - address;
  *size = wanted < room ? wanted : room;
  return range->host + (address - range->start);
}

void *gs_bus_span(gs_bus_t *bus, uint64_t address, uint64_t wanted, uint32_t access, uint64_t *size) {
  return span_in(bus, gs_vm_find(bus->map, address), address, wanted, access, size);
}

void *gs_bus_at(gs_bus_t *bus, uint64_t address, size_t size, uint32_t access) {
  uint64_t present = 0;
  /* An access in a gap would need a guard, as gs_bus_move has. */
  void *host = span_in(bus, gs_vm_find_mapped(bus->map, address), address, size, access, &present);
  if (host && present < size) {
    bus->fault = (gs_fault_t){.address = address + present, .access = access, .not_present = true};
    return NULL;
  }
  return host;
}

void *gs_bus_word_at(gs_bus_t *bus, uint64_t address, size_t size, uint32_t access) {
  if (address % size) {
    bus->fault = (gs_fault_t){.address = address, .access = access};
    return NULL;
  }
  return gs_bus_at(bus, address, size, access);
}

bool gs_bus_move(void *to, const void *from, size_t size, uint64_t *failed) {
  gs_guard_t guard;
  if (sigsetjmp(guard.resume, 0)) {
    gs_guard_set(NULL);
    *failed = guard.address;
    return false;
  }
  gs_guard_set(&guard);
  memmove(to, from, size);
  gs_guard_set(NULL);
  return true;
}
