#include <sqlite3.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/// What is free goes back to the system. Only glibc keeps tens of megabytes of it (malloc_trim(3)).
static inline void threadkeeper_give_back_free_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
