/* Preloaded for LLVM 15's plugin: leaves out that a program unregisters its images when it ends. That makes
 * libomptarget ask the plugin whether it knows them, which this plugin answers from vectors that its
 * destructor has freed before. */
void __tgt_unregister_lib(void *descriptor);

void __tgt_unregister_lib(void *descriptor) {
  (void)descriptor;
}
