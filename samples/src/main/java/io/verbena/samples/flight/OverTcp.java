// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightProducer;
import org.apache.arrow.flight.FlightServer;
import org.apache.arrow.flight.Location;
import org.apache.arrow.memory.BufferAllocator;

/** Arrow Flight on TCP. Compare it with {@link OverRdma}. */
final class OverTcp implements Transport {

  @Override
  public FlightServer.Builder server(BufferAllocator memory, Location at, FlightProducer tables) {
    return FlightServer.builder(memory, at, tables);
  }

  @Override
  public FlightClient client(BufferAllocator memory, Location at) {
    return FlightClient.builder(memory, at).build();
  }

  /** Does nothing, as gRPC has its own event loops. */
  @Override
  public void close() {}
}
