#define _GNU_SOURCE
#include "CLibCurl.h"

#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The first version that calls back between the connection and the request.
#define OLDEST_VERSION 0x075000

#define FUNCTIONS \
  EACH(easy_cleanup) EACH(easy_getinfo) EACH(easy_init) EACH(easy_recv) EACH(easy_send) EACH(easy_setopt) \
  EACH(easy_strerror) EACH(global_init) \
  EACH(multi_add_handle) EACH(multi_cleanup) EACH(multi_info_read) EACH(multi_init) EACH(multi_perform) \
  EACH(multi_poll) EACH(multi_remove_handle) EACH(share_init) EACH(share_setopt) EACH(slist_append) \
  EACH(slist_free_all) EACH(version_info)

static struct {
#define EACH(name) __typeof__(&curl_##name) name;
  FUNCTIONS
#undef EACH
} curl;

/// Addresses that were found stay known to all requests for a minute.
static CURLSH *share;
static pthread_mutex_t share_locks[CURL_LOCK_DATA_LAST];
static char problem[256];

static void lock(CURL *easy, curl_lock_data data, curl_lock_access access, void *context) {
  (void)easy, (void)access, (void)context;
  pthread_mutex_lock(&share_locks[data]);
}

static void unlock(CURL *easy, curl_lock_data data, void *context) {
  (void)easy, (void)context;
  pthread_mutex_unlock(&share_locks[data]);
}

static void load(void) {
  unsetenv("SSLKEYLOGFILE");
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(problem, sizeof problem, "%s", dlerror());
    library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) return;
#define EACH(name) \
  if (!(curl.name = (__typeof__(curl.name))dlsym(library, "curl_" #name))) { \
    snprintf(problem, sizeof problem, "%s", dlerror()); \
    return; \
  }
  FUNCTIONS
#undef EACH
  const curl_version_info_data *version = curl.version_info(CURLVERSION_NOW);
  if (version->version_num < OLDEST_VERSION) {
    snprintf(problem, sizeof problem, "libcurl %s is too old: 7.80 or newer is needed", version->version);
    return;
  }
  const bool works = curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && (share = curl.share_init()) &&
                     curl.share_setopt(share, CURLSHOPT_LOCKFUNC, lock) == CURLSHE_OK &&
                     curl.share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock) == CURLSHE_OK &&
                     curl.share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) == CURLSHE_OK;
  snprintf(problem, sizeof problem, "%s", works ? "" : "libcurl does not begin to work");
}

const char *libcurl_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return problem[0] ? problem : NULL;
}

/// A host may have addresses of a kind that this machine has none of: `localhost` is ::1 as well. They are left out, or
/// the error of such a one would hide why another one does not accept the connection.
///
/// - Parameter error: set where there is no way to the address. For a datagram socket nothing is sent to find out.
static curl_socket_t socket_for(const struct curl_sockaddr *address, long *error) {
  const int probe = socket(address->family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe >= 0) {
    const bool fails = connect(probe, &address->addr, address->addrlen) != 0;
    const int reason = errno;
    close(probe);
    if (fails && (reason == ENETUNREACH || reason == EADDRNOTAVAIL)) {
      *error = reason;
      return CURL_SOCKET_BAD;
    }
  }
  const curl_socket_t result = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (result == CURL_SOCKET_BAD) *error = errno;
  return result;
}

/// What the functions below need of one request.
struct request {
  struct libcurl_handler handler;
  /// `errno` of the last address that was left out.
  long error;
};

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)purpose;
  struct request *request = context;
  char text[NI_MAXHOST];
  const curl_socket_t result = socket_for(address, &request->error);
  if (result == CURL_SOCKET_BAD) return result;
  if (getnameinfo(&address->addr, address->addrlen, text, sizeof text, NULL, 0, NI_NUMERICHOST) != 0 ||
      !request->handler.may_connect(request->handler.context, text)) {
    close(result);
    return CURL_SOCKET_BAD;
  }
  return result;
}

static int connected(void *context, char *address, char *own, int port, int own_port) {
  (void)own, (void)port, (void)own_port;
  const struct libcurl_handler *handler = context;
  return handler->may_send(handler->context, address) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static size_t take_head(char *bytes, size_t size, size_t count, void *context) {
  const struct libcurl_handler *handler = context;
  return handler->take_head(handler->context, bytes, size * count) ? size * count : 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
  const struct libcurl_handler *handler = context;
  return handler->take_body(handler->context, bytes, size * count) ? size * count : 0;
}

/// By the interface for several requests: the one for a single one can't be ended at once.
static CURLcode run(CURLM *multi, int stop) {
  struct curl_waitfd end = {.fd = stop, .events = CURL_WAIT_POLLIN};
  int running = 1, left;
  while (true) {
    if (curl.multi_perform(multi, &running) != CURLM_OK) return CURLE_FAILED_INIT;
    if (!running) break;
    end.revents = 0;
    if (curl.multi_poll(multi, &end, stop >= 0, 1000, NULL) != CURLM_OK) return CURLE_FAILED_INIT;
    if (end.revents) return CURLE_ABORTED_BY_CALLBACK;
  }
  const CURLMsg *message = curl.multi_info_read(multi, &left);
  return message ? message->data.result : CURLE_FAILED_INIT;
}

// The handle for several requests has their connections.
struct libcurl_kept *libcurl_keep(void) { return (struct libcurl_kept *)curl.multi_init(); }

void libcurl_release(struct libcurl_kept *kept) { curl.multi_cleanup((CURLM *)kept); }

struct libcurl_outcome libcurl_perform(
    const char *method, const char *url, const char *accept, const char *type, const void *body, size_t size,
    long milliseconds, int stop, struct libcurl_handler handler, struct libcurl_kept *kept) {
  struct libcurl_outcome outcome = {.code = CURLE_OK};
  struct request request = {.handler = handler};
  CURL *easy = curl.easy_init();
  CURLM *multi = kept ? (CURLM *)kept : curl.multi_init();
  struct curl_slist *headers = NULL;
  if (!easy || !multi) outcome.code = CURLE_OUT_OF_MEMORY;

  // A request without one of these is not sent.
#define SET(option, value) \
  if (outcome.code == CURLE_OK) outcome.code = curl.easy_setopt(easy, CURLOPT_##option, value)
#define ADD(header) \
  if (outcome.code == CURLE_OK) { \
    struct curl_slist *longer = curl.slist_append(headers, header); \
    if (longer) headers = longer; \
    else outcome.code = CURLE_OUT_OF_MEMORY; \
  }
  SET(URL, url);
  SET(PROTOCOLS, (long)CURLPROTO_HTTP);
  SET(HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  SET(PROXY, "");
  SET(NOPROXY, "*");
  SET(NOSIGNAL, 1L);
  SET(SHARE, share);
  SET(TIMEOUT_MS, milliseconds);
  SET(OPENSOCKETFUNCTION, open_socket);
  SET(OPENSOCKETDATA, &request);
  SET(PREREQFUNCTION, connected);
  SET(PREREQDATA, &handler);
  SET(HEADERFUNCTION, take_head);
  SET(HEADERDATA, &handler);
  SET(WRITEFUNCTION, take_body);
  SET(WRITEDATA, &handler);
  ADD(accept);
  if (!kept) ADD("Connection: close");
  if (strcmp(method, "GET") != 0) {
    ADD(type);
    SET(CUSTOMREQUEST, method);
    SET(POSTFIELDSIZE, (long)size);
    SET(POSTFIELDS, body);
  }
  SET(HTTPHEADER, headers);
#if LIBCURL_VERSION_NUM >= 0x075700
  // A look-up that is still under way is not waited for. Older versions do that, and don't know this.
  if (outcome.code == CURLE_OK) curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif

  if (outcome.code == CURLE_OK && curl.multi_add_handle(multi, easy) == CURLM_OK) {
    outcome.code = run(multi, stop);
    curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &outcome.status);
    curl.easy_getinfo(easy, CURLINFO_OS_ERRNO, &outcome.error);
    if (!outcome.error) outcome.error = request.error;
    curl.multi_remove_handle(multi, easy);
  } else if (outcome.code == CURLE_OK) {
    outcome.code = CURLE_FAILED_INIT;
  }
  curl.slist_free_all(headers);
  curl.easy_cleanup(easy);
  if (multi && !kept) curl.multi_cleanup(multi);
  outcome.message = curl.easy_strerror(outcome.code);
  return outcome;
}

struct libcurl_connection {
  CURL *easy;
  CURLM *multi;
  /// `errno` of the last address that was left out.
  long error;
  char problem[CURL_ERROR_SIZE];
};

static curl_socket_t open_any_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)purpose;
  struct libcurl_connection *connection = context;
  return socket_for(address, &connection->error);
}

struct libcurl_outcome libcurl_connect(
    const char *url, long milliseconds, int stop, struct libcurl_connection **result) {
  struct libcurl_outcome outcome = {.code = CURLE_OK};
  struct libcurl_connection *connection = calloc(1, sizeof *connection);
  CURL *easy = curl.easy_init();
  CURLM *multi = curl.multi_init();
  if (!connection || !easy || !multi) outcome.code = CURLE_OUT_OF_MEMORY;
  SET(URL, url);
  SET(PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
  SET(HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  SET(CONNECT_ONLY, 1L);
  SET(SSL_VERIFYPEER, 1L);
  SET(SSL_VERIFYHOST, 2L);
  SET(PROXY, "");
  SET(NOPROXY, "*");
  SET(NOSIGNAL, 1L);
  SET(SHARE, share);
  SET(TIMEOUT_MS, milliseconds);
  SET(OPENSOCKETFUNCTION, open_any_socket);
  SET(OPENSOCKETDATA, connection);
  SET(ERRORBUFFER, connection->problem);
#if LIBCURL_VERSION_NUM >= 0x075700
  if (outcome.code == CURLE_OK) curl.easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
  if (outcome.code == CURLE_OK && curl.multi_add_handle(multi, easy) == CURLM_OK) {
    outcome.code = run(multi, stop);
    curl.easy_getinfo(easy, CURLINFO_OS_ERRNO, &outcome.error);
    if (!outcome.error) outcome.error = connection->error;
  } else if (outcome.code == CURLE_OK) {
    outcome.code = CURLE_FAILED_INIT;
  }
  outcome.message = curl.easy_strerror(outcome.code);
  if (connection) {
    // While the handle is in the other one, its connection stays.
    (connection->easy = easy), (connection->multi = multi);
    if (connection->problem[0]) outcome.message = connection->problem;
  } else {
    if (easy) curl.easy_cleanup(easy);
    if (multi) curl.multi_cleanup(multi);
  }
  *result = connection;
  return outcome;
}

int libcurl_descriptor(struct libcurl_connection *connection) {
  curl_socket_t descriptor = CURL_SOCKET_BAD;
  curl.easy_getinfo(connection->easy, CURLINFO_ACTIVESOCKET, &descriptor);
  return descriptor;
}

const char *libcurl_peer(struct libcurl_connection *connection) {
  const char *address = NULL;
  curl.easy_getinfo(connection->easy, CURLINFO_PRIMARY_IP, &address);
  return address ? address : "";
}

CURLcode libcurl_send(struct libcurl_connection *connection, const void *bytes, size_t size, size_t *count) {
  *count = 0;
  return curl.easy_send(connection->easy, bytes, size, count);
}

CURLcode libcurl_receive(struct libcurl_connection *connection, void *bytes, size_t size, size_t *count) {
  *count = 0;
  return curl.easy_recv(connection->easy, bytes, size, count);
}

void libcurl_close(struct libcurl_connection *connection) {
  if (connection->easy && connection->multi) curl.multi_remove_handle(connection->multi, connection->easy);
  if (connection->easy) curl.easy_cleanup(connection->easy);
  if (connection->multi) curl.multi_cleanup(connection->multi);
  free(connection);
}
