// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The garbage collector must not free blocks while a native call writes to them. */
@Tag(FakeRdmaCore.TAG)
@Tag("once")
final class CollectedBlocksTest {
  @Test
  void outliveTheCallThatFindsTheDeviceOfAnAddress() throws Exception {
    FakeRdmaCore.assumeLoaded();
    // With a single malloc arena, all threads get the most recently freed memory first.
    List<String> command =
        new ArrayList<>(
            List.of("env", "MALLOC_ARENA_MAX=1", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"));
    command.addAll(
        Natives.java(
            "-XX:TieredStopAtLevel=1",
            "-Dverbena.test.scheme=" + FakeRdmaCore.SCHEME,
            CollectedBlocks.class.getName()));

    assertThat(Natives.run(command)).endsWith("overwritten: 0\n");
  }
}
