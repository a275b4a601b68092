// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost;
import io.verbena.verbs.ReceiveWorkRequest;
import org.junit.jupiter.api.Test;

class InboundMessageTest {
  @Test
  void takesNoMoreThanACompletionTells() {
    int half = 3 << 29;
    var host = new TestHost();
    var receive = new ReceiveWorkRequest(2).id(1);
    receive.buffers().add(0, half, 1);
    receive.buffers().add(0, half, 1);
    host.receives.add(receive);
    var message = new InboundMessage(host, 2);
    assertThat(message.take()).isTrue();

    message.placed(Integer.MAX_VALUE - 10);

    assertThat(message.hasRoom(10)).isTrue();
    assertThat(message.hasRoom(11)).isFalse();
  }
}
