// SPDX-License-Identifier: Apache-2.0
package io.verbena.meters;

import static java.util.Objects.requireNonNull;

import io.verbena.verbs.Device;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * A device as a transport uses it.
 *
 * @param adapter the kind of the connections: {@code reactor}, {@code netty}
 * @param provider the scheme of the device's addresses
 * @param device the device, which belongs to the transport
 * @param registeredBytes returns the registered bytes; any thread may call it
 * @param maxRegisteredBytes the limit on registered bytes
 * @param credits the kinds of credit that peers give
 */
public record MeteredHca(
    String adapter,
    String provider,
    Device device,
    LongSupplier registeredBytes,
    long maxRegisteredBytes,
    Set<Credit> credits) {

  public MeteredHca {
    requireNonNull(adapter, "adapter");
    requireNonNull(provider, "provider");
    requireNonNull(device, "device");
    requireNonNull(registeredBytes, "registeredBytes");
    credits = Set.copyOf(credits);
  }
}
