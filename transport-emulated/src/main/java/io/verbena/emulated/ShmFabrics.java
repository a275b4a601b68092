// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import io.verbena.emulated.address.ShmAddress;
import io.verbena.emulated.address.ShmAddress.Option;
import io.verbena.emulated.cm.protocol.PeerLimits;
import io.verbena.emulated.cm.roce.RoceConnectionManagers;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.packet.Capture;
import io.verbena.emulated.packet.HostFabric;
import io.verbena.emulated.shm.SharedFolder;
import io.verbena.emulated.shm.ShmNaming;
import io.verbena.emulated.shm.ShmWire;
import io.verbena.emulated.wire.ClockTime;
import io.verbena.verbs.DeviceAttributes;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The HCAs on shared memory that are open in this JVM, one for each folder. */
final class ShmFabrics {
  static final String DEVICE_NAME = "shm0";

  /** Held while a device is opened or closed. */
  private static final Object LOCK = new Object();

  private static final Map<Path, Open> OPEN = new HashMap<>();

  private record Open(
      HostFabric fabric, RoceConnectionManagers managers, @Nullable String capture) {}

  private ShmFabrics() {}

  /**
   * Opens a device.
   *
   * @throws VerbsException {@code INVALID} if other users may access the folder, or if {@code pcap}
   *     differs from that of the HCA that is already open; {@code IO} if files cannot be created in
   *     the folder
   */
  static EmulatedDevice open(ShmAddress address) {
    SharedFolder folder = SharedFolder.open(address.option(Option.DIR));
    String capture = address.option(Option.PCAP);
    // Checked before an HCA starts: only its last device ends an HCA, so one without devices would
    // not end.
    DeviceAttributes attributes = DeviceLimits.ofWire(DEVICE_NAME, address.limits());
    synchronized (LOCK) {
      Open open = OPEN.get(folder.path());
      if (open == null) {
        open = start(folder, capture);
        OPEN.put(folder.path(), open);
      }
      if (capture != null && !capture.equals(open.capture)) {
        throw new VerbsException(
            VerbsError.INVALID,
            "pcap: " + capture + " (expected: " + open.capture + ", of the HCA that is open)");
      }
      return EmulatedDevice.open(open.fabric, attributes, open.managers);
    }
  }

  private static Open start(SharedFolder folder, @Nullable String capture) {
    ShmWire wire;
    try {
      wire = ShmWire.open(folder, Secrets.STRONG.nextLong());
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "shared memory in " + folder.path() + ": " + e, e);
    }
    try {
      wire.capture(capture == null ? null : Capture.to(capture));
      HostFabric fabric =
          new HostFabric(
              wire,
              new ClockTime(),
              DEVICE_NAME,
              Mtu.MTU_4096,
              Mtu.MTU_4096,
              LOCK,
              () -> OPEN.remove(folder.path()));
      ShmNaming naming = new ShmNaming(folder, fabric.port().gid());
      return new Open(
          fabric, new RoceConnectionManagers(fabric, PeerLimits.DEFAULT, naming), capture);
    } catch (RuntimeException | Error e) {
      wire.close();
      throw e;
    }
  }
}
