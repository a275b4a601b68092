// SPDX-License-Identifier: Apache-2.0
/* Waiting for a file descriptor, with a limit and a way to be woken. */
#ifndef VERBENA_WAITING_H
#define VERBENA_WAITING_H

#include <stdint.h>

enum { WAIT_TIME_IS_OVER = 0, WAIT_READABLE = 1, WAIT_WOKEN = 2, WAIT_BROKEN = 4 };

/* The time at which a wait of so many milliseconds ends; negative means never, then and now. */
int64_t waiting_deadline(int timeout_millis);

/*
 * Waits until fd is readable or wakeup (an eventfd, or -1) was written to, which it then drains.
 * Answers the bits above, or -errno. Signals do not end it.
 */
int waiting_for(int fd, int wakeup, int64_t deadline);

/* 1 when fd is readable, 0 when the time is over or the waiter was woken, or -errno. */
int waiting_readable(int fd, int wakeup, int timeout_millis);

/* Makes reads of it answer EAGAIN instead of waiting. 0 or -errno. */
int waiting_nonblocking(int fd);

#endif
