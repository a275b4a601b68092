// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.verbs;

import io.verbena.it.guest.GuestDevices;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.tck.Deviation;
import io.verbena.verbs.CompletionStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;

/** Runs the TCK with DiSNI's provider on the kernel's Soft-iWARP. */
@Tag("siw")
@InSoftRoceGuest(nodes = 1, devices = GuestDevices.SIW)
class SiwVerbsTest extends KernelVerbsTck {
  SiwVerbsTest() {
    super("disni");
  }

  @AfterAll
  static void writeDifferences() throws IOException {
    Path folder = Path.of(System.getenv().getOrDefault("VERBENA_RESULTS", "target"));
    Files.writeString(folder.resolve("differences.md"), SiwDifference.page());
  }

  @Override
  protected Duration timeout() {
    return Duration.ofSeconds(10);
  }

  @Override
  protected CompletionStatus expectedStatus(String test, CompletionStatus specified) {
    return SiwDifference.answer(test, specified);
  }

  @Override
  protected @Nullable Deviation deviation(String test) {
    return SiwDifference.deviation(test);
  }
}
