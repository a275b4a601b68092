// SPDX-License-Identifier: Apache-2.0
#include "waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#define NANOS_PER_MILLI 1000000LL
#define NANOS_PER_SECOND 1000000000LL
#define NEVER (-1)

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * NANOS_PER_SECOND + time.tv_nsec;
}

int64_t waiting_deadline(int timeout_millis) {
  return timeout_millis < 0 ? NEVER : now() + timeout_millis * NANOS_PER_MILLI;
}

/* The timeout for poll(2), rounded up: otherwise a wait would spin through its last millisecond. */
static int millis_until(int64_t deadline) {
  if (deadline == NEVER) {
    return -1;
  }
  int64_t left = deadline - now();
  if (left <= 0) {
    return 0;
  }
  int64_t millis = (left + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI;
  return millis > INT_MAX ? INT_MAX : (int)millis;
}

static void drain(int wakeup) {
  uint64_t count;
  /* The eventfd is non-blocking; EAGAIN means that another waiter has drained it. */
  while (read(wakeup, &count, sizeof count) < 0 && errno == EINTR) {
  }
}

int waiting_for(int fd, int wakeup, int64_t deadline) {
  struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = wakeup, .events = POLLIN}};
  int ready;
  do {
    ready = poll(fds, 2, millis_until(deadline));
  } while (ready < 0 && errno == EINTR);
  if (ready < 0) {
    return -errno;
  }
  if ((fds[0].revents | fds[1].revents) & POLLNVAL) {
    return -EBADF;
  }
  int result = WAIT_TIME_IS_OVER;
  if (fds[1].revents & POLLIN) {
    drain(wakeup);
    result |= WAIT_WOKEN;
  }
  if (fds[0].revents & POLLIN) {
    result |= WAIT_READABLE;
  }
  if (fds[0].revents & (POLLERR | POLLHUP)) {
    result |= WAIT_BROKEN;
  }
  return result;
}

int waiting_readable(int fd, int wakeup, int timeout_millis) {
  int ready = waiting_for(fd, wakeup, waiting_deadline(timeout_millis));
  if (ready < 0) {
    return ready;
  }
  if (ready & WAIT_READABLE) {
    return 1;
  }
  return ready & WAIT_BROKEN ? -EIO : 0;
}

int waiting_nonblocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0) {
    return -errno;
  }
  if (!(flags & O_NONBLOCK) && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    return -errno;
  }
  return 0;
}
