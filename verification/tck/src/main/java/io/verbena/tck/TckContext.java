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
 * What one test uses: two opened devices, one for each end, and everything made on them. Closing it
 * closes all, youngest first, and fails if anything is still in use: that would be a leak.
 */
final class TckContext {
  private static final int LESS_FOR_WHAT_IS_KNOWN = 3;
  private static final AtomicLong NAMES = new AtomicLong();

  private final VerbsTck provider;
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private String test = "";
  private @Nullable Device clientDevice;
  private @Nullable Device serverDevice;

  TckContext(VerbsTck provider) {
    this.provider = provider;
  }

  /** An address that no other call gets. */
  URI address(String name) {
    return provider.address("tck-" + NAMES.incrementAndGet() + "-" + name);
  }

  /** What is known not to come is waited for less long. */
  Duration patience() {
    Duration full = provider.patience();
    return deviation() == null ? full : full.dividedBy(LESS_FOR_WHAT_IS_KNOWN);
  }

  int rounds(int full) {
    return provider.rounds(full);
  }

  /** Says which test uses this. */
  void begin(String name) {
    test = name;
  }

  /** The status that the device gives where this one is specified. */
  CompletionStatus answer(CompletionStatus specified) {
    return provider.answer(test, specified);
  }

  @Nullable Deviation deviation() {
    return provider.deviation(test);
  }

  void observed(String answer) {
    provider.observed(test, answer);
  }

  /** Sees to it that the object is closed, before all that were opened earlier. */
  synchronized <T extends AutoCloseable> T own(T object) {
    opened.push(object);
    return object;
  }

  Device openDevice(String name) {
    URI address = address(name);
    return own(VerbsProviders.find(address).open(address));
  }

  /** The device of the end that asks, and of tests that need one device only. */
  synchronized Device device() {
    if (clientDevice == null) {
      clientDevice = openDevice("client");
    }
    return clientDevice;
  }

  /** The device of the end that is asked. */
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

  /** A protection domain on {@link #device}. */
  ProtectionDomain domain() {
    return own(device().allocateProtectionDomain());
  }

  /** Waits for the next asynchronous event of a device, which must be this one. */
  void expectEvent(Device device, AsyncEvent.Type type, Object source) {
    assertThat(nextEvent(device, patience().toNanos()))
        .as("the next asynchronous event")
        .isEqualTo(new AsyncEvent(type, source));
  }

  /**
   * Asserts that a device has no event to tell now; where it is known to tell one, waits for it.
   */
  void expectNoEvent(Device device) {
    long nanos = deviation() == null ? 0 : patience().toNanos();
    assertThat(nextEvent(device, nanos)).as("an asynchronous event that must not be").isNull();
  }

  /** Whether a device has an event to tell now, which must be this one. */
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

  /** Memory of a domain. */
  TestMemory memory(ProtectionDomain domain, int length, Set<Access> access) {
    TestMemory memory = TestMemory.register(domain, length, access);
    own(memory.region());
    return memory;
  }

  /** Every right that peers can be given on this device. */
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

  /** Two ends, connected with the defaults. */
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
        .as("queue pairs that are shown as open, though they are closed")
        .noneMatch(pair -> isOurs(pair.protectionDomain().device()));
  }

  private boolean isOurs(Device device) {
    return device.equals(clientDevice) || device.equals(serverDevice);
  }
}
