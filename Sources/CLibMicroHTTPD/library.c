#include "CLibMicroHTTPD.h"

#include <dlfcn.h>

const char *MHDLibraryLoad(struct MHDLibrary *library, const char *name) {
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return dlerror();
#define LOAD(name) \
  if (!(library->name = (__typeof__(library->name))dlsym(handle, "MHD_" #name))) return dlerror();
  MHD_EACH_FUNCTION(LOAD)
  return NULL;
}

struct MHD_Daemon *MHDStart(
    const struct MHDLibrary *library, size_t memory, MHD_AccessHandlerCallback handler,
    void *(*target)(void *, const char *, struct MHD_Connection *), MHD_NotifyConnectionCallback notify, void *context) {
  return library->start_daemon(
      MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handler, context,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_URI_LOG_CALLBACK, target, context,
      MHD_OPTION_NOTIFY_CONNECTION, notify, context, MHD_OPTION_END);
}

int MHDDescriptor(const struct MHDLibrary *library, struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = library->get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info ? info->epoll_fd : -1;
}

int MHDConnectionDescriptor(const struct MHDLibrary *library, struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      library->get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

void *MHDContext(const struct MHDLibrary *library, struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      library->get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

size_t MHDHeaderSize(const struct MHDLibrary *library, struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      library->get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}
