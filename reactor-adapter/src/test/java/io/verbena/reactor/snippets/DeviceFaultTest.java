// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.snippets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.HcaException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.emulated.DeviceFault;
import java.net.URI;
import java.time.Duration;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;

/** Tests a device that fails under a server. */
class DeviceFaultTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private final RdmaTransport transport = RdmaTransport.create();

  @AfterEach
  void dispose() {
    transport.dispose();
  }

  @Test
  void endsTheServer() {
    Function<RdmaConnection, Publisher<Void>> handler = c -> c.send(c.receive());

    // snippet: fault
    RdmaServer server = transport.bind(URI.create("emulated://orders?fuse=a"), handler).block();
    int failed = DeviceFault.inject("a"); // how many devices
    // end

    assertThat(failed).isEqualTo(1);
    assertThatThrownBy(() -> server.onClose().block(LIMIT)).isInstanceOf(HcaException.class);
  }
}
