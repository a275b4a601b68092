// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.verbs.Access;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Capability;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The objects of one test: a device for each end and everything created on them. {@link #close}
 * closes all of them, the latest first, and fails if any is still in use, which would be a leak.
 */
final class TckContext {
  private static final int TIMEOUT_DIVISOR_FOR_DEVIATIONS = 3;
  private static final AtomicLong NAMES = new AtomicLong();

  private final VerbsTck provider;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private String test = "";
  private @Nullable Device clientDevice;
  private @Nullable Device serverDevice;

  TckContext(VerbsTck provider) {
    this.provider = provider;
  }

  /** Returns a new address. */
  URI address(String name) {
    return provider.address("tck-" + NAMES.incrementAndGet() + "-" + name);
  }

  /**
   * Returns the timeout for completions and events. Tests that fail in every run by a known
   * deviation wait for a shorter time.
   */
  Duration timeout() {
    Duration full = provider.timeout();
    Deviation known = deviation();
    return known != null && known.always() ? full.dividedBy(TIMEOUT_DIVISOR_FOR_DEVIATIONS) : full;
  }

  int ackTimeout() {
    return provider.ackTimeout();
  }

  int iterations(int full) {
    return provider.iterations(full);
  }

  /** Sets the name of the test. */
  void begin(String name) {
    test = name;
  }

  /**
   * Returns the status that the device reports where the specification requires {@code specified}.
   */
  CompletionStatus expectedStatus(CompletionStatus specified) {
    return provider.expectedStatus(test, specified);
  }

  @Nullable Deviation deviation() {
    return provider.deviation(test);
  }

  void observed(String outcome) {
    provider.observed(test, outcome);
  }

  /** Closes an object after the test, before all that were added earlier. */
  synchronized <T extends AutoCloseable> T own(T object) {
    opened.push(object);
    return object;
  }

  Device openDevice(String name) {
    URI address = address(name);
    return own(VerbsProviders.find(address).open(address));
  }

  /** Returns the device of the active side, and of tests that need one device only. */
  synchronized Device device() {
    if (clientDevice == null) {
      clientDevice = openDevice("client");
    }
    return clientDevice;
  }

  /** Returns the device of the passive side. */
  synchronized Device serverDevice() {
    if (serverDevice == null) {
      serverDevice = openDevice("server");
    }
    return serverDevice;
  }

  DeviceAttributes attributes() {
    return device().attributes();
  }

  boolean supports(Capability capability) {
    return attributes().supports(capability);
  }

  /** Allocates a protection domain of {@link #device}. */
  ProtectionDomain domain() {
    return own(device().allocateProtectionDomain());
  }

  /** Waits for the next asynchronous event of a device, which must be this one. */
  void expectEvent(Device device, AsyncEvent.Type type, Object source) {
    assertThat(nextEvent(device, timeout().toNanos()))
        .as("the next asynchronous event")
        .isEqualTo(new AsyncEvent(type, source));
  }

  /** Asserts that no asynchronous event is pending. With a known deviation, waits for the event. */
  void expectNoEvent(Device device) {
    long nanos = deviation() == null ? 0 : timeout().toNanos();
    assertThat(nextEvent(device, nanos)).as("unexpected asynchronous event").isNull();
  }

  /** Returns whether an asynchronous event is pending, which must be this one. */
  boolean hasEvent(Device device, AsyncEvent.Type type, Object source) {
    AsyncEvent event = nextEvent(device, 0);
    assertThat(event)
        .as("an asynchronous event")
        .satisfiesAnyOf(
            none -> assertThat(none).isNull(),
            one -> assertThat(one).isEqualTo(new AsyncEvent(type, source)));
    return event != null;
  }

  private static @Nullable AsyncEvent nextEvent(Device device, long nanos) {
    try {
      return device.awaitAsyncEvent(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted while waiting for an asynchronous event", e);
    }
  }

  /** Registers memory in a domain. */
  TestMemory memory(ProtectionDomain domain, int length, Set<Access> access) {
    TestMemory memory = TestMemory.register(domain, length, access);
    own(memory.region());
    return memory;
  }

  /** Returns all remote access rights that the device supports. */
  Set<Access> remoteAccess() {
    EnumSet<Access> access = EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE);
    if (supports(Capability.ATOMICS)) {
      access.add(Access.REMOTE_ATOMIC);
    }
    return access;
  }

  EndpointSetup setup() {
    return new EndpointSetup(this);
  }

  /** Creates two endpoints, connected with the default setup. */
  EndpointPair connected() {
    return setup().connected();
  }

  synchronized void close() {
    AssertionError leaks = null;
    while (!opened.isEmpty()) {
      AutoCloseable object = opened.pop();
      try {
        object.close();
      } catch (Exception e) {
        if (leaks == null) {
          leaks = new AssertionError("not everything could be closed after the test");
        }
        leaks.addSuppressed(
            new AssertionError("closing a " + object.getClass().getSimpleName(), e));
      }
    }
    if (leaks != null) {
      throw leaks;
    }
    assertThat(ShownQueuePairs.all())
        .as("queue pairs still listed as open after their close")
        .noneMatch(pair -> isOurs(pair.protectionDomain().device()));
  }

  private boolean isOurs(Device device) {
    return device.equals(clientDevice) || device.equals(serverDevice);
  }
}
