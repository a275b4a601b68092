// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockStoreClientTest {
  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Path file;
  private TcpTwin twin;
  private String uri;

  @BeforeEach
  void serve() throws IOException {
    file = SampleFile.in(folder);
    twin =
        TcpTwin.start(
            Block.load(file, PooledByteBufAllocator.DEFAULT),
            1,
            PooledByteBufAllocator.DEFAULT,
            Duration.ofSeconds(30));
    uri = twin.address().toString();
  }

  @AfterEach
  void stop() {
    twin.close();
  }

  @Test
  void listsAndStats() throws IOException {
    String line = Sha256.of(file) + "      2621453 sample\n";

    assertThat(run(uri, "list")).isZero();
    assertThat(run(uri, "stat", "sample")).isZero();

    assertThat(out).hasToString(line + line);
  }

  @Test
  void getsABlockIntoAFile() throws IOException {
    Path copy = folder.resolve("copy");

    assertThat(run(uri, "get", "sample", copy.toString())).isZero();

    assertThat(Files.mismatch(copy, file)).isEqualTo(-1);
    assertThat(out.toString()).contains("2621453 bytes", "sha256 checked");
  }

  @Test
  void failsForABlockThatIsNotThere() {
    assertThat(run(uri, "stat", "none")).isEqualTo(1);

    assertThat(err.toString()).contains("UNKNOWN_BLOCK: none");
  }

  @Test
  void failsForWhatTcpCannotDo() {
    assertThat(run(uri, "ticket")).isEqualTo(1);
    assertThat(run(uri, "put", file.toString())).isEqualTo(1);

    assertThat(err.toString()).contains("tcp has no one-sided operations");
  }

  @Test
  void failsWhereNobodyListens() {
    twin.close();

    assertThat(run(uri, "list")).isEqualTo(1);

    assertThat(err.toString()).contains("Connection refused");
  }

  private int run(String... args) {
    return BlockStoreClient.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(args);
  }
}
