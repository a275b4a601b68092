// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.sanitizer.Finding.Kind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** The sinks of this JVM, and the one that prints. */
@Isolated("a finding of this test reaches every sink of the JVM")
class FindingsTest {
  private static final CallSite HERE = CallSite.here();

  private static Finding finding(String message) {
    return Finding.at(Kind.NOT_WATCHED, HERE, message);
  }

  @Test
  void aSinkThatIsRegisteredTwiceStaysUntilBothRegistrationsAreClosed() {
    List<String> found = new ArrayList<>();
    FindingSink sink = finding -> found.add(finding.message());
    Findings.Listening first = Findings.listen(sink);
    Findings.Listening second = Findings.listen(sink);

    first.close();
    first.close();
    Findings.deliver(finding("between"));
    second.close();

    assertThat(found).containsExactly("between");
  }

  @Test
  void aSinkThatThrowsNeitherHarmsTheVerbNorKeepsTheFindingFromOtherSinks() {
    List<String> found = new ArrayList<>();
    FindingSink broken =
        finding -> {
          throw new AssertionError("a sink's");
        };
    Findings.Listening guilty = Findings.listen(broken);
    Findings.Listening other = Findings.listen(finding -> found.add(finding.message()));

    Findings.deliver(finding("for all"));
    guilty.close();
    other.close();

    assertThat(found).containsExactly("for all");
  }

  @Test
  void printsThatItPrintsNoMorePlacesAndGoesOnCounting() {
    List<String> printed = new ArrayList<>();
    ConsoleSink console = new ConsoleSink(printed::add);
    for (int line = 0; line < ConsoleSink.MOST_PLACES + 2; line++) {
      console.found(at(line));
    }
    console.found(at(0));

    assertThat(printed).hasSize(ConsoleSink.MOST_PLACES + 2);
    assertThat(printed.get(ConsoleSink.MOST_PLACES)).contains("no further places", "10000");
    assertThat(printed.get(ConsoleSink.MOST_PLACES + 1)).endsWith(": 2x");
  }

  private static Finding at(int line) {
    StackTraceElement place = new StackTraceElement("Program", "main", "Program.java", line);
    return new Finding(Kind.NOT_WATCHED, "message", place, List.of(place), null);
  }
}
