// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.verbena.core.loop.CompletionEvents;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The sockets of a loop beside its RDMA channels. They have an {@link IoHandler} of their own,
 * which is created for the first channel that is not of RDMA. A loop without such channels has no
 * cost from this.
 *
 * <p>The handler runs in every turn of the loop while it finds work, in the turn after a channel
 * has submitted an operation or was deregistered, and else once in each {@link #INTERVAL}: asking
 * the kernel costs more than polling an HCA. Only {@link #isCompatible} and {@link #wakeup} may be
 * called on other threads than the loop's.
 */
final class Sockets {
  /** The least time between two runs of a handler without work, in nanoseconds. */
  private static final long INTERVAL = TimeUnit.MICROSECONDS.toNanos(50);

  /**
   * The clock is read once in so many turns without work, as reading it costs more than a poll; a
   * turn with work counts as {@link #WORK} without.
   */
  private static final int TURNS = 16;

  private static final int WORK = 4;

  private final ThreadAwareExecutor executor;
  private final IoHandlerFactory factory;

  /** The selectors of NIO; null if the handler is of another kind. */
  private final @Nullable LoopSelectors selectors;

  private final SocketsContext turn = new SocketsContext();
  private volatile @Nullable IoHandler opened;

  /** Guarded by this. */
  private boolean closed;

  /** The handler; null until a channel was registered. Written on the loop while it is awake. */
  private @Nullable IoHandler handler;

  /**
   * Whether the handler is to run in the next turn: it found work, or a channel submitted an
   * operation or was deregistered.
   */
  private boolean busy;

  private int turns;
  private long lastPoll;

  /**
   * @param factory creates the handler; null for one of NIO
   */
  Sockets(ThreadAwareExecutor executor, @Nullable IoHandlerFactory factory) {
    this.executor = executor;
    if (factory == null) {
      selectors = new LoopSelectors();
      this.factory = NioIoHandler.newFactory(selectors);
    } else {
      selectors = null;
      this.factory = factory;
    }
  }

  /** Returns whether there are, or were, channels of this kind. */
  boolean areUsed() {
    return handler != null;
  }

  boolean isCompatible(Class<? extends IoHandle> handleType) {
    IoHandler open = open();
    return open != null && open.isCompatible(handleType);
  }

  /** Returns the handler; null if the loop has ended. */
  private @Nullable IoHandler open() {
    IoHandler open = opened;
    if (open == null) {
      synchronized (this) {
        open = opened;
        if (open == null && !closed) {
          open = factory.newHandler(executor);
          opened = open;
        }
      }
    }
    return open;
  }

  /**
   * Registers a channel.
   *
   * @throws IllegalArgumentException if the handler does not take channels of this kind
   */
  IoRegistration register(IoHandle handle) throws Exception {
    IoHandler open = open();
    if (open == null || !open.isCompatible(handle.getClass())) {
      throw new IllegalArgumentException(
          "handle: "
              + handle.getClass().getName()
              + " (expected: an RDMA channel's"
              + (open == null ? ")" : ", or one that " + open.getClass().getName() + " takes)"));
    }
    if (handler == null) {
      open.initialize();
      handler = open;
    }
    return new Registration(open.register(handle));
  }

  /**
   * Returns whether the handler is to run in this turn.
   *
   * @param worked whether the HCA had completions
   */
  boolean areDue(boolean worked, IoHandlerContext context) {
    if (handler == null) {
      return false;
    }
    if (busy) {
      return true;
    }
    // A turn with tasks takes longer, too.
    turns += worked || !context.canBlock() ? WORK : 1;
    if (turns < TURNS) {
      return false;
    }
    turns = 0;
    return System.nanoTime() - lastPoll >= INTERVAL;
  }

  /** Runs the handler without sleeping. */
  int poll(IoHandlerContext context) {
    return run(turn.polling(context));
  }

  /**
   * Runs the handler, which sleeps until a socket or the loop has work, until {@link #wakeup}, or
   * until the time is over.
   *
   * @param events of the HCA, which end the sleep
   * @param nanos the longest sleep, in nanoseconds
   */
  int sleep(IoHandlerContext context, CompletionEvents events, long nanos) {
    return run(turn.sleeping(context, events, nanos));
  }

  private int run(IoHandlerContext context) {
    IoHandler sockets = handler;
    if (sockets == null) {
      return 0;
    }
    int handled = sockets.run(context);
    busy = handled > 0;
    lastPoll = System.nanoTime();
    return handled;
  }

  /** Ends the handler's sleep. Called on other threads while the loop sleeps. */
  void wakeup() {
    IoHandler open = opened;
    if (selectors != null) {
      selectors.wakeup();
    } else if (open != null) {
      open.wakeup();
    }
  }

  void prepareToDestroy() {
    IoHandler sockets = handler;
    if (sockets != null) {
      sockets.prepareToDestroy();
    }
  }

  void destroy() {
    IoHandler open;
    synchronized (this) {
      closed = true;
      open = opened;
      opened = null;
    }
    if (open != null && handler == null) {
      // The handler was only asked what is compatible. io_uring's has no ring yet, which destroy()
      // needs.
      open.initialize();
    }
    // A loop that is shut down without a quiet period may not have closed its channels.
    prepareToDestroy();
    handler = null;
    if (open != null) {
      open.destroy();
    }
  }

  /**
   * The registration of a socket channel. The handler runs in the next turn after an operation is
   * submitted, or the registration is cancelled.
   */
  private final class Registration implements IoRegistration {
    private final IoRegistration made;

    Registration(IoRegistration made) {
      this.made = made;
    }

    @SuppressWarnings("TypeParameterUnusedInFormals") // as the interface has it
    @Override
    public <T> T attachment() {
      return made.attachment();
    }

    @Override
    public long submit(IoOps ops) {
      long submitted = made.submit(ops);
      // io_uring's handler submits operations, such as writes, to the kernel when it runs.
      busy |= executor.isExecutorThread(Thread.currentThread());
      return submitted;
    }

    @Override
    public boolean isValid() {
      return made.isValid();
    }

    @Override
    public boolean cancel() {
      boolean cancelled = made.cancel();
      // The JDK closes a socket, and so frees its port, when its selector next selects.
      busy |= cancelled;
      return cancelled;
    }
  }
}
