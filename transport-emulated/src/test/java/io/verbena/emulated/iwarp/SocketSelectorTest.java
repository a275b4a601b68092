// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests how a thread waits for the sockets of an HCA. */
class SocketSelectorTest {

  @Test
  @Timeout(20)
  void aWakeUpEndsTheNextSleepWhoeverSelectsBetween() throws IOException {
    SocketSelector selector = new SocketSelector();

    selector.wakeup();
    selector.selectNow(key -> {});

    selector.await(TimeUnit.HOURS.toNanos(1));
    selector.close();
  }

  /** A thread may be about to wait while another thread closes the last device. */
  @Test
  void aSleepInASelectorThatIsClosedEndsAtOnce() throws IOException {
    SocketSelector selector = new SocketSelector();
    selector.close();

    assertThatCode(() -> selector.await(TimeUnit.MINUTES.toNanos(1))).doesNotThrowAnyException();
  }
}
