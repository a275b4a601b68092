// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Tests of faults scripted in the fake rdma-core. The script applies to the whole process, so no
 * other test runs meanwhile, and each test leaves it empty.
 */
@Tag(FakeRdmaCore.TAG)
@Isolated("the script makes calls of all devices fail")
abstract class ScriptedFaults {
  /** The time limit for events that must come. */
  static final long NANOS = TimeUnit.SECONDS.toNanos(10);

  /** A deadline that the test lets pass. */
  static final long SOON = TimeUnit.MILLISECONDS.toNanos(50);

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @AfterEach
  void clear() {
    FakeRdmaCore.script("clear");
  }
}
