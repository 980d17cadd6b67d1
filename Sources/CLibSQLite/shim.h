// SPDX-License-Identifier: Apache-2.0

#include <sqlite3.h>

/// `sqlite3_config` takes a variable number of arguments, which Swift cannot call.
static inline int threadkeeper_sqlite3_config_memory_statistics(int wanted) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, wanted);
}
