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
  /** Both at one address, as programs of one host are: no RNIC is at either end. */
  ONE("roce://127.83.0.1", false),

  /** The same with a lock: each packet is sealed. */
  ONE_LOCKED("roce://127.83.0.1", true),

  /**
   * At an address each, as on two hosts, of which the other may have an RNIC: from JDK 19 on each
   * packet passes its strict check.
   */
  TWO("roce://127.83.0.2", false),

  /** Over TCP, which tells hosts apart by their ports. */
  TCP("iwarp://127.0.0.1", false),

  /** The same with a lock: all bytes are sealed. */
  TCP_LOCKED("iwarp://127.0.0.1", true),

  /** On shared memory, where services of one name are told apart by their ports. */
  SHARED_MEMORY("shm://verbena-bench", false);

  private static final int KEY_BYTES = 32;

  private final String other;
  private final boolean locked;

  WireHosts(String other, boolean locked) {
    this.other = other;
    this.locked = locked;
  }

  /** The address of the process that measures. */
  URI here() {
    return URI.create(this == TWO ? ONE.other : other);
  }

  /** The address of the other process, with a key of this run where the wire is locked. */
  URI there() throws IOException {
    return URI.create(locked ? other + "?key-file=" + keyFile() : other);
  }

  /** Both processes read it while they connect. */
  private static Path keyFile() throws IOException {
    byte[] key = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(key);
    Path file = Files.createTempFile("verbena-bench", ".key");
    file.toFile().deleteOnExit();
    return Files.write(file, key);
  }
}
