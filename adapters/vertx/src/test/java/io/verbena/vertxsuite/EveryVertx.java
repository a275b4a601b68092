// SPDX-License-Identifier: Apache-2.0
package io.verbena.vertxsuite;

import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.vertx.RdmaVertxTransport;
import io.vertx.core.impl.VertxBootstrapImpl;
import io.vertx.core.internal.VertxBootstrap;
import io.vertx.core.spi.VertxServiceProvider;
import io.vertx.core.spi.transport.Transport;
import java.net.URI;

/**
 * Gives RDMA to each Vert.x that would use NIO, in whatever way a test creates it, if {@code
 * -Dverbena.vertx.hca} names an HCA.
 */
public final class EveryVertx implements VertxServiceProvider {
  private static final String HCA = System.getProperty("verbena.vertx.hca", "");

  /** Called by the service loader. */
  public EveryVertx() {}

  @Override
  public void init(VertxBootstrap builder) {
    if (!HCA.isEmpty() && builder instanceof VertxBootstrapImpl bootstrap) {
      Transport chosen = bootstrap.transport();
      if (chosen == null || chosen == io.vertx.core.transport.Transport.NIO.implementation()) {
        bootstrap.transport(overRdma());
      }
    }
  }

  /** Returns a new transport for each Vert.x, as each closes its own. */
  private static Transport overRdma() {
    return RdmaVertxTransport.create(
            URI.create(HCA),
            RdmaOptions.builder()
                .pollMode(PollMode.EVENT)
                .eagerSize(16 << 10)
                .receiveDepth(32)
                .sendDepth(32)
                .build())
        .implementation();
  }
}
