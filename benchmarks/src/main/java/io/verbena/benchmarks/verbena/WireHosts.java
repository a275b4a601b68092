// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;

/**
 * The addresses of the two processes of {@link WirePingPong}, {@link RemoteWrites} and {@link
 * RemoteReads}.
 */
public enum WireHosts {
  /** Both at one address, like programs of one host, where no RNIC can be at either end. */
  ONE("roce://127.83.0.1", false),

  /** Like {@link #ONE}, with a lock: each packet is sealed. */
  ONE_LOCKED("roce://127.83.0.1", true),

  /**
   * At two addresses, as on two hosts, of which the other may have an RNIC: from JDK 19 on each
   * packet passes an RNIC's strict check.
   */
  TWO("roce://127.83.0.2", false),

  /** Over TCP; ports distinguish the two processes. */
  TCP("iwarp://127.0.0.1", false),

  /** Like {@link #TCP}, with a lock: all bytes are sealed. */
  TCP_LOCKED("iwarp://127.0.0.1", true),

  /** On shared memory; ports distinguish services of the same name. */
  SHARED_MEMORY("shm://verbena-bench", false);

  private static final int KEY_BYTES = 32;

  private final String other;
  private final boolean locked;

  WireHosts(String other, boolean locked) {
    this.other = other;
    this.locked = locked;
  }

  /** Returns the address of the measuring process. */
  URI here() {
    return URI.create(this == TWO ? ONE.other : other);
  }

  /** Returns the address of the other process, with a new key if the wire is locked. */
  URI there() throws IOException {
    return URI.create(locked ? other + "?key-file=" + keyFile() : other);
  }

  /** Creates the file of a key, which both processes read while they connect. */
  private static Path keyFile() throws IOException {
    byte[] key = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(key);
    Path file = Files.createTempFile("verbena-bench", ".key");
    file.toFile().deleteOnExit();
    return Files.write(file, key);
  }
}
