// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import io.verbena.RdmaOptions;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.device.OpenedDevice;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.meters.Credit;
import io.verbena.reactor.connection.ConnectionContext;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** An opened device and the completion loops of its connections. */
final class DeviceLoops {
  /** Beyond its own timeouts, how long closing waits for a thread that does not end. */
  private static final long GRACE = TimeUnit.SECONDS.toNanos(5);

  private static final String THREADS = "verbena";

  private final RdmaOptions options;
  private final OpenedDevice opened;
  private final List<ConnectionContext> contexts = new ArrayList<>();
  private final List<CompletionLoop> loops = new ArrayList<>();
  private final AtomicInteger next = new AtomicInteger();

  /**
   * Takes over an open device.
   *
   * @param provider the scheme of its addresses
   * @param invoker invokes the duty cycles of loops and dispatcher in place of threads, or null
   */
  DeviceLoops(
      String provider, Device device, RdmaOptions options, @Nullable DutyCycleInvoker invoker) {
    this.options = options;
    opened =
        new OpenedDevice(
            THREADS, "reactor", provider, device, options, EnumSet.allOf(Credit.class), invoker);
    String name = THREADS + '-' + device.attributes().name();
    for (int i = 0; i < options.loops(); i++) {
      CompletionLoop loop =
          new CompletionLoop(name + "-loop-" + i, device, options, invoker, opened.meter());
      loops.add(loop);
      contexts.add(
          new ConnectionContext(
              opened.dispatcher(),
              new LoopResources(loop, opened.memory(), options, opened.meter()),
              opened.domain(),
              options));
    }
    opened.dispatcher().start();
    for (CompletionLoop loop : loops) {
      loop.start();
    }
  }

  RegisteredMemory memory() {
    return opened.memory();
  }

  ConnectionEventDispatcher dispatcher() {
    return opened.dispatcher();
  }

  /** Where the next connection is made: the loops take turns. */
  ConnectionContext context() {
    return contexts.get(Math.floorMod(next.getAndIncrement(), contexts.size()));
  }

  boolean inLoop() {
    for (CompletionLoop loop : loops) {
      if (loop.inLoop()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Closes connections, loops, memory and device. Listeners are closed before.
   *
   * @throws VerbsException if something of the device is left open
   */
  void close() throws InterruptedException {
    for (CompletionLoop loop : loops) {
      loop.stop();
    }
    long patience = options.closeTimeout().toNanos() + GRACE;
    Throwable failure = null;
    for (CompletionLoop loop : loops) {
      if (!loop.join(patience)) {
        throw new VerbsException(
            VerbsError.BUSY, "close: a completion loop is held up by a subscriber");
      }
      failure = failure == null ? loop.failure() : failure;
    }
    opened.close(patience);
    if (failure != null) {
      throw new VerbsException(VerbsError.IO, "close: a completion loop broke down", failure);
    }
  }
}
