// SPDX-License-Identifier: Apache-2.0
/* The library's version, addresses of buffers, and wakeups by eventfd. */
#include <sys/eventfd.h>
#include <unistd.h>

#include "natives.h"

EXTENSION(jint, version) {
  return io_verbena_disni_Extension_VERSION;
}

EXTENSION(jlong, address, jobject buffer) {
  return buffer ? to_handle((*env)->GetDirectBufferAddress(env, buffer)) : 0;
}

EXTENSION(jint, openWakeup) {
  int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd < 0 ? -error_now() : fd;
}

EXTENSION(jint, wakeup, jint fd) {
  const uint64_t one = 1;
  ssize_t written;
  do {
    written = write(fd, &one, sizeof one);
  } while (written < 0 && errno == EINTR);
  /* EAGAIN: the count is at its maximum, so the waiter is woken already. */
  return written < 0 && errno != EAGAIN ? -error_now() : 0;
}

EXTENSION(jint, closeWakeup, jint fd) {
  return close(fd) ? -error_now() : 0;
}
