// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.meters;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.core.testing.ClassPath;
import java.net.URLClassLoader;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

/**
 * Tests the log after a failure. The programs run without SLF4J, which is silent in these tests,
 * and log through {@code java.util.logging}.
 */
class LogTest {
  private static final String ALL = "io.verbena";

  /** The system property that selects Reactor's logger in the absence of SLF4J. */
  private static final String FALLBACK = "reactor.logging.fallback";

  @Test
  void tellsOfAFailingHandlerOnce() throws Exception {
    List<LogRecord> records = logOf(FailingHandler.class, "lost");

    // The other line is from the client, which lost its connection.
    assertThat(records).hasSize(2);
    assertThat(records)
        .filteredOn(record -> record.getThrown() != null)
        .singleElement()
        .satisfies(
            record ->
                assertThat(record.getMessage())
                    .contains("handler", "the handler failed", "thrown by a test"));
  }

  @Test
  void tellsOfALoopThatBrokeDownAndIsReplaced() throws Exception {
    List<LogRecord> records = logOf(BrokenLoop.class, "verbena-limited0-loop-0");

    assertThat(records)
        .filteredOn(record -> record.getMessage().contains("replaces it"))
        .singleElement()
        .satisfies(
            record -> {
              assertThat(record.getMessage())
                  .isEqualTo(
                      "completion loop verbena-limited0-loop-0 broke down: its connections failed,"
                          + " another replaces it");
              assertThat(record.getThrown())
                  .isInstanceOf(OutOfMemoryError.class)
                  .hasMessage("thrown by a test");
            });
  }

  /** Runs a program and returns its log records. */
  private static List<LogRecord> logOf(Class<? extends Callable<String>> type, String result)
      throws Exception {
    Logger logger = Logger.getLogger(ALL);
    Records records = new Records();
    logger.addHandler(records);
    logger.setUseParentHandlers(false);
    System.setProperty(FALLBACK, "JDK");
    Thread current = Thread.currentThread();
    ClassLoader before = current.getContextClassLoader();
    try (URLClassLoader loader =
        new URLClassLoader(
            ClassPath.without(entry -> entry.contains("slf4j")),
            ClassLoader.getPlatformClassLoader())) {
      current.setContextClassLoader(loader);
      Callable<?> program =
          (Callable<?>) loader.loadClass(type.getName()).getConstructor().newInstance();
      assertThat(program.call()).isEqualTo(result);
    } finally {
      current.setContextClassLoader(before);
      System.clearProperty(FALLBACK);
      logger.removeHandler(records);
      logger.setUseParentHandlers(true);
    }
    return List.copyOf(records.all);
  }

  private static final class Records extends Handler {
    private final ConcurrentLinkedQueue<LogRecord> all = new ConcurrentLinkedQueue<>();

    @Override
    public void publish(LogRecord record) {
      all.add(record);
    }

    @Override
    public void flush() {
      // The records are kept.
    }

    @Override
    public void close() {
      // The records are kept.
    }
  }
}
