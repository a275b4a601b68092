// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the fake rdma-core defines all calls; a missing one would go to the real rdma-core
 * with objects of the fake.
 */
@Tag(FakeRdmaCore.TAG)
final class FakeSymbolsTest {
  private static final Pattern NAME = Pattern.compile("\\b(_?ibv_\\w+|rdma_\\w+)");

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"libdisni.so", "libverbena_disni.so"})
  void theFakeHasAllThatALibraryCalls(String library) throws Exception {
    FakeRdmaCore.assumeLoaded();
    Path ours = Natives.unpack(library, folder);

    Set<String> called = names("--undefined-only", ours);

    assertThat(called).isNotEmpty();
    assertThat(names("--defined-only", Path.of(System.getenv("LD_PRELOAD")))).containsAll(called);
  }

  private static Set<String> names(String which, Path library) throws Exception {
    return NAME.matcher(Natives.run(List.of("nm", "-D", which, library.toString())))
        .results()
        .map(MatchResult::group)
        .collect(Collectors.toSet());
  }
}
