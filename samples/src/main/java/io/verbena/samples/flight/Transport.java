// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightProducer;
import org.apache.arrow.flight.FlightServer;
import org.apache.arrow.flight.Location;
import org.apache.arrow.memory.BufferAllocator;

/** Carries the tables: the only part that differs between TCP and RDMA. */
interface Transport extends AutoCloseable {

  /** A server of tables that listens at an address. */
  FlightServer.Builder server(BufferAllocator memory, Location at, FlightProducer tables);

  /** A client of the server at an address, which closes its channel. */
  FlightClient client(BufferAllocator memory, Location at);

  /** Ends the event loops, after the server or the client that ran on them. */
  @Override
  void close();
}
