// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.node;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs code in a network namespace of the guest, by its name for {@code ip netns}. */
public final class Namespace {
  private static final String FOLDER = "/run/netns/";
  private static final int O_RDONLY_O_CLOEXEC = 0x8_0000;
  private static final int CLONE_NEWNET = 0x4000_0000;
  private static final int LIMIT_SECONDS = 60;

  private Namespace() {}

  /** Functions of Linux. */
  private interface Linux extends Library {
    Linux CALLS = Native.load("c", Linux.class);

    int open(String path, int flags) throws LastErrorException;

    int setns(int descriptor, int type) throws LastErrorException;

    int close(int descriptor) throws LastErrorException;
  }

  /**
   * Runs a task on a thread in that namespace, which is a property of a thread. Sockets that the
   * task opens stay in the namespace on any thread.
   */
  public static <T> T call(String name, Callable<T> task) throws InterruptedException {
    FutureTask<T> inside =
        new FutureTask<>(
            () -> {
              enter(name);
              return task.call();
            });
    // The thread ends there: its namespace need not be restored.
    new Thread(inside, "in-" + name).start();
    try {
      return inside.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      throw new IllegalStateException("in namespace " + name, e);
    }
  }

  private static void enter(String name) {
    int namespace = Linux.CALLS.open(FOLDER + name, O_RDONLY_O_CLOEXEC);
    try {
      Linux.CALLS.setns(namespace, CLONE_NEWNET);
    } finally {
      Linux.CALLS.close(namespace);
    }
  }
}
