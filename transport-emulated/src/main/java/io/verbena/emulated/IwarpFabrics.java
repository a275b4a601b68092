// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.IwarpAddress;
import io.verbena.emulated.address.IwarpAddress.Option;
import io.verbena.emulated.cm.iwarp.IwarpConnectionManagers;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.emulated.iwarp.capture.TcpCapture;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The iWARP HCA of this JVM, while a device of it is open. */
final class IwarpFabrics {
  /** The most connections whose request has not come or waits for a program. */
  private static final int MOST_HALF_OPEN = 1024;

  /** Held while a device is opened or closed. */
  private static final Object LOCK = new Object();

  private static @Nullable Open open;

  private record Open(IwarpFabric fabric, @Nullable String capture) {}

  private IwarpFabrics() {}

  /**
   * Opens a device.
   *
   * @throws VerbsException {@code IO} if no selector can be opened, {@code INVALID} for a capture
   *     that the HCA, open already, does not have
   */
  static EmulatedDevice open(IwarpAddress address) {
    String capture = address.option(Option.PCAP);
    // First: an HCA is ended by its last device, and one that never had a device by nobody.
    DeviceAttributes attributes = DeviceLimits.ofStreams(IwarpFabric.NAME, address.limits());
    synchronized (LOCK) {
      Open now = open;
      // An HCA without devices only ends its streams: its capture may be replaced.
      boolean free = now != null && !now.fabric.isInUse();
      if (now == null || (free && !Objects.equals(capture, now.capture))) {
        now = start(capture);
        open = now;
      }
      if (capture != null && !capture.equals(now.capture)) {
        throw new VerbsException(
            VerbsError.INVALID,
            "pcap: " + capture + " (expected: " + now.capture + ", with which it is open)");
      }
      return EmulatedDevice.open(now.fabric, attributes, new IwarpConnectionManagers(now.fabric));
    }
  }

  private static Open start(@Nullable String capture) {
    TcpCapture file = capture == null ? null : TcpCapture.to(capture);
    try {
      Ended ended = new Ended(file);
      Open started = new Open(new IwarpFabric(LOCK, ended, MOST_HALF_OPEN, file), capture);
      ended.of = started.fabric;
      return started;
    } catch (IOException e) {
      if (file != null) {
        file.close();
      }
      throw new VerbsException(VerbsError.IO, "sockets of TCP: " + e, e);
    }
  }

  /** Runs when an HCA has gone, under {@link #LOCK}. */
  private static final class Ended implements Runnable {
    private final @Nullable TcpCapture file;
    private @Nullable IwarpFabric of;

    Ended(@Nullable TcpCapture file) {
      this.file = file;
    }

    @Override
    public void run() {
      Open now = open;
      if (now != null && now.fabric == of) {
        open = null;
      }
      if (file != null) {
        file.close();
      }
    }
  }
}
