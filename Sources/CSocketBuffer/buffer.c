// Takes the place of the C library's `read`, `recv`, `write` and `send` in a program that is linked with this, for
// libmosquitto, which reads a message in four calls, writes a packet in one, and wakes itself up by a byte for each.
//
// Where the names of glibc are not there, or the sanitizers have functions of their own, nothing is replaced.

#define _GNU_SOURCE
#include "CSocketBuffer.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

enum { capacity = 64 << 10 };

struct socket_buffer {
  int descriptor;
  /// The last read has brought all that the socket had, since `enter`.
  bool is_drained;
  bool writes_through;
  /// What came and was not read yet, and what was written and has not left yet: from the first up to the last.
  size_t in_first, in_last, out_first, out_last;
  char in[capacity], out[capacity];
};

/// That of this thread, between `enter` and `leave`.
static _Thread_local socket_buffer *current;

socket_buffer *socket_buffer_make(int descriptor) {
  socket_buffer *buffer = malloc(sizeof *buffer);
  // The bytes stay as they are, so that memory is taken only for as many as come.
  if (buffer) memset(buffer, 0, offsetof(socket_buffer, in));
  if (buffer) buffer->descriptor = descriptor;
  return buffer;
}

void socket_buffer_free(socket_buffer *buffer) {
  if (!buffer) return;
  if (current == buffer) current = NULL;
  explicit_bzero(buffer->in, buffer->in_last);
  explicit_bzero(buffer->out, buffer->out_last);
  free(buffer);
}

void socket_buffer_enter(socket_buffer *buffer) {
  current = buffer;
  buffer->is_drained = false;
}

void socket_buffer_leave(void) { current = NULL; }
bool socket_buffer_has_input(const socket_buffer *buffer) { return buffer->in_first < buffer->in_last; }
bool socket_buffer_has_output(const socket_buffer *buffer) { return buffer->out_first < buffer->out_last; }
void socket_buffer_write_through(socket_buffer *buffer) { buffer->writes_through = true; }

ssize_t socket_buffer_read(socket_buffer *buffer, void *bytes, size_t count) {
  if (count == 0) return 0;
  if (!socket_buffer_has_input(buffer)) {
    if (buffer->is_drained) {
      errno = EAGAIN;
      return -1;
    }
    const ssize_t came = recvfrom(buffer->descriptor, buffer->in, capacity, 0, NULL, NULL);
    // The end, or an error, is that of the socket, and comes behind all bytes.
    if (came <= 0) return came;
    buffer->in_last = (size_t)came;
    buffer->is_drained = came < capacity;
  }
  const size_t there = buffer->in_last - buffer->in_first;
  if (count > there) count = there;
  memcpy(bytes, buffer->in + buffer->in_first, count);
  buffer->in_first += count;
  if (!socket_buffer_has_input(buffer)) {
    // Datasets, and in the other direction a password, may have been among it.
    explicit_bzero(buffer->in, buffer->in_last);
    buffer->in_first = buffer->in_last = 0;
  }
  return (ssize_t)count;
}

int socket_buffer_flush(socket_buffer *buffer) {
  while (socket_buffer_has_output(buffer)) {
    const size_t left = buffer->out_last - buffer->out_first;
    const ssize_t sent = sendto(buffer->descriptor, buffer->out + buffer->out_first, left, MSG_NOSIGNAL, NULL, 0);
    if (sent >= 0) {
      buffer->out_first += (size_t)sent;
    } else if (errno != EINTR) {
      return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : errno;
    }
  }
  explicit_bzero(buffer->out, buffer->out_last);
  buffer->out_first = buffer->out_last = 0;
  return 0;
}

ssize_t socket_buffer_write(socket_buffer *buffer, const void *bytes, size_t count) {
  // Room is what is behind the last byte, until all before it has left.
  if (buffer->writes_through || buffer->out_last == capacity) {
    const int code = socket_buffer_flush(buffer);
    if (code != 0 || socket_buffer_has_output(buffer)) {
      errno = code ? code : EAGAIN;
      return -1;
    }
  }
  if (buffer->writes_through) return sendto(buffer->descriptor, bytes, count, MSG_NOSIGNAL, NULL, 0);
  const size_t room = capacity - buffer->out_last;
  if (count > room) count = room;
  memcpy(buffer->out + buffer->out_last, bytes, count);
  buffer->out_last += count;
  return (ssize_t)count;
}

#if defined(__GLIBC__) && !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)

extern ssize_t __read(int descriptor, void *bytes, size_t count);
extern ssize_t __write(int descriptor, const void *bytes, size_t count);

static bool is_current(int descriptor) { return current && current->descriptor == descriptor; }

ssize_t read(int descriptor, void *bytes, size_t count) {
  return is_current(descriptor) ? socket_buffer_read(current, bytes, count) : __read(descriptor, bytes, count);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (is_current(descriptor)) return socket_buffer_write(current, bytes, count);
  // The byte by which libmosquitto wakes up a thread that waits in it: none does, and nobody would read it.
  if (current && count == 1 && *(const char *)bytes == 0) return 1;
  return __write(descriptor, bytes, count);
}

ssize_t recv(int descriptor, void *bytes, size_t count, int flags) {
  return is_current(descriptor) ? socket_buffer_read(current, bytes, count)
                                : recvfrom(descriptor, bytes, count, flags, NULL, NULL);
}

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
  if (is_current(descriptor)) return socket_buffer_write(current, bytes, count);
  return sendto(descriptor, bytes, count, flags, NULL, 0);
}

// What a library that is built with _FORTIFY_SOURCE calls instead, where it knows the size of the memory.

extern void __chk_fail(void) __attribute__((noreturn));
ssize_t __read_chk(int descriptor, void *bytes, size_t count, size_t size);
ssize_t __recv_chk(int descriptor, void *bytes, size_t count, size_t size, int flags);

ssize_t __read_chk(int descriptor, void *bytes, size_t count, size_t size) {
  if (count > size) __chk_fail();
  return read(descriptor, bytes, count);
}

ssize_t __recv_chk(int descriptor, void *bytes, size_t count, size_t size, int flags) {
  if (count > size) __chk_fail();
  return recv(descriptor, bytes, count, flags);
}

bool socket_buffer_works(void) {
  const struct {
    const char *name;
    void *function;
  } all[] = {
      {"read", (void *)read}, {"__read_chk", (void *)__read_chk}, {"write", (void *)write},
      {"recv", (void *)recv}, {"__recv_chk", (void *)__recv_chk}, {"send", (void *)send},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (dlsym(RTLD_DEFAULT, all[i].name) != all[i].function) return false;
  }
  return true;
}

#else

bool socket_buffer_works(void) { return false; }

#endif
