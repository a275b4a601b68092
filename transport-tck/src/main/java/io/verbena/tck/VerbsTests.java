package io.verbena.tck;

import io.verbena.verbs.Capability;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What all areas share: a context for each test, closed after it. */
@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
abstract class VerbsTests {
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
    Refusal.of(capability, tck.connected());
    return true;
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
