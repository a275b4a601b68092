// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.netty.wire.Handshake;
import io.verbena.verbs.VerbsProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that pages of the documentation have the numbers and names of the code. */
@Tag("once")
class PagesTest {
  private static final Path PAGES = Path.of("../../docs");

  @Test
  void securityTellsTheLengthOfTheHandshake() {
    int length = new Handshake(1, false, 4096, 4).encode().remaining();

    assertThat(PAGES.resolve("security.md"))
        .content()
        .contains("whole protocol is " + length + " bytes of private data");
  }

  @Test
  void theTagsOfMetersNameEachProvider() throws IOException {
    String row =
        Files.readAllLines(PAGES.resolve("meters.md")).stream()
            .filter(line -> line.startsWith("| `provider` |"))
            .findAny()
            .orElseThrow();

    assertThat(ServiceLoader.load(VerbsProvider.class))
        .filteredOn(provider -> !(provider instanceof ObservedProvider))
        .isNotEmpty()
        .allSatisfy(provider -> assertThat(row).contains('`' + provider.scheme() + '`'));
  }
}
