/// Requests over HTTP/1.1, and connections with TLS, with libcurl, which is loaded by who asks for it and not linked: it
/// brings some thirty libraries, and 6 MB of resident memory, that only agents are to have.

#pragma once

#include <stdbool.h>
#include <stddef.h>

// `CURLOPT_PROTOCOLS` is deprecated, and its successor newer than what is needed here.
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>

/// Loads it, once in a process. Takes SSLKEYLOGFILE out of the environment before, into which TLS would write its keys.
///
/// - Returns: null, or why it can't be used.
const char *_Nullable libcurl_load(void);

/// What is asked while a request is under way. `false` ends it.
struct libcurl_handler {
  void *_Nullable context;
  /// Before the connection to an address, which is numeric. After `false` the next one of the host is tried.
  bool (*_Nonnull may_connect)(void *_Nullable context, const char *_Nonnull address);
  /// It is connected to this address, and nothing was sent.
  bool (*_Nonnull may_send)(void *_Nullable context, const char *_Nonnull address);
  /// The status line, each header and the empty line.
  bool (*_Nonnull take_head)(void *_Nullable context, const char *_Nonnull bytes, size_t count);
  bool (*_Nonnull take_body)(void *_Nullable context, const char *_Nonnull bytes, size_t count);
};

struct libcurl_outcome {
  CURLcode code;
  /// Of `code`.
  const char *_Nonnull message;
  /// Of the answer; 0: there is none.
  long status;
  /// `errno` of the last connection that failed; where none was tried, why there is no way to the address.
  long error;
};

/// Connections that requests leave open for the next one. For one thread.
struct libcurl_kept;

/// - Returns: null: no memory.
struct libcurl_kept *_Nullable libcurl_keep(void);

/// Closes them.
void libcurl_release(struct libcurl_kept *_Nonnull kept);

/// Sends a request, on the caller's thread. Of the environment nothing counts: no proxy, no .netrc. No redirect is
/// followed, and there are no cookies.
///
/// - Parameters:
///   - accept: the whole header; `type` likewise, for a request with a body.
///   - body: of all methods but GET.
///   - milliseconds: from the look-up of the host to the last byte of the answer.
///   - stop: a descriptor that ends it when it is readable, with CURLE_ABORTED_BY_CALLBACK; -1: none.
///   - kept: null: over a connection of its own, which the server is asked to close. Else over one of these, for which
///     `may_connect` is not asked again; where it has ended, the request is sent again over another one.
struct libcurl_outcome libcurl_perform(
    const char *_Nonnull method, const char *_Nonnull url, const char *_Nonnull accept, const char *_Nonnull type,
    const void *_Nonnull body, size_t size, long milliseconds, int stop, struct libcurl_handler handler,
    struct libcurl_kept *_Nullable kept);

/// A connection whose bytes the caller sends and reads itself.
struct libcurl_connection;

/// Connects, with TLS where the URL says `https`, whose certificate is verified. Of the environment nothing counts.
///
/// - Parameters:
///   - milliseconds: from the look-up of the host to the end of the TLS handshake.
///   - stop: as above.
///   - connection: to be closed, also when it is not connected; null: no memory.
/// - Returns: CURLE_OK when it is connected. The message lives as long as the connection.
struct libcurl_outcome libcurl_connect(
    const char *_Nonnull url, long milliseconds, int stop,
    struct libcurl_connection *_Nullable *_Nonnull connection);

/// The socket, for `poll`; -1 when the connection is gone.
int libcurl_descriptor(struct libcurl_connection *_Nonnull connection);

/// The address that it is connected to, which is numeric.
const char *_Nonnull libcurl_peer(struct libcurl_connection *_Nonnull connection);

/// Never waits: CURLE_AGAIN.
CURLcode libcurl_send(
    struct libcurl_connection *_Nonnull connection, const void *_Nonnull bytes, size_t size, size_t *_Nonnull count);

/// Never waits: CURLE_AGAIN. `count` is 0 at the end.
CURLcode libcurl_receive(
    struct libcurl_connection *_Nonnull connection, void *_Nonnull bytes, size_t size, size_t *_Nonnull count);

void libcurl_close(struct libcurl_connection *_Nonnull connection);
