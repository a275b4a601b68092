// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.chart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class ChartsTest {
  private static final String VERBENA = "#1f6feb";
  private static final String LIMIT = "#bf8700";

  @TempDir Path folder;
  private Path results;

  @BeforeEach
  void findResults() throws URISyntaxException {
    results = Path.of(Objects.requireNonNull(getClass().getResource("results.csv")).toURI());
  }

  @Test
  void areWrittenForEachQuestionToWhichTheFileHasAnAnswerOfVerbena() throws IOException {
    assertThat(Charts.write(results, folder))
        .extracting(file -> file.getFileName().toString())
        .containsExactly("read-throughput.svg", "round-trip.svg", "grpc-calls.svg");
  }

  @Test
  void haveTitleAxisLabelsValuesAndCaption() throws Exception {
    assertThat(texts(draw("round-trip")))
        .contains(
            "Round trip of 64 bytes in one JVM, both ends busy, p50",
            "us (lower is better)",
            "cache line to and fro",
            "Aeron IPC, invoker",
            "Verbena, verbs",
            "0.14",
            "0.25",
            "limits of the machine",
            "Two CPUs, a fixed file for tests");
  }

  @Test
  void leaveOutACaseThatFailed() throws Exception {
    assertThat(texts(draw("round-trip"))).doesNotContain("Netty NIO");
  }

  @Test
  void haveBarsAsLongAsTheirFigures() throws Exception {
    Document chart = draw("round-trip");

    double limit = widths(chart, LIMIT, "1.00").get(0);
    double verbena = widths(chart, VERBENA, "1.00").get(0);
    assertThat(verbena / limit).isBetween(2.45, 2.55);
  }

  @Test
  void showReadsAsPerCentOfMemcpyWhichIsLeftOut() throws Exception {
    List<String> texts = texts(draw("read-throughput"));

    assertThat(texts).contains("4 KiB", "Verbena, verbs", "80", "Verbena, Mono", "50");
    assertThat(texts).doesNotContain("memcpy, one thread", "64 KiB");
  }

  @Test
  void showARangeWhereNoMedianWasRecorded() throws Exception {
    Document chart = draw("grpc-calls");

    assertThat(texts(chart)).contains("90 to 96");
    assertThat(widths(chart, VERBENA, "1.00").get(0) / widths(chart, VERBENA, "0.35").get(0))
        .isBetween(14.5, 15.5);
  }

  @Test
  void refuseAFileOfAnotherKind() throws IOException {
    Path other = Files.writeString(folder.resolve("other.csv"), "a,b\n1,2\n");

    assertThatThrownBy(() -> Charts.write(other, folder))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no column workload (expected: what bin/bench writes)");
  }

  private Document draw(String chart) throws Exception {
    Charts.write(results, folder);
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(folder.resolve(chart + ".svg").toFile());
  }

  private static List<String> texts(Document chart) {
    return elements(chart, "text").stream().map(Element::getTextContent).toList();
  }

  private static List<Double> widths(Document chart, String color, String opacity) {
    return elements(chart, "rect").stream()
        .filter(rect -> rect.getAttribute("fill").equals(color))
        .filter(rect -> rect.getAttribute("opacity").equals(opacity))
        .map(rect -> Double.valueOf(rect.getAttribute("width")))
        .toList();
  }

  private static List<Element> elements(Document chart, String name) {
    NodeList nodes = chart.getElementsByTagName(name);
    List<Element> elements = new ArrayList<>();
    for (int i = 0; i < nodes.getLength(); i++) {
      elements.add((Element) nodes.item(i));
    }
    return elements;
  }
}
