// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static java.util.Objects.requireNonNull;

import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.core.memory.DirectMemory;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.util.function.Function;

/** The factory by which {@link java.util.ServiceLoader} finds the transport. */
public final class ReactorTransportFactory implements RdmaTransport.Factory {

  /** For the service loader. */
  public ReactorTransportFactory() {}

  @Override
  public RdmaTransport create(RdmaOptions options) {
    return new ReactorTransport(options);
  }

  /**
   * A transport without threads, all of whose work is done in turns that {@code invoker} gives it,
   * within which it calls subscribers. No code may wait for it ({@code block()}) in a turn, and
   * outside only by giving turns; {@link RdmaTransport#dispose} gives them by {@link
   * DutyCycleInvoker#awaitFor}. For simulations.
   *
   * @param providers those whose schemes addresses may have; loading them takes a while
   * @param devices opens a device that needs no thread, for an address whose scheme is that of a
   *     provider; the transport closes it
   * @param direct what registered memory is made of
   */
  public static RdmaTransport conducted(
      RdmaOptions options,
      DutyCycleInvoker invoker,
      VerbsProviders providers,
      Function<URI, Device> devices,
      DirectMemory direct) {
    return new ReactorTransport(
        options,
        requireNonNull(invoker, "invoker"),
        requireNonNull(providers, "providers"),
        requireNonNull(devices, "devices"),
        Runnable::run,
        requireNonNull(direct, "direct"));
  }
}
