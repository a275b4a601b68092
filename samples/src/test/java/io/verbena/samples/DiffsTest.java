// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that the README shows the differing lines as they are in the sources. */
class DiffsTest {
  private static final Path SOURCES = Path.of("src/main/java/io/verbena/samples");

  /** Lines in which OverTcp and OverRdma differ only by names. */
  private static final Predicate<String> A_NAME =
      Pattern.compile("^(import|package| ?\\*|/\\*)|class |return \"|\\bOver(Tcp|Rdma)\\(")
          .asPredicate();

  private static final Predicate<String> SETS_UP =
      Pattern.compile("^(return|Consumer<|NettyChannelBuilder) ?|\\.bind\\(").asPredicate();

  @ParameterizedTest
  @CsvSource({"grpc, 2", "rsocket, 2", "http, 2", "flight, 4"})
  void fewLinesDifferAndAreShown(String sample, int lines) throws IOException {
    List<String> tcp = lines(sample + "/OverTcp.java");
    List<String> rdma = lines(sample + "/OverRdma.java");

    List<String> removed = setUp(tcp, rdma);
    List<String> added = setUp(rdma, tcp);

    assertThat(removed).hasSize(2);
    assertThat(added).hasSize(lines);
    assertThat(shown('-')).containsSubsequence(removed);
    assertThat(shown('+')).containsSubsequence(added);
  }

  @Test
  void howABlockIsFetchedIsShown() throws IOException {
    assertThat(lines("blockstore/GrpcTcpClient.java"))
        .containsSubsequence(shownLast(shown('-'), "call(GrpcMethods.CONTENT"));
    assertThat(lines("blockstore/GrpcRdmaClient.java"))
        .containsSubsequence(shownLast(shown('+'), "call(GrpcMethods.LEASE"));
  }

  /**
   * Returns the lines of {@code of} that {@code not} lacks, and that create a server, a client or
   * their parts.
   */
  private static List<String> setUp(List<String> of, List<String> not) {
    return of.stream()
        .filter(line -> !not.contains(line))
        .filter(A_NAME.negate())
        .filter(SETS_UP)
        .toList();
  }

  private static List<String> shownLast(List<String> shown, String first) {
    List<Integer> starts =
        shown.stream().filter(line -> line.contains(first)).map(shown::indexOf).toList();
    assertThat(starts).as(first).hasSize(1);
    return shown.subList(starts.get(0), shown.size());
  }

  private static List<String> shown(char sign) throws IOException {
    return Files.readAllLines(Path.of("README.md")).stream()
        .filter(line -> line.startsWith(sign + "  "))
        .map(line -> line.substring(1).strip())
        .toList();
  }

  private static List<String> lines(String file) throws IOException {
    return Files.readAllLines(SOURCES.resolve(file)).stream().map(String::strip).toList();
  }
}
