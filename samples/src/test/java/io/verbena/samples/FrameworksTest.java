// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that the table of frameworks has the versions that the build tests. */
class FrameworksTest {
  private static final Path ROOT = Path.of("..");
  private static final Pattern CELLS = Pattern.compile(" \\| ");
  private static final Pattern EACH = Pattern.compile(", ");
  private static final int VERSIONS = 1;
  private static final int PROOF = 3;

  @ParameterizedTest
  @CsvSource({
    "Netty, pom.xml, netty",
    "gRPC, pom.xml, grpc",
    "Reactor Netty, pom.xml, reactor-netty",
    "RSocket, pom.xml, rsocket",
    "Vert.x, pom.xml, vertx",
    "Vert.x, adapters/vertx/pom.xml, vertx-older",
    "Spring Boot, pom.xml, spring-boot",
    "Apache Ratis, pom.xml, ratis",
    "Apache Ratis, it/pom.xml, ratis.previous",
    "Arrow Flight, pom.xml, arrow",
  })
  void theVersionThatIsTestedIsShown(String framework, String pom, String property)
      throws IOException {
    assertThat(EACH.split(cell(framework, VERSIONS), -1)).contains(version(pom, property));
  }

  @ParameterizedTest
  @CsvSource({"Netty, netty-testsuite", "gRPC, grpc-interop", "Vert.x, vertx"})
  void theVersionOfItsOwnTestsIsShown(String framework, String property) throws IOException {
    assertThat(cell(framework, PROOF)).contains(", of " + version("pom.xml", property));
  }

  private static String cell(String framework, int column) throws IOException {
    List<String> rows =
        Files.readAllLines(ROOT.resolve("docs/frameworks.md")).stream()
            .filter(line -> line.startsWith("| " + framework + " |"))
            .toList();
    assertThat(rows).as(framework).hasSize(1);
    return CELLS.split(rows.get(0), -1)[column];
  }

  private static String version(String pom, String property) throws IOException {
    Matcher found =
        Pattern.compile("<" + Pattern.quote(property) + "\\.version>(.+?)(\\.Final)?</")
            .matcher(Files.readString(ROOT.resolve(pom)));
    assertThat(found.find()).as(property).isTrue();
    return found.group(1);
  }
}
