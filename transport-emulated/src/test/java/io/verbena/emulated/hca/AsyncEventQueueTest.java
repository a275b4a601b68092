// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.EmulatedProvider;
import io.verbena.verbs.AsyncEvent;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A program that takes no asynchronous events for a long time. */
class AsyncEventQueueTest {
  @Test
  void keepsAPlaceForTheFailureOfTheDevice() throws InterruptedException {
    EmulatedDevice device =
        (EmulatedDevice) new EmulatedProvider().open(URI.create("emulated://event-queue"));
    for (int i = 0; i < 10_000; i++) {
      device.raise(AsyncEvent.Type.QP_FATAL, device);
    }

    assertThat(device.breakDown()).isTrue();

    List<AsyncEvent.Type> taken = new ArrayList<>();
    for (AsyncEvent next = device.awaitAsyncEvent(0); next != null; ) {
      taken.add(next.type());
      next = device.awaitAsyncEvent(0);
    }
    assertThat(taken).hasSizeLessThan(10_000).endsWith(AsyncEvent.Type.DEVICE_FATAL);
    device.close();
  }
}
