// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.quickstart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/** Tests that the quickstart's own JUnit test passes unchanged with the jars of this build. */
class QuickstartTest {
  private static final Path SOURCES = Path.of("quickstart", "src");

  @TempDir private Path classes = Path.of("");

  @Test
  void itsTestPasses() throws Exception {
    compile();
    var listener = new SummaryGeneratingListener();
    try (var loader = new URLClassLoader(new URL[] {classes.toUri().toURL()})) {
      LauncherFactory.create()
          .execute(
              LauncherDiscoveryRequestBuilder.request()
                  .selectors(selectClass(loader.loadClass("com.example.EchoTest")))
                  .build(),
              listener);
    }
    assertThat(listener.getSummary().getFailures())
        .extracting(failure -> failure.getException())
        .isEmpty();
    assertThat(listener.getSummary().getTestsSucceededCount()).isEqualTo(1);
  }

  private void compile() throws IOException {
    List<String> line = new ArrayList<>(List.of("-d", classes.toString(), "-proc:none"));
    line.addAll(List.of("-cp", System.getProperty("java.class.path")));
    try (Stream<Path> sources = Files.walk(SOURCES)) {
      sources.map(Path::toString).filter(name -> name.endsWith(".java")).forEach(line::add);
    }
    var told = new StringWriter();
    int result =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(new PrintWriter(told), new PrintWriter(told), line.toArray(String[]::new));
    assertThat(result).as(told.toString()).isZero();
  }
}
