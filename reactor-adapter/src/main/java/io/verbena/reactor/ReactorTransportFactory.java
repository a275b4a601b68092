// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static java.util.Objects.requireNonNull;

import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.verbs.Device;
import java.net.URI;
import java.util.function.Function;

/** How {@link java.util.ServiceLoader} finds the transport. */
public final class ReactorTransportFactory implements RdmaTransport.Factory {

  /** For the service loader. */
  public ReactorTransportFactory() {}

  @Override
  public RdmaTransport create(RdmaOptions options) {
    return new ReactorTransport(options);
  }

  /**
   * A transport without threads, all of whose work is done in turns that {@code invoker} gives it,
   * within which it calls subscribers. Nobody may wait for it ({@code block()}) in a turn, and
   * outside only by giving turns; {@link RdmaTransport#dispose} has them given by {@link
   * DutyCycleInvoker#awaitFor}. For simulations.
   *
   * @param devices opens a device that needs no thread, for an address whose scheme is that of a
   *     provider; the transport closes it
   */
  public static RdmaTransport conducted(
      RdmaOptions options, DutyCycleInvoker invoker, Function<URI, Device> devices) {
    return new ReactorTransport(
        options,
        requireNonNull(invoker, "invoker"),
        requireNonNull(devices, "devices"),
        Runnable::run);
  }
}
