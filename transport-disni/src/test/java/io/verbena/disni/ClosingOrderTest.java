// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs {@code closing_test.c}, which tests the order in which {@code libdisni} destroys objects
 * where it differs from DiSNI's. It is in C with objects that only count, because otherwise a
 * device would be needed that refuses to destroy.
 */
final class ClosingOrderTest {
  private static final Path TESTED = Path.of("src/main/native/disni");

  @TempDir private Path folder;

  @TestFactory
  Stream<DynamicTest> claims() throws Exception {
    return claims("address,undefined");
  }

  @TestFactory
  Stream<DynamicTest> claimsUnderTheThreadSanitizer() throws Exception {
    return claims("thread");
  }

  private Stream<DynamicTest> claims(String sanitizer) throws Exception {
    return NativeClaims.run(
        Path.of("src/test/native/closing_test.c"),
        List.of(TESTED.resolve("closing.c").toString(), TESTED.resolve("handles.c").toString()),
        sanitizer,
        folder);
  }
}
