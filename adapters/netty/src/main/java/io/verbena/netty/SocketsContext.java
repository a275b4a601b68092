// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.IoHandlerContext;
import io.verbena.core.loop.CompletionEvents;
import org.jspecify.annotations.Nullable;

/** The context of one run of the handler of a loop's sockets. Reused: a loop has one. */
final class SocketsContext implements IoHandlerContext {
  private @Nullable IoHandlerContext loop;

  /** The events that end a sleep; null if the handler must not sleep. */
  private @Nullable CompletionEvents events;

  private long deadline;

  /** Returns the context of a run that does not sleep. */
  IoHandlerContext polling(IoHandlerContext loop) {
    this.loop = loop;
    events = null;
    return this;
  }

  /**
   * Returns the context of a run that sleeps as long as the loop may, until there are events, and
   * no longer than {@code nanos}.
   */
  IoHandlerContext sleeping(IoHandlerContext loop, CompletionEvents events, long nanos) {
    this.loop = loop;
    this.events = events;
    deadline = System.nanoTime() + nanos;
    return this;
  }

  private IoHandlerContext loop() {
    IoHandlerContext of = loop;
    if (of == null) {
      throw new IllegalStateException("no run");
    }
    return of;
  }

  @Override
  public boolean canBlock() {
    CompletionEvents ending = events;
    return ending != null && !ending.haveCome() && loop().canBlock();
  }

  @Override
  public long delayNanos(long now) {
    return events == null ? 0 : Math.min(loop().delayNanos(now), Math.max(0, deadline - now));
  }

  /**
   * {@inheritDoc}
   *
   * <p>Handlers compare it with the timer that they have set; it is -1 if the loop has no deadline.
   */
  @Override
  public long deadlineNanos() {
    long now = System.nanoTime();
    return events != null && deadline - now < loop().delayNanos(now)
        ? deadline
        : loop().deadlineNanos();
  }

  @Override
  public boolean shouldReportActiveIoTime() {
    return loop().shouldReportActiveIoTime();
  }

  @Override
  public void reportActiveIoTime(long nanos) {
    loop().reportActiveIoTime(nanos);
  }
}
