// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

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
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A device that supports memory regions only. */
final class RecordingDevice implements Device {
  static final long MAX_REGION_LENGTH = 1L << 40;

  @Override
  public DeviceAttributes attributes() {
    return new DeviceAttributes(
        "recording",
        "1",
        Set.of(),
        0,
        0,
        0,
        0,
        0,
        0,
        1 << 20,
        MAX_REGION_LENGTH,
        1,
        0,
        0,
        0,
        0,
        0,
        0,
        0);
  }

  @Override
  public PortAttributes port() {
    throw notSupported();
  }

  @Override
  public DeviceCounters counters() {
    return DeviceCounters.NONE;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    return new RecordingDomain(this);
  }

  @Override
  public CompletionChannel createCompletionChannel() {
    throw notSupported();
  }

  @Override
  public CompletionQueue createCompletionQueue(
      int depth, @Nullable CompletionChannel channel, boolean singleThreaded) {
    throw notSupported();
  }

  @Override
  public ConnectionManager createConnectionManager() {
    throw notSupported();
  }

  @Override
  public @Nullable AsyncEvent awaitAsyncEvent(long timeoutNanos) {
    throw notSupported();
  }

  @Override
  public void close() {}

  static VerbsException notSupported() {
    return new VerbsException(VerbsError.NOT_SUPPORTED, "the recording device has regions only");
  }
}
