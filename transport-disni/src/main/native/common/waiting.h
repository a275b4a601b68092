// SPDX-License-Identifier: Apache-2.0
/* Waiting for a file descriptor, with a timeout and a wakeup. */
#ifndef VERBENA_WAITING_H
#define VERBENA_WAITING_H

#include <stdint.h>

enum { WAIT_TIME_IS_OVER = 0, WAIT_READABLE = 1, WAIT_WOKEN = 2, WAIT_BROKEN = 4 };

/* The deadline of a wait of this many milliseconds. A negative timeout, and a negative deadline,
   mean no limit. */
int64_t waiting_deadline(int timeout_millis);

/*
 * Waits until fd is readable, or wakeup (an eventfd, or -1) was written to; drains wakeup. Returns
 * the bits above, or -errno. Signals do not end the wait.
 */
int waiting_for(int fd, int wakeup, int64_t deadline);

/* Returns 1 when fd is readable, 0 when the time is over or the waiter was woken, or -errno. */
int waiting_readable(int fd, int wakeup, int timeout_millis);

/* Sets O_NONBLOCK, so that a read returns EAGAIN instead of waiting. Returns 0 or -errno. */
int waiting_nonblocking(int fd);

#endif
