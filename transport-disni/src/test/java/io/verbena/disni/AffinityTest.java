// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs {@code affinity_test.c}: affinity masks on a machine with more processors than mask bits.
 */
final class AffinityTest {
  @TempDir private Path folder;

  @TestFactory
  Stream<DynamicTest> claims() throws Exception {
    Path jdk = Path.of(System.getProperty("java.home"), "include");
    return NativeClaims.run(
        Path.of("src/test/native/affinity_test.c"),
        List.of("-I" + jdk, "-I" + jdk.resolve("linux"), "src/main/native/disni/affinity.c"),
        "address,undefined",
        folder);
  }
}
