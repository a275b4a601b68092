// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import io.verbena.verbs.Capability;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.VerbsError;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * The base class of all areas. Each test has a context of its own, which is closed after it. Tests
 * share nothing else and mostly wait, so they run concurrently if the provider's module configures
 * JUnit for that.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = VerbsTests.MACHINE, mode = ResourceAccessMode.READ)
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD)
abstract class VerbsTests {
  /**
   * The JUnit resource that tests lock exclusively if they measure the whole process. All other
   * tests lock it for reading.
   */
  static final String MACHINE = "io.verbena.tck.machine";

  final TckContext tck;

  @RegisterExtension final Deviation.Interceptor deviations = new Deviation.Interceptor(this);

  VerbsTests(VerbsTck provider) {
    tck = new TckContext(provider);
  }

  /**
   * Returns whether the device lacks a capability. If so, asserts that it refuses requests that
   * need the capability, and the test must return.
   */
  boolean isRefused(Capability capability) {
    if (tck.supports(capability)) {
      return false;
    }
    UnsupportedRequests.assertRefused(capability, tck.connected());
    return true;
  }

  /** Returns whether the device has queue pairs of a type. */
  boolean supports(QueuePairType type) {
    return switch (type) {
      case RC -> true;
      case UC -> tck.supports(Capability.UNRELIABLE_CONNECTED);
      case UD -> tck.supports(Capability.UNRELIABLE_DATAGRAM);
    };
  }

  /** Asserts that the device refuses to create queue pairs of a type. */
  void assertRefused(QueuePairType type) {
    Failures.expectFailure(VerbsError.NOT_SUPPORTED, () -> tck.setup().type(type).endpoint());
  }

  /**
   * Returns whether the device lacks queue pairs of a type. If so, asserts that it refuses to
   * create them, and the test must return.
   */
  boolean isRefused(QueuePairType type) {
    if (supports(type)) {
      return false;
    }
    assertRefused(type);
    return true;
  }

  @BeforeEach
  void setTestName(TestInfo info) {
    String area = info.getTestClass().orElseThrow().getSimpleName();
    tck.begin(area + '.' + info.getTestMethod().orElseThrow().getName());
  }

  @AfterEach
  void closeContext() {
    tck.close();
  }
}
