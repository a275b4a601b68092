// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.PortAttributes;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** A device whose objects are watched. */
final class SanitizedDevice implements Device {
  private final Device device;
  private final WatchedDevice watched;
  private final TrackedObject tracked;

  /** The wrappers of the objects that asynchronous events may name. */
  private final Map<Object, WeakReference<Object>> sources = new WeakHashMap<>();

  SanitizedDevice(Device device, boolean throwing, CallSite place) {
    this(device, throwing, place, ByteBuffer::allocateDirect);
  }

  SanitizedDevice(
      Device device, boolean throwing, CallSite place, IntFunction<ByteBuffer> twinMemory) {
    this.device = device;
    watched = new WatchedDevice(device, throwing, twinMemory);
    tracked = TrackedObject.of(this, watched, "device", place);
    watched.track(tracked);
  }

  WatchedDevice watched() {
    return watched;
  }

  /** Remembers the wrapper of an object that asynchronous events may name. */
  void wrapped(Object inner, Object outer) {
    synchronized (sources) {
      sources.put(inner, new WeakReference<>(outer));
    }
  }

  @Override
  public DeviceAttributes attributes() {
    return device.attributes();
  }

  @Override
  public PortAttributes port() {
    return device.port();
  }

  @Override
  public int portCount() {
    return device.portCount();
  }

  @Override
  public boolean hasCostlyPosts() {
    return device.hasCostlyPosts();
  }

  @Override
  public ByteBuffer allocateMemory(int length) {
    return device.allocateMemory(length);
  }

  @Override
  public boolean prefersOwnMemory() {
    return device.prefersOwnMemory();
  }

  @Override
  public DeviceCounters counters() {
    return device.counters();
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    return new SanitizedDomain(this, device.allocateProtectionDomain(), CallSite.here());
  }

  @Override
  public CompletionChannel createCompletionChannel() {
    return new SanitizedChannel(this, device.createCompletionChannel(), CallSite.here());
  }

  @Override
  public CompletionQueue createCompletionQueue(
      int depth, @Nullable CompletionChannel channel, boolean singleThreaded) {
    CompletionQueue queue =
        device.createCompletionQueue(depth, Unwrapped.channel(channel), singleThreaded);
    SanitizedCompletionQueue wrapper =
        new SanitizedCompletionQueue(this, queue, channel, CallSite.here());
    wrapped(queue, wrapper);
    if (channel instanceof SanitizedChannel ours) {
      ours.add(wrapper);
    }
    return wrapper;
  }

  @Override
  public ConnectionManager createConnectionManager() {
    return new SanitizedManager(this, device.createConnectionManager(), CallSite.here());
  }

  @Override
  public @Nullable AsyncEvent awaitAsyncEvent(long timeoutNanos) throws InterruptedException {
    AsyncEvent event = device.awaitAsyncEvent(timeoutNanos);
    if (event == null || event.source() == null) {
      return event;
    }
    synchronized (sources) {
      WeakReference<Object> reference = sources.get(event.source());
      Object wrapper = reference == null ? null : reference.get();
      return wrapper == null ? event : new AsyncEvent(event.type(), wrapper);
    }
  }

  @Override
  public void close() {
    try {
      device.close();
    } catch (VerbsException e) {
      if (e.error() == VerbsError.BUSY) {
        Report report = new Report();
        TrackedObject.openOf(watched).forEach(report::add);
        watched.deliver(report);
      }
      throw e;
    }
    tracked.closed();
  }
}
