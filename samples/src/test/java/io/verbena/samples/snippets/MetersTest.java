// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.snippets;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.RemoteMemory.Right;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.netty.RdmaSockets;
import io.verbena.rsocket.RdmaClientTransport;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Shows one registry for the transports and the sockets of a program. */
class MetersTest {
  @Test
  void timeAReadThatSucceeded() {
    MeterRegistry registry = new SimpleMeterRegistry();
    URI hca = URI.create("emulated://metered");
    URI address = URI.create("emulated://metered-rsocket");

    // snippet: meters
    VerbenaMeters meters = new VerbenaMeters(registry); // io.verbena.core.micrometer
    RdmaTransport transport = RdmaTransport.create(RdmaOptions.builder().meters(meters).build());
    RdmaClientTransport rsocket = RdmaClientTransport.create(address, transport);
    RdmaOptions netty = RdmaOptions.builder().eagerSize(16 << 10).meters(meters).build();
    RdmaSockets sockets = RdmaSockets.builder(hca).options(netty).build();
    // end

    RdmaServer server = transport.bind(hca, c -> c.receive().then()).block();
    RdmaConnection client = transport.connect(server.address()).block();
    RdmaMemory.Region region =
        server.memory().register(ByteBuffer.allocateDirect(4096), Set.of(Right.READ));
    client.read(region.token()).block().release();

    // snippet: meters-read
    double micros =
        registry
            .get("verbena.operations")
            .tags("operation", "read", "status", "success")
            .timer()
            .mean(MICROSECONDS);
    // end

    assertThat(micros).isPositive();
    assertThat(rsocket).isNotNull();
    region.close();
    sockets.close();
    transport.dispose();
  }
}
