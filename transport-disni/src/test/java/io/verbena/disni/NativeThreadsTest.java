// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs {@code threads_test.c}: C threads take events while other threads close the objects of these
 * events. The test uses the fake rdma-core and the native libraries without Java's locks, under the
 * thread sanitizer.
 */
@Tag("once")
final class NativeThreadsTest {
  private static final Path MAIN = Path.of("src/main/native");
  private static final Path FAKE = Path.of("src/test/native/fake-rdma-core");

  @TempDir private Path folder;

  @TestFactory
  Stream<DynamicTest> claims() throws Exception {
    Path jdk = Path.of(System.getProperty("java.home"), "include");
    List<String> tested =
        new ArrayList<>(
            List.of(
                "-I" + jdk,
                "-I" + jdk.resolve("linux"),
                "-Itarget/native-headers",
                MAIN.resolve("disni/closing.c").toString(),
                MAIN.resolve("disni/handles.c").toString()));
    for (Path sources : List.of(MAIN.resolve("common"), MAIN.resolve("extension"), FAKE)) {
      tested.addAll(NativeClaims.files(sources));
    }
    return NativeClaims.run(Path.of("src/test/native/threads_test.c"), tested, "thread", folder);
  }
}
