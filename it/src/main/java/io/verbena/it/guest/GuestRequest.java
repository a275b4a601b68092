// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The tests that the guest is to run.
 *
 * @param tests the Jupiter engine's unique ids
 * @param parameters JUnit's configuration parameters
 */
record GuestRequest(List<String> tests, Map<String, String> parameters) implements Serializable {
  private static final long serialVersionUID = 1;

  /** The file in the shared folder that holds the request. */
  static final String FILE = "request";

  /** The file in the shared folder that the guest's events are appended to. */
  static final String EVENTS = "events";

  /**
   * Configuration parameter: after how many seconds without an event a run counts as hung. Longer
   * than any test may take.
   */
  static final String STALL = "verbena.guest.stall";

  private static final String STALL_DEFAULT = "900";

  Duration stallLimit() {
    return Duration.ofSeconds(Long.parseLong(parameters.getOrDefault(STALL, STALL_DEFAULT)));
  }

  void writeTo(Path folder) throws IOException {
    try (OutputStream file = Files.newOutputStream(folder.resolve(FILE));
        var out = new ObjectOutputStream(file)) {
      out.writeObject(this);
    }
  }

  static GuestRequest readFrom(Path folder) throws IOException, ClassNotFoundException {
    try (InputStream file = Files.newInputStream(folder.resolve(FILE));
        var in = new ObjectInputStream(file)) {
      return (GuestRequest) in.readObject();
    }
  }
}
