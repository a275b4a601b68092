// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import org.jspecify.annotations.Nullable;

/** Makes a Netty event loop poll instead of sleep. */
final class BusyIoHandler implements IoHandler {
  private final IoHandler handler;
  private @Nullable NeverBlocking never;

  private BusyIoHandler(IoHandler handler) {
    this.handler = handler;
  }

  static IoHandlerFactory factory(IoHandlerFactory factory) {
    return executor -> new BusyIoHandler(factory.newHandler(executor));
  }

  @Override
  public void initialize() {
    handler.initialize();
  }

  @Override
  public int run(IoHandlerContext context) {
    Thread.onSpinWait();
    // A loop always passes the same context.
    if (never == null || never.context != context) {
      never = new NeverBlocking(context);
    }
    return handler.run(never);
  }

  @Override
  public void prepareToDestroy() {
    handler.prepareToDestroy();
  }

  @Override
  public void destroy() {
    handler.destroy();
  }

  @Override
  public IoRegistration register(IoHandle handle) throws Exception {
    return handler.register(handle);
  }

  @Override
  public void wakeup() {}

  @Override
  public boolean isCompatible(Class<? extends IoHandle> type) {
    return handler.isCompatible(type);
  }

  private record NeverBlocking(IoHandlerContext context) implements IoHandlerContext {
    @Override
    public boolean canBlock() {
      return false;
    }

    @Override
    public long delayNanos(long currentTimeNanos) {
      return context.delayNanos(currentTimeNanos);
    }

    @Override
    public long deadlineNanos() {
      return context.deadlineNanos();
    }
  }
}
