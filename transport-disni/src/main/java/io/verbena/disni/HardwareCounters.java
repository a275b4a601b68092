// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The kernel's {@code hw_counters} of a port, which count for all programs since the driver was
 * loaded. Each counter is a file with a number; the driver determines which files exist.
 */
final class HardwareCounters implements DeviceCounters {
  private static final Path DEVICES = Path.of("/sys/class/infiniband");

  /**
   * For each counter, lists of files in order of preference. The counter is the sum of the files of
   * the first list that the driver has completely.
   */
  private static final Map<Counter, List<List<String>>> FILES =
      Map.of(
          Counter.RNR_SENT, List.of(List.of("send_rnr_err"), List.of("out_of_buffer")),
          Counter.RNR_RECEIVED, List.of(List.of("rcvd_rnr_err"), List.of("rnr_nak_retry_err")),
          Counter.RETRANSMISSIONS,
              List.of(
                  List.of("completer_retry_err"),
                  List.of("local_ack_timeout_err", "packet_seq_err", "implied_nak_seq_err")),
          Counter.OUT_OF_SEQUENCE,
              List.of(List.of("out_of_seq_request"), List.of("out_of_sequence")),
          Counter.DUPLICATES, List.of(List.of("duplicate_request")));

  private final Map<Counter, List<Path>> files = new EnumMap<>(Counter.class);
  private final Set<Counter> counted;

  /**
   * Finds the counters that the driver has.
   *
   * @param folder the folder with the files; if it is missing, there are no counters
   */
  HardwareCounters(Path folder) {
    for (Counter counter : Counter.values()) {
      for (List<String> names : FILES.getOrDefault(counter, List.of())) {
        List<Path> paths = names.stream().map(folder::resolve).toList();
        if (!files.containsKey(counter) && paths.stream().allMatch(Files::isReadable)) {
          files.put(counter, paths);
        }
      }
    }
    counted = Collections.unmodifiableSet(files.keySet());
  }

  /** Returns the counters of a device's port. */
  static HardwareCounters of(String device, int port) {
    return new HardwareCounters(
        DEVICES.resolve(device).resolve("ports").resolve("" + port).resolve("hw_counters"));
  }

  @Override
  public Set<Counter> counted() {
    return counted;
  }

  @Override
  public long get(Counter counter) {
    List<Path> paths = files.get(counter);
    if (paths == null) {
      throw new VerbsException(
          VerbsError.NOT_SUPPORTED,
          "device counter " + counter + " (expected: one of " + counted + ")");
    }
    long sum = 0;
    for (Path path : paths) {
      sum += read(path);
    }
    return sum;
  }

  private static long read(Path path) {
    try {
      return Long.parseUnsignedLong(Files.readString(path).strip());
    } catch (IOException | NumberFormatException e) {
      throw new VerbsException(VerbsError.IO, "device counter " + path, e);
    }
  }
}
