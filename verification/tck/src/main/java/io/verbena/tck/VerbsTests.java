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
 * What all areas share: a context for each test, closed after it. Tests share nothing else and wait
 * much, so they run side by side where the provider's module has JUnit do that.
 */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = VerbsTests.MACHINE, mode = ResourceAccessMode.READ)
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
abstract class VerbsTests {
  /** Locked by tests that measure what all threads do, read by all others. */
  static final String MACHINE = "io.verbena.tck.machine";

  final TckContext tck;

  @RegisterExtension final Deviation.Watch deviations = new Deviation.Watch(this);

  VerbsTests(VerbsTck provider) {
    tck = new TckContext(provider);
  }

  /**
   * Whether the device lacks this; if so, the test has nothing to show but that a request which
   * needs it is refused, and that is asserted here.
   */
  boolean isRefused(Capability capability) {
    if (tck.supports(capability)) {
      return false;
    }
    UnsupportedRequests.of(capability, tck.connected());
    return true;
  }

  /**
   * Whether the device lacks queue pairs of a type; if so, all that there is to show is that they
   * are refused, and that is asserted here.
   */
  boolean isRefused(QueuePairType type) {
    boolean has =
        switch (type) {
          case RC -> true;
          case UC -> tck.supports(Capability.UNRELIABLE_CONNECTED);
          case UD -> tck.supports(Capability.UNRELIABLE_DATAGRAM);
        };
    if (!has) {
      Failures.expectFailure(VerbsError.NOT_SUPPORTED, () -> tck.setup().type(type).endpoint());
    }
    return !has;
  }

  @BeforeEach
  void tellsItsName(TestInfo info) {
    String area = info.getTestClass().orElseThrow().getSimpleName();
    tck.begin(area + '.' + info.getTestMethod().orElseThrow().getName());
  }

  @AfterEach
  void leavesNothingOpen() {
    tck.close();
  }
}
