// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests which libraries a scheme loads into a process, by the mappings that Linux reports. */
@Tag(FakeRdmaCore.TAG)
@Tag("once")
final class MappedLibrariesTest {
  private static final List<String> OURS = List.of("libdisni.so", "libverbena_disni.so");
  private static final List<String> OF_RDMA_CORE = List.of("libibverbs.so.1", "librdmacm.so.1");

  @Test
  void areOursUnderDisniAndNoneOfOursUnderVerbs() throws Exception {
    FakeRdmaCore.assumeLoaded();

    Set<String> mapped =
        Natives.run(
                Natives.java(
                    "-Dverbena.test.scheme=" + FakeRdmaCore.SCHEME,
                    MappedLibraries.class.getName()))
            .lines()
            .map(file -> String.valueOf(Path.of(file).getFileName()))
            .collect(Collectors.toSet());

    assertThat(mapped).contains("libfake_rdma_core.so");
    if (FakeRdmaCore.SCHEME.equals("verbs")) {
      assertThat(mapped)
          .noneMatch(name -> name.contains("disni") || name.contains("verbena"))
          .anyMatch(name -> OF_RDMA_CORE.stream().anyMatch(name::startsWith));
    } else {
      assertThat(mapped).containsAll(OURS);
    }
  }
}
