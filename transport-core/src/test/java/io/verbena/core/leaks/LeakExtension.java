// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.leaks;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test class that did not release all of its buffers. Checks nested classes, which may run
 * in parallel, together with their outer class. JUnit registers the extension automatically.
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
