// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.core.testing.Addresses;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Compares RDMA channels with sockets, row by row. */
@Tag("once")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SocketTableTest {
  private static final Path PAGE = Path.of("../../docs/generated/sockets.md");

  private SocketTable table;

  @BeforeAll
  void runAll() {
    assumeTrue(
        Addresses.of("sockets").equals(URI.create("emulated://sockets")),
        "run once, on HCAs of its own");
    table = SocketTable.run();
  }

  @Test
  void explainsEachDifference() {
    assertThat(table.unexplained()).isEmpty();
  }

  @Test
  void explainsNothingThatIsNoDifference() {
    assertThat(table.unseen()).isEmpty();
  }

  @Test
  void isThePageInTheDocuments() throws IOException {
    Path written = Path.of("target/sockets.md");
    Files.writeString(written, table.markdown());

    assertThat(PAGE)
        .as("the page; if the change is meant, copy %s there", written)
        .content()
        .isEqualTo(table.markdown());
  }
}
