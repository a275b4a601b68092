// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestTag;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.support.descriptor.AbstractTestDescriptor;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestIdentifier;

/**
 * On the host, what stands for a test or container of the Jupiter engine that runs in the guest.
 */
final class MirroredTest extends AbstractTestDescriptor {
  private final TestIdentifier original;
  private final Set<TestTag> tagsFromOutside;
  private final @Nullable String whyLeftOut;

  MirroredTest(TestIdentifier original) {
    this(original, Set.of(), null);
  }

  /**
   * A mirror.
   *
   * @param tagsFromOutside tags beyond those of the original: of its guest, and of the class that
   *     stands for its package
   * @param whyLeftOut why it is not to run in the guest, or null if it is
   */
  MirroredTest(TestIdentifier original, Set<TestTag> tagsFromOutside, @Nullable String whyLeftOut) {
    super(
        UniqueId.parse(Jupiter.toOurs(original.getUniqueId())),
        original.getDisplayName(),
        original.getSource().orElse(null));
    this.original = original;
    this.tagsFromOutside = tagsFromOutside;
    this.whyLeftOut = whyLeftOut;
  }

  @Nullable String whyLeftOut() {
    return whyLeftOut;
  }

  @Override
  public Type getType() {
    return original.getType();
  }

  Set<TestTag> tagsFromOutside() {
    return tagsFromOutside;
  }

  @Override
  public Set<TestTag> getTags() {
    var tags = new HashSet<>(original.getTags());
    tags.addAll(tagsFromOutside);
    return tags;
  }

  @Override
  public String getLegacyReportingName() {
    return original.getLegacyReportingName();
  }

  /** A container that is a method, such as a parameterized test, brings its tests up as it runs. */
  @Override
  public boolean mayRegisterTests() {
    return isContainer() && getSource().filter(MethodSource.class::isInstance).isPresent();
  }
}
