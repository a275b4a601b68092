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

/** Holds the iWARP HCA of this JVM while one of its devices is open. */
final class IwarpFabrics {
  /**
   * The maximum number of connections whose request has not arrived yet, or waits for a program to
   * answer it.
   */
  private static final int MOST_HALF_OPEN = 1024;

  /** Held while a device is opened or closed. */
  private static final Object LOCK = new Object();

  private static @Nullable Open open;

  private record Open(IwarpFabric fabric, @Nullable String capture) {}

  private IwarpFabrics() {}

  /**
   * Opens a device.
   *
   * @throws VerbsException {@code IO} if no selector can be opened, {@code INVALID} if {@code pcap}
   *     differs from that of the HCA that is already open
   */
  static EmulatedDevice open(IwarpAddress address) {
    String capture = address.option(Option.PCAP);
    // Checked before an HCA starts: only its last device ends an HCA, so one without devices would
    // not end.
    DeviceAttributes attributes = DeviceLimits.ofStreams(IwarpFabric.NAME, address.limits());
    synchronized (LOCK) {
      Open now = open;
      // An HCA without devices is only ending its streams: an HCA with another capture may replace
      // it.
      boolean free = now != null && !now.fabric.isInUse();
      if (now == null || (free && !Objects.equals(capture, now.capture))) {
        now = start(capture);
        open = now;
      }
      if (capture != null && !capture.equals(now.capture)) {
        throw new VerbsException(
            VerbsError.INVALID,
            "pcap: " + capture + " (expected: " + now.capture + ", of the HCA that is open)");
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
      close(file);
      throw new VerbsException(VerbsError.IO, "sockets of TCP: " + e, e);
    } catch (RuntimeException | Error e) {
      close(file);
      throw e;
    }
  }

  private static void close(@Nullable TcpCapture file) {
    if (file != null) {
      file.close();
    }
  }

  /** Called under {@link #LOCK} when an HCA has ended. */
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
      close(file);
    }
  }
}
