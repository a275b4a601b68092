// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import io.verbena.samples.program.Addresses;
import io.verbena.samples.program.SampleServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import org.apache.arrow.flight.FlightServer;
import org.apache.arrow.flight.Location;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;

/** A running server of a table. */
final class TableServer implements SampleServer {
  private final Transport transport;
  private final BufferAllocator memory;
  private final FlightServer server;
  private final URI address;

  private TableServer(
      Transport transport, BufferAllocator memory, FlightServer server, URI address) {
    this.transport = transport;
    this.memory = memory;
    this.server = server;
    this.address = address;
  }

  /**
   * Starts the server.
   *
   * @param transport closed with the server
   */
  static TableServer start(Transport transport, URI address) throws IOException {
    BufferAllocator memory = new RootAllocator();
    try {
      FlightServer server =
          transport
              .server(memory, location(Addresses.socket(address)), new TableProducer(memory))
              .build()
              .start();
      return new TableServer(
          transport, memory, server, Addresses.withPort(address, server.getPort()));
    } catch (IOException | RuntimeException e) {
      close(transport, memory);
      throw e;
    }
  }

  private static void close(Transport transport, BufferAllocator memory) {
    try {
      transport.close();
    } finally {
      memory.close();
    }
  }

  /** Returns an address in Flight's form. */
  static Location location(InetSocketAddress address) {
    return Location.forGrpcInsecure(address.getHostString(), address.getPort());
  }

  @Override
  public URI address() {
    return address;
  }

  @Override
  public void close() {
    try {
      server.close();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      close(transport, memory);
    }
  }
}
