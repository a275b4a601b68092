// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoRegistration;
import org.jspecify.annotations.Nullable;

/** Calls a test back between the turns of a loop. */
final class LoopTurns {
  private @Nullable Runnable afterNext;

  /** Makes the handler call {@code call} after its next turn. Called on the loop's thread. */
  void afterNext(Runnable call) {
    afterNext = call;
  }

  IoHandlerFactory of(IoHandlerFactory handlers) {
    return executor -> new Handler(handlers.newHandler(executor));
  }

  private final class Handler implements IoHandler {
    private final IoHandler handler;

    Handler(IoHandler handler) {
      this.handler = handler;
    }

    @Override
    public int run(IoHandlerContext context) {
      Runnable call = afterNext;
      int handled = handler.run(context);
      if (call != null) {
        afterNext = null;
        call.run();
      }
      return handled;
    }

    @Override
    public void initialize() {
      handler.initialize();
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
    public void wakeup() {
      handler.wakeup();
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
      return handler.isCompatible(handleType);
    }
  }
}
