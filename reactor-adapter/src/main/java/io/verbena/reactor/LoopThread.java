// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import io.netty.util.concurrent.FastThreadLocalThread;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.concurrent.CompletableFuture;
import reactor.core.scheduler.NonBlocking;

/**
 * The thread of a completion loop. Reactor refuses to block it, and Netty keeps its thread locals
 * in an array. From the thread that opens the transport it inherits the thread group only: anything
 * else, such as thread locals or the access control context, would stay in use for as long as the
 * transport lives.
 */
final class LoopThread extends FastThreadLocalThread implements NonBlocking {
  @SuppressWarnings("ThreadPriorityCheck") // Not the priority of the opening thread.
  private LoopThread(ThreadGroup group, Runnable work, String name) {
    super(group, work, name);
    setDaemon(true);
    setPriority(NORM_PRIORITY);
    setContextClassLoader(LoopThread.class.getClassLoader());
  }

  /** Creates a thread that runs {@code work}; the caller starts it. */
  @SuppressWarnings("removal") // In Java 17 a thread inherits the access control context.
  static LoopThread create(Runnable work, String name) {
    ThreadGroup group = Thread.currentThread().getThreadGroup();
    PrivilegedAction<CompletableFuture<LoopThread>> creation =
        () ->
            CompletableFuture.supplyAsync(
                () -> new LoopThread(group, work, name), maker -> startClean(group, maker, name));
    return AccessController.doPrivileged(creation).join();
  }

  /**
   * Runs {@code maker} on a new thread without thread locals: Netty's threads inherit those of
   * their creator.
   */
  private static void startClean(ThreadGroup group, Runnable maker, String name) {
    new Thread(group, maker, "maker-of-" + name, 0, false).start();
  }
}
