// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer.junit;

import static java.util.Objects.requireNonNull;

import io.verbena.emulated.sanitizer.Finding;
import io.verbena.emulated.sanitizer.FindingCollector;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test if sanitized devices have findings in it, and names all findings and their places.
 * Each object that the test created and did not close is a finding, too. Only sanitized devices are
 * watched, such as those opened with {@code sanitize=true}. Findings of tests that run at the same
 * time in one JVM cannot be told apart.
 *
 * <pre>{@code
 * @ExtendWith(SanitizerExtension.class)
 * class MyProtocolTest { ... }
 *
 * @RegisterExtension
 * final SanitizerExtension sanitizer = SanitizerExtension.ignoring(Finding.Kind.ACCESS_NEVER_USED);
 * }</pre>
 */
public final class SanitizerExtension implements BeforeEachCallback, AfterEachCallback {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(SanitizerExtension.class);

  private final Set<Finding.Kind> ignored;

  /** Creates an extension for which findings of all kinds fail a test. */
  public SanitizerExtension() {
    this(EnumSet.noneOf(Finding.Kind.class));
  }

  private SanitizerExtension(Set<Finding.Kind> ignored) {
    this.ignored = ignored;
  }

  /** Creates an extension for which findings of these kinds do not fail a test. */
  public static SanitizerExtension ignoring(Finding.Kind first, Finding.Kind... more) {
    return new SanitizerExtension(EnumSet.of(first, more));
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    context.getStore(NAMESPACE).put(this, FindingCollector.start());
  }

  @Override
  public void afterEach(ExtensionContext context) {
    FindingCollector collector =
        requireNonNull(
            context.getStore(NAMESPACE).remove(this, FindingCollector.class), "collector");
    List<Finding> found =
        collector.finish().stream().filter(finding -> !ignored.contains(finding.kind())).toList();
    if (!found.isEmpty()) {
      throw new AssertionError(
          "the sanitizer found "
              + found.size()
              + found.stream()
                  .map(Finding::report)
                  .collect(Collectors.joining(System.lineSeparator(), System.lineSeparator(), "")));
    }
  }
}
