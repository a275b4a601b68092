package io.verbena.reactor;

import io.verbena.RdmaOptions;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.meters.Credit;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.reactor.connection.ConnectionContext;
import io.verbena.reactor.queue.LoopResources;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A device as a transport uses it: with its memory, its loops and its desk. */
final class Hca {
  /** Beyond its own timeouts, how long closing waits for a thread that does not end. */
  private static final long GRACE = TimeUnit.SECONDS.toNanos(5);

  private final RdmaOptions options;
  private final Device device;
  private final ProtectionDomain domain;
  private final RegisteredMemory memory;
  private final HcaMeter meter;
  private final ConnectionEventDispatcher desk;
  private final List<ConnectionContext> contexts = new ArrayList<>();
  private final List<CompletionLoop> loops = new ArrayList<>();
  private final AtomicInteger next = new AtomicInteger();

  /**
   * Takes over an open device.
   *
   * @param provider the scheme of its addresses
   * @param conductor who gives turns to all that else have threads, or null
   */
  Hca(String provider, Device device, RdmaOptions options, @Nullable DutyCycleInvoker conductor) {
    this.device = device;
    this.options = options;
    domain = device.allocateProtectionDomain();
    memory = new RegisteredMemory(domain, options);
    meter =
        options
            .meters()
            .hca(
                new MeteredHca(
                    "reactor",
                    provider,
                    device,
                    memory::registeredBytes,
                    options.maxRegisteredBytes(),
                    EnumSet.allOf(Credit.class)));
    String name = "verbena-" + device.attributes().name();
    desk = new ConnectionEventDispatcher(name + "-cm", device, conductor);
    for (int i = 0; i < options.loops(); i++) {
      CompletionLoop loop =
          new CompletionLoop(name + "-loop-" + i, device, options, conductor, meter);
      loops.add(loop);
      contexts.add(
          new ConnectionContext(
              desk, new LoopResources(loop, memory, options, meter), domain, options));
    }
    desk.start();
    for (CompletionLoop loop : loops) {
      loop.start();
    }
  }

  RegisteredMemory memory() {
    return memory;
  }

  ConnectionEventDispatcher desk() {
    return desk;
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
    desk.close(patience);
    meter.close();
    memory.close();
    domain.close();
    device.close();
    if (failure != null) {
      throw new VerbsException(VerbsError.IO, "close: a completion loop broke down", failure);
    }
  }
}
