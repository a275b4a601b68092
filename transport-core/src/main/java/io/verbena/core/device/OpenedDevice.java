// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.device;

import io.verbena.RdmaOptions;
import io.verbena.core.cm.ConnectionEventDispatcher;
import io.verbena.core.loop.CloseSteps;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.core.memory.DirectMemory;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.meters.Credit;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters;
import io.verbena.verbs.Device;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A device that a transport uses, with its protection domain, registered memory, events and meter.
 * Thread-safe.
 */
public final class OpenedDevice {
  private final Device device;
  private final ProtectionDomain domain;
  private final RegisteredMemory memory;
  private final ConnectionEventDispatcher dispatcher;
  private final AsyncEvents events;
  private final HcaMeter meter;
  private final CloseSteps first = new CloseSteps();
  private final CloseSteps all = new CloseSteps();
  private volatile long threadWaitNanos;

  /**
   * Takes over an open device, and closes it if this fails. No events are taken until {@link
   * #dispatcher} and {@link #events} are started.
   *
   * @param threads the prefix of the names of the device's threads
   * @param adapter the kind of the connections, as in {@link MeteredHca#adapter}
   * @param provider the scheme of the device's addresses
   * @param credits the kinds of credit that peers give
   * @param invoker invokes the duty cycles of both in place of threads, or null
   * @throws VerbsException if the device has no resources left
   */
  public OpenedDevice(
      String threads,
      String adapter,
      String provider,
      Device device,
      RdmaOptions options,
      Set<Credit> credits,
      @Nullable DutyCycleInvoker invoker) {
    this(threads, adapter, provider, device, options, credits, invoker, DirectMemory.jvm());
  }

  /**
   * Takes over an open device, with another source of direct memory.
   *
   * @param direct the memory that slabs of registered memory are made of
   */
  public OpenedDevice(
      String threads,
      String adapter,
      String provider,
      Device device,
      RdmaOptions options,
      Set<Credit> credits,
      @Nullable DutyCycleInvoker invoker,
      DirectMemory direct) {
    this.device = device;
    ProtectionDomain made = null;
    try {
      made = device.allocateProtectionDomain();
      domain = made;
      memory = new RegisteredMemory(made, options, direct);
      dispatcher =
          new ConnectionEventDispatcher(
              threads + '-' + device.attributes().name() + "-cm", device, memory::trim, invoker);
      events =
          new AsyncEvents(threads + '-' + device.attributes().name() + "-events", device, invoker);
    } catch (Throwable e) {
      if (made != null) {
        made.close();
      }
      device.close();
      throw e;
    }
    Meters meters = options.meters();
    meter =
        meters == Meters.OFF
            ? HcaMeter.OFF
            : GuardedHcaMeter.of(
                meters,
                new MeteredHca(
                    adapter,
                    provider,
                    device,
                    memory::registeredBytes,
                    options.maxRegisteredBytes(),
                    credits));
    all.add("objects of connections and loops", first::run)
        .add("asynchronous events", events::close)
        .add("connection events", this::closeDispatcher)
        .add("meter", meter::close)
        .add("memory", memory::close)
        .add("protection domain", domain::close)
        .add("device", this::closeDevice);
  }

  /** Returns the device itself. */
  public Device device() {
    return device;
  }

  /** Returns the protection domain of all connections and all registered memory. */
  public ProtectionDomain domain() {
    return domain;
  }

  /** Returns the registered memory of all connections. */
  public RegisteredMemory memory() {
    return memory;
  }

  /** Returns the dispatcher of the connection events; the transport starts it. */
  public ConnectionEventDispatcher dispatcher() {
    return dispatcher;
  }

  /** Returns the taker of the asynchronous events; the transport starts it if it needs them. */
  public AsyncEvents events() {
    return events;
  }

  /** Returns the meter of the device. */
  public HcaMeter meter() {
    return meter;
  }

  /**
   * Returns the steps that {@link #close} runs first. A part that could not close an object of the
   * device adds the object here.
   */
  public CloseSteps closeFirst() {
    return first;
  }

  /**
   * Closes the device and its objects, after all connections and listeners are closed; a further
   * call closes the objects that are still open. An interrupt ends only the wait for a thread, and
   * stays set.
   *
   * @param nanos the longest wait for each of the threads that take events, in nanoseconds
   * @throws VerbsException naming the objects that are still open after a second try
   */
  public void close(long nanos) {
    threadWaitNanos = nanos;
    all.run();
  }

  private void closeDevice() {
    device.close();
    try {
      events.join(threadWaitNanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeDispatcher() {
    try {
      dispatcher.close(threadWaitNanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
