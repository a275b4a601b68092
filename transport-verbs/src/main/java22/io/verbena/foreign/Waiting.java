// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import io.verbena.foreign.Function.Failure;
import java.lang.foreign.Arena;

/** Waits for a file descriptor, with a timeout and a wakeup. */
final class Waiting {
  static final int READABLE = 1;
  static final int WOKEN = 2;
  static final int BROKEN = 4;

  private static final int EINTR = 4;
  private static final int EBADF = 9;
  private static final int EAGAIN = 11;
  private static final int EFD_FLAGS = 0x80800; // EFD_CLOEXEC | EFD_NONBLOCK
  private static final int F_GETFL = 3;
  private static final int F_SETFL = 4;
  private static final int O_NONBLOCK = 0x800;
  private static final int POLLIN = 1;
  private static final int POLLERR_OR_HUP = 0x18;
  private static final int POLLNVAL = 0x20;

  /** {@code struct pollfd}. */
  private static final int EVENTS = 4;

  private static final int REVENTS = 6;
  private static final int POLLFD_SIZE = 8;

  private final Function eventfd;
  private final Function read;
  private final Function write;
  private final Function close;
  private final Function poll;
  private final Function getFlags;
  private final Function setFlags;

  Waiting(Libraries libraries) {
    eventfd = libraries.function("eventfd", Failure.MINUS_ONE, "II");
    read = libraries.function("read", Failure.MINUS_ONE, "IPP");
    write = libraries.function("write", Failure.MINUS_ONE, "IPP");
    close = libraries.function("close", Failure.MINUS_ONE, "I");
    poll = libraries.function("poll", Failure.MINUS_ONE, "PPI");
    getFlags = libraries.variadic("fcntl", Failure.MINUS_ONE, "II", 2);
    setFlags = libraries.variadic("fcntl", Failure.MINUS_ONE, "III", 2);
  }

  /** Opens an eventfd; returns it, or a negative errno. */
  int open() {
    return eventfd.status(0, EFD_FLAGS);
  }

  int wake(int fd) {
    try (Arena arena = Arena.ofConfined()) {
      long one = arena.allocate(Long.BYTES, Long.BYTES).address();
      Memory.putLong(one, 1);
      int written;
      do {
        written = write.status(fd, one, Long.BYTES);
      } while (written == -EINTR);
      // EAGAIN: the count is at its maximum, so the waiter is woken already.
      return written == -EAGAIN ? 0 : Math.min(0, written);
    }
  }

  int close(int fd) {
    return close.status(fd);
  }

  /** Sets O_NONBLOCK, so that a read returns EAGAIN instead of waiting. */
  int nonBlocking(int fd) {
    int flags = getFlags.status(fd, F_GETFL);
    if (flags < 0 || (flags & O_NONBLOCK) != 0) {
      return Math.min(0, flags);
    }
    return setFlags.status(fd, F_SETFL, flags | O_NONBLOCK);
  }

  /** Returns 1 when fd is readable, 0 when the time is over or the waiter was woken, or -errno. */
  int readable(int fd, int wakeup, int timeoutMillis) {
    int ready = await(fd, wakeup, deadline(timeoutMillis));
    if (ready < 0) {
      return ready;
    }
    if ((ready & READABLE) != 0) {
      return 1;
    }
    return (ready & BROKEN) != 0 ? -Function.EIO : 0;
  }

  static long deadline(int timeoutMillis) {
    return System.nanoTime() + timeoutMillis * 1_000_000L;
  }

  /**
   * Waits until fd is readable, or wakeup was written to; drains wakeup. Returns the bits above, or
   * -errno. Signals do not end the wait.
   */
  int await(int fd, int wakeup, long deadline) {
    try (Arena arena = Arena.ofConfined()) {
      long fds = arena.allocate(2 * POLLFD_SIZE, Long.BYTES).address();
      long second = fds + POLLFD_SIZE;
      Memory.putInt(fds, fd);
      Memory.putShort(fds + EVENTS, POLLIN);
      Memory.putInt(second, wakeup);
      Memory.putShort(second + EVENTS, POLLIN);
      int ready;
      do {
        ready = poll.status(fds, 2, millisUntil(deadline));
      } while (ready == -EINTR);
      if (ready < 0) {
        return ready;
      }
      int first = Memory.getUnsignedShort(fds + REVENTS);
      int woken = Memory.getUnsignedShort(second + REVENTS);
      if (((first | woken) & POLLNVAL) != 0) {
        return -EBADF;
      }
      if ((woken & POLLIN) != 0) {
        drain(wakeup, fds);
      }
      return ((first & POLLIN) != 0 ? READABLE : 0)
          | ((woken & POLLIN) != 0 ? WOKEN : 0)
          | ((first & POLLERR_OR_HUP) != 0 ? BROKEN : 0);
    }
  }

  /** Reads the eventfd, which is non-blocking; EAGAIN means that another waiter has drained it. */
  private void drain(int wakeup, long scratch) {
    int taken;
    do {
      taken = read.status(wakeup, scratch, Long.BYTES);
    } while (taken == -EINTR);
  }

  /**
   * Returns the time left, rounded up, so that a wait does not spin through its last millisecond.
   */
  private static int millisUntil(long deadline) {
    long left = deadline - System.nanoTime();
    return left <= 0 ? 0 : (int) Math.min(Integer.MAX_VALUE, (left + 999_999) / 1_000_000);
  }
}
