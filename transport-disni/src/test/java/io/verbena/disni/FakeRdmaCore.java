// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The fake rdma-core ({@code src/test/native/fake-rdma-core}), which this JVM was started with by
 * {@code LD_PRELOAD}: devices that are only described, one for each file in {@code profiles}.
 */
final class FakeRdmaCore {
  /** The tag of tests that run on it. */
  static final String TAG = "fake-rdma-core";

  /** The scheme of the provider that the tests are of. */
  static final String SCHEME = System.getProperty("verbena.test.scheme", "disni");

  private static boolean loaded;

  private FakeRdmaCore() {}

  /** Skips the test, and says so, where the fake was not built or the provider cannot be used. */
  static synchronized void assumeLoaded() {
    if (SCHEME.equals("verbs") && Runtime.version().feature() < 22) {
      skip("verbs:// needs JDK 22 or later");
    }
    Path library = Path.of(String.valueOf(System.getenv("LD_PRELOAD")).replaceAll(".*:", ""));
    if (!Files.isRegularFile(library)) {
      skip(library + ": not built, for want of a C compiler or of rdma-core's headers");
    }
    if (!loaded) {
      System.load(library.toAbsolutePath().toString());
      loaded = true;
    }
  }

  /**
   * An address of the provider that the tests are of.
   *
   * @param rest host, port and options
   */
  static URI uri(String rest) {
    return URI.create(SCHEME + "://" + rest);
  }

  static DisniDevice open(URI address) {
    return (DisniDevice) VerbsProviders.find(address).open(address);
  }

  private static void skip(String why) {
    System.err.println("*** SKIPPED, NOT TESTED HERE: RNICs by a fake rdma-core. " + why);
    assumeTrue(false, why);
  }

  /**
   * Runs a line of a script in the fake.
   *
   * @param line of the script, see {@code script.c}
   */
  static void script(String line) {
    assumeLoaded();
    if (!command(line)) {
      throw new IllegalArgumentException("fake rdma-core: " + line);
    }
  }

  /**
   * Returns whether a line that asks something is so.
   *
   * @param line {@code is-waiting}, or {@code is-paused} or {@code is-freed} with what they ask
   *     about
   */
  static boolean tells(String line) {
    assumeLoaded();
    return command(line);
  }

  private static native boolean command(String line);

  /** The call that was made to fail last, or at which something was done. */
  static native String lastFault();

  /** Returns how many objects there are of all devices. */
  static native int objects();

  /** Returns how many objects there are of connection managers. */
  static native int connectionObjects();

  /** The completion vector with which a completion queue was created. */
  static native int vector(long queue);

  /**
   * Returns how a completion queue is moderated: count &lt;&lt; 16 | period, or -1 if nobody asked.
   */
  static native long moderation(long queue);

  /** The access flags of a region. */
  static native int access(long region);

  /** The options of ECE that a queue pair has agreed on with its peer. */
  static native int ece(long pair);

  /** How often entries of tables of GIDs were asked for, of all devices. */
  static native int gidQueries();

  /** The service level of an address handle. */
  static native int serviceLevel(long handle);

  /** The service level of a queue pair's way to its peer. */
  static native int pairServiceLevel(long pair);

  /** The port of an address handle. */
  static native int port(long handle);

  /** Whether datagrams to an address handle have a GRH. */
  static native boolean isGlobal(long handle);

  /** The LID that an address handle leads to. */
  static native int lid(long handle);
}
