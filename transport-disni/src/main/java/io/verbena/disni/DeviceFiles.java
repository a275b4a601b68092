// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Explains why this process sees no device: there is none, or it may not open the device's file.
 */
final class DeviceFiles {
  private static final Path FOLDER = Path.of("/dev/infiniband");

  private DeviceFiles() {}

  /** Returns the exception of {@code verb} when there is no device. */
  static VerbsException explain(String verb) {
    List<Path> closed = closed();
    if (!closed.isEmpty()) {
      return new VerbsException(
          VerbsError.NOT_PERMITTED,
          verb
              + ": this process may not read and write "
              + closed
              + "; give its user or group the right (a udev rule), or its container the devices"
              + " (--device=/dev/infiniband)");
    }
    return new VerbsException(
        VerbsError.NO_DEVICE,
        verb
            + ": no RDMA device is open to this process (see rdma link, ibv_devices and what is in "
            + FOLDER
            + "; Soft-RoCE: rdma link add rxe0 type rxe netdev INTERFACE)");
  }

  /** Returns the device files that a program needs and cannot open. */
  private static List<Path> closed() {
    if (!Files.isDirectory(FOLDER)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files
          .filter(DeviceFiles::isNeeded)
          .filter(file -> !Files.isReadable(file) || !Files.isWritable(file))
          .sorted()
          .toList();
    } catch (IOException e) {
      return List.of(FOLDER);
    }
  }

  private static boolean isNeeded(Path file) {
    String name = String.valueOf(file.getFileName());
    return name.startsWith("uverbs") || name.equals("rdma_cm");
  }
}
