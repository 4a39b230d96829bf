/* A library with device code, as far as host_wake is concerned. */
extern void host_wake_in_library(int begins);

__attribute__((constructor)) static void begin(void) {
  host_wake_in_library(1);
}

__attribute__((destructor)) static void end(void) {
  host_wake_in_library(0);
}
