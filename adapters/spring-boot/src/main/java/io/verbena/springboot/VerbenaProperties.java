// SPDX-License-Identifier: Apache-2.0
package io.verbena.springboot;

import io.verbena.netty.SocketKind;
import java.net.URI;
import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.ConstructorBinding;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties that begin with {@code verbena.}. Immutable.
 *
 * @param hca the URI of the HCA, {@code roce://10.0.0.7} for example; if it is missing or blank,
 *     nothing is configured
 * @param loops the number of event loops; 0 for one for each processor
 * @param tcp whether servers also listen over TCP, and clients reach peers without RDMA over TCP
 * @param rdmaTimeout how long a connect tries RDMA before TCP, at least 1 ms; used with {@code tcp}
 * @param sockets the kind of sockets on the event loops, for TCP and DNS; the program fails to
 *     start if it is not available
 * @param http whether WebFlux, {@code WebClient} and RSocket use the HCA
 * @param grpc whether servers and clients of Spring gRPC use the HCA
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

  /**
   * Called by Spring. The URI of the HCA is a string here, because Spring's own conversion would
   * escape its escapes again.
   */
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
