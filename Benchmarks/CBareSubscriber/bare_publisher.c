#include "bare_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// Bytes of the packet at `at`: fixed header byte, remaining length (MQTT 3.1.1, section 2.2.3).
static long packet_length(const uint8_t *at, const uint8_t *end) {
  long value = 0;
  int shift = 0;
  for (const uint8_t *byte = at + 1; byte < end && shift <= 21; byte++, shift += 7) {
    value |= (long)(*byte & 0x7F) << shift;
    if ((*byte & 0x80) == 0) return (byte - at) + 1 + value;
  }
  return end - at;
}

static int open_connection(int port) {
  int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  static const uint8_t question[] = {0x10, 21,  0,   4,   'M', 'Q', 'T', 'T', 4,   2,   0,  0,
                                     0,    9,   'p', 'u', 'b', 'l', 'i', 's', 'h', 'e', 'r'};
  uint8_t answer[4] = {0};
  if (connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0 &&
      send(descriptor, question, sizeof question, MSG_NOSIGNAL) == (ssize_t)sizeof question &&
      recv(descriptor, answer, sizeof answer, MSG_WAITALL) == (ssize_t)sizeof answer &&
      answer[3] == 0) {
    int yes = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return descriptor;
  }
  close(descriptor);
  errno = ECONNREFUSED;
  return -1;
}

/// Each acknowledgement has four bytes. Returns how many came, or -1.
static long read_acknowledgements(int descriptor, long *bytes, int flags) {
  uint8_t answers[8192];
  ssize_t count = recv(descriptor, answers, sizeof answers, flags);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (count <= 0) return -1;
  long before = *bytes / 4;
  *bytes += count;
  return *bytes / 4 - before;
}

int bare_publish(int port, const uint8_t *packets, long length, long count, long window,
                 long rate, struct bare_times *times) {
  int descriptor = open_connection(port);
  if (descriptor < 0) return errno;
  const uint8_t *end = packets + length;
  const uint8_t *written = packets; // What the socket has taken.
  const uint8_t *allowed = packets; // The end of the last packet that the window lets out.
  long sent = 0, acknowledged = 0, bytes = 0;
  int result = 0;
  times->begin = bare_now();
  while (acknowledged < count) {
    // What may have been sent by now.
    long due = rate > 0 ? 1 + (long)((double)(bare_now() - times->begin) / 1e9 * (double)rate) : count;
    while (allowed < end && sent < count && sent < due && sent - acknowledged < window) {
      allowed += packet_length(allowed, end);
      sent += 1;
    }
    struct pollfd ready = {descriptor, POLLIN, 0};
    if (written < allowed) ready.events |= POLLOUT;
    bool is_paused = sent < count && sent >= due;
    if (poll(&ready, 1, is_paused ? 1 : 30000) <= 0) {
      if (is_paused) continue;
      result = ETIMEDOUT;
      break;
    }
    if (ready.revents & POLLOUT) {
      ssize_t taken = send(descriptor, written, (size_t)(allowed - written),
                           MSG_NOSIGNAL | MSG_DONTWAIT);
      if (taken > 0) written += taken;
    }
    if (ready.revents & (POLLIN | POLLHUP | POLLERR)) {
      long came = read_acknowledgements(descriptor, &bytes, MSG_DONTWAIT);
      if (came < 0) {
        result = ECONNRESET;
        break;
      }
      acknowledged += came;
    }
  }
  times->end = bare_now();
  static const uint8_t goodbye[] = {0xE0, 0};
  send(descriptor, goodbye, sizeof goodbye, MSG_NOSIGNAL);
  close(descriptor);
  return result;
}
