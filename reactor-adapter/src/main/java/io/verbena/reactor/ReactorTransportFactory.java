package io.verbena.reactor;

import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;

/** How {@link java.util.ServiceLoader} finds the transport. */
public final class ReactorTransportFactory implements RdmaTransport.Factory {

  /** For the service loader. */
  public ReactorTransportFactory() {}

  @Override
  public RdmaTransport create(RdmaOptions options) {
    return new ReactorTransport(options);
  }
}
