/* OMPX_APU_MAPS: mapped memory is used where it is. Variables that are declared for the device have memory of
 * their own there, and begin with what the host's hold; a linked one is the host's. */
#include <stdio.h>

int of_its_own = 1, linked = 2, *pointer;
#pragma omp declare target to(of_its_own, pointer)
#pragma omp declare target link(linked)

int main(void) {
  int numbers[] = {1, 2, 3, 4}, *address = NULL, seen = 0, linked_seen = 0, behind = 0;
  of_its_own = 10;
  linked = 20;
  pointer = numbers + 1;
#pragma omp target map(tofrom : numbers, linked) map(from : address, seen, linked_seen, behind)
  {
    address = numbers;
    seen = of_its_own;
    of_its_own = 11;
    linked_seen = linked;
    linked = 21;
    behind = *pointer;
  }
  int wrong = address != numbers || seen != 10 || linked_seen != 20 || linked != 21 || behind != 2;
  wrong += of_its_own != 10;
#pragma omp target update from(of_its_own)
  wrong += of_its_own != 11;
  printf("%s\n", wrong ? "wrong" : "right");
  return 0;
}
