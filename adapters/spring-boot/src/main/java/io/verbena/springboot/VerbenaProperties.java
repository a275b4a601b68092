// SPDX-License-Identifier: Apache-2.0
package io.verbena.springboot;

import io.verbena.netty.SocketKind;
import java.net.URI;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.ConstructorBinding;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * Properties that begin with {@code verbena.}; immutable.
 *
 * @param hca the URI of the HCA, {@code roce://10.0.0.7} say; without it, or if it is blank,
 *     nothing is configured
 * @param loops event loops; 0 for one for each processor
 * @param tcp whether servers listen over TCP, too, and clients reach peers without RDMA over it
 * @param rdmaTimeout for how long a connect tries RDMA before TCP, where that may take its place
 * @param sockets the kind of sockets on the event loops, for TCP and DNS; the service fails to
 *     start where it is not available
 * @param http whether WebFlux, {@code WebClient} and RSocket use it
 * @param grpc whether servers and clients of Spring gRPC use it
 */
@ConfigurationProperties("verbena")
public record VerbenaProperties(
    URI hca,
    int loops,
    boolean tcp,
    Duration rdmaTimeout,
    SocketKind sockets,
    boolean http,
    boolean grpc) {
  /** Checks the number of loops and the timeout. */
  public VerbenaProperties {
    if (loops < 0) {
      throw new IllegalArgumentException("verbena.loops: " + loops + " (expected: >= 0)");
    }
    if (rdmaTimeout.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException(
          "verbena.rdma-timeout: " + rdmaTimeout + " (expected: >= 1 ms)");
    }
  }

  /** For Spring, which would escape the escapes of the HCA's URI if it made it. */
  @ConstructorBinding
  VerbenaProperties(
      String hca,
      @DefaultValue("0") int loops,
      @DefaultValue("false") boolean tcp,
      @DefaultValue("500ms") Duration rdmaTimeout,
      @DefaultValue("nio") SocketKind sockets,
      @DefaultValue("true") boolean http,
      @DefaultValue("true") boolean grpc) {
    this(URI.create(hca.trim()), loops, tcp, rdmaTimeout, sockets, http, grpc);
  }
}
