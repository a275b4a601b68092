// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The fake rdma-core ({@code src/test/native/fake-rdma-core}), which {@code LD_PRELOAD} loads into
 * this JVM. Each file in {@code profiles} describes a simulated device.
 */
final class FakeRdmaCore {
  /** The tag of tests that run on the fake. */
  static final String TAG = "fake-rdma-core";

  /** The scheme of the provider under test. */
  static final String SCHEME = System.getProperty("verbena.test.scheme", "disni");

  private static boolean loaded;

  private FakeRdmaCore() {}

  /** Skips the test with a message if the fake was not built or the provider cannot be used. */
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
   * Returns an address of the provider under test.
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
   * @param line a line of the script, see {@code script.c}
   */
  static void script(String line) {
    assumeLoaded();
    if (!command(line)) {
      throw new IllegalArgumentException("fake rdma-core: " + line);
    }
  }

  /**
   * Returns the answer to a question in a line of the script.
   *
   * @param line {@code is-waiting}, or {@code is-paused} or {@code is-freed} with an argument
   */
  static boolean tells(String line) {
    assumeLoaded();
    return command(line);
  }

  private static native boolean command(String line);

  /** Returns the last call that was scripted to fail or to trigger an action. */
  static native String lastFault();

  /** Returns the number of objects on all devices. */
  static native int objects();

  /** Returns the number of objects of connection managers. */
  static native int connectionObjects();

  /** Returns the completion vector of a completion queue. */
  static native int vector(long queue);

  /**
   * Returns the moderation of a completion queue: count &lt;&lt; 16 | period, or -1 if never set.
   */
  static native long moderation(long queue);

  /** Returns the access flags of a region. */
  static native int access(long region);

  /** Returns the ECE options that a queue pair has negotiated with its peer. */
  static native int ece(long pair);

  /** Returns the number of queries of GID table entries, on all devices. */
  static native int gidQueries();

  /** Returns the service level of an address handle. */
  static native int serviceLevel(long handle);

  /** Returns the service level of a queue pair's path to its peer. */
  static native int pairServiceLevel(long pair);

  /** Returns the port of an address handle. */
  static native int port(long handle);

  /** Returns whether datagrams to an address handle have a GRH. */
  static native boolean isGlobal(long handle);

  /** Returns the destination LID of an address handle. */
  static native int lid(long handle);
}
