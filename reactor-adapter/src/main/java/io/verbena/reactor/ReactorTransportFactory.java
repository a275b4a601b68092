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

/** The factory of the reactive transport, for {@link java.util.ServiceLoader}. */
public final class ReactorTransportFactory implements RdmaTransport.Factory {

  /** Called by the service loader. */
  public ReactorTransportFactory() {}

  @Override
  public RdmaTransport create(RdmaOptions options) {
    return new ReactorTransport(options);
  }

  /**
   * Creates a transport without threads, for simulations: {@code invoker} invokes its duty cycles,
   * which call its subscribers. Code within a duty cycle must not wait for the transport ({@code
   * block()}); other code waits by invoking duty cycles, as {@link RdmaTransport#dispose} does by
   * {@link DutyCycleInvoker#awaitFor}.
   *
   * @param providers the providers for the schemes of addresses; loading them takes a while
   * @param devices opens the device for an address of one of {@code providers}; the device must
   *     need no thread, and the transport closes it
   * @param direct allocates the memory to register
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
