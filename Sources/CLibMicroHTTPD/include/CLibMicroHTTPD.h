// libmicrohttpd's functions, loaded when they are needed: linked, it would take 2.7 MB of every command, most of them for
// the TLS library that comes with it.

#pragma once

#include <microhttpd.h>
#include <stdbool.h>

#define MHD_EACH_FUNCTION(f) \
  f(add_connection) f(add_response_header) f(create_response_from_buffer) f(create_response_from_callback) \
  f(destroy_response) f(get_connection_info) f(get_daemon_info) f(get_timeout) f(lookup_connection_value) \
  f(queue_response) f(resume_connection) f(run) f(start_daemon) f(stop_daemon) f(suspend_connection)

#define MHD_FIELD(name) __typeof__(&MHD_##name) _Nonnull name;
struct MHDLibrary { MHD_EACH_FUNCTION(MHD_FIELD) };
#undef MHD_FIELD

/// Fills in the functions of the shared library with this name, which then stays loaded.
///
/// - Returns: null, or why it cannot be loaded; valid until the next call.
const char *_Nullable MHDLibraryLoad(struct MHDLibrary *_Nonnull library, const char *_Nonnull name);

// What Swift cannot call or import, because it has a variable number of arguments or a cast.

/// Starts a server without a thread or a listening socket of its own.
///
/// - Parameters:
///   - memory: for each connection, in bytes: its headers have to fit in.
///   - target: called with the request's target as it came.
///   - notify: called when a connection begins and when it is over.
///   - context: the first argument of each of these functions.
/// - Returns: null where the system has no memory or descriptor left.
struct MHD_Daemon *_Nullable MHDStart(
    const struct MHDLibrary *_Nonnull library, size_t memory, MHD_AccessHandlerCallback _Nonnull handler,
    void *_Nullable (*_Nonnull target)(void *_Nullable, const char *_Nullable, struct MHD_Connection *_Nonnull),
    MHD_NotifyConnectionCallback _Nonnull notify, void *_Nonnull context);

/// What a daemon waits with: readable when `MHD_run` has something to do.
int MHDDescriptor(const struct MHDLibrary *_Nonnull library, struct MHD_Daemon *_Nonnull daemon);

/// The socket of a connection.
int MHDConnectionDescriptor(
    const struct MHDLibrary *_Nonnull library, struct MHD_Connection *_Nonnull connection);

/// What `notify` has set for a connection.
void *_Nullable MHDContext(const struct MHDLibrary *_Nonnull library, struct MHD_Connection *_Nonnull connection);

/// Bytes of the request line and all headers.
size_t MHDHeaderSize(const struct MHDLibrary *_Nonnull library, struct MHD_Connection *_Nonnull connection);

/// `MHD_CONTENT_READER_END_OF_STREAM`.
static const ssize_t MHDEndOfStream = MHD_CONTENT_READER_END_OF_STREAM;
/// `MHD_CONTENT_READER_END_WITH_ERROR`.
static const ssize_t MHDEndWithError = MHD_CONTENT_READER_END_WITH_ERROR;
/// `MHD_SIZE_UNKNOWN`.
static const uint64_t MHDSizeUnknown = MHD_SIZE_UNKNOWN;
