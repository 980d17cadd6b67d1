#include <sodium.h>

#ifdef __linux__
#include <sys/prctl.h>

/// prctl is variadic, so Swift cannot call it. Returns 0, or -1 with errno set.
static inline int threadkeeper_forbid_dumping(void) {
  return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/// 0 when this process leaves no core file and nobody of its user may attach to it.
static inline int threadkeeper_dumpable(void) {
  return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
}
#endif
