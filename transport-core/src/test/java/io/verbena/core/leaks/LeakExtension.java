// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.leaks;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test class whose buffers were not all released, with those of its nested classes, which
 * may run side by side. JUnit finds it by itself.
 */
public final class LeakExtension implements BeforeAllCallback, AfterAllCallback {

  static {
    RecordingLeakDetector.install();
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    assertThat(ResourceLeakDetector.getLevel()).isEqualTo(ResourceLeakDetector.Level.PARANOID);
    UnpooledByteBufAllocator.DEFAULT.directBuffer(1).release();
    assertThat(RecordingLeakDetector.watchesBuffers()).isTrue();
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (!isNested(context)) {
      assertThat(RecordingLeakDetector.takeLeaks()).isEmpty();
    }
  }

  private static boolean isNested(ExtensionContext context) {
    return context.getParent().flatMap(ExtensionContext::getTestClass).isPresent();
  }
}
