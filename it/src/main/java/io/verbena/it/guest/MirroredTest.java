package io.verbena.it.guest;

import java.util.Set;
import org.junit.platform.engine.TestTag;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.support.descriptor.AbstractTestDescriptor;
import org.junit.platform.launcher.TestIdentifier;

/**
 * On the host, what stands for a test or container of the Jupiter engine that runs in the guest.
 */
final class MirroredTest extends AbstractTestDescriptor {
  private final TestIdentifier original;

  MirroredTest(TestIdentifier original) {
    super(
        UniqueId.parse(Jupiter.toOurs(original.getUniqueId())),
        original.getDisplayName(),
        original.getSource().orElse(null));
    this.original = original;
  }

  @Override
  public Type getType() {
    return original.getType();
  }

  @Override
  public Set<TestTag> getTags() {
    return original.getTags();
  }

  @Override
  public String getLegacyReportingName() {
    return original.getLegacyReportingName();
  }

  /** A container, such as a parameterized test, brings its tests up only when it runs. */
  @Override
  public boolean mayRegisterTests() {
    return isContainer();
  }
}
