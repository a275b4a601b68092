// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.scheduler.NonBlocking;

/** Makes threads on which Reactor refuses to block. */
final class LoopThreads implements ThreadFactory {
  private final AtomicInteger made = new AtomicInteger();
  private final String prefix;
  private final boolean daemon;

  LoopThreads(String prefix, boolean daemon) {
    this.prefix = prefix;
    this.daemon = daemon;
  }

  @Override
  public Thread newThread(Runnable loop) {
    Thread thread = new LoopThread(loop, prefix + "-" + made.incrementAndGet());
    thread.setDaemon(daemon);
    return thread;
  }

  private static final class LoopThread extends FastThreadLocalThread implements NonBlocking {
    LoopThread(Runnable loop, String name) {
      super(loop, name);
    }
  }
}
