// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.verbena.samples.program.Addresses;
import io.verbena.samples.program.Job;
import io.verbena.samples.program.SampleServer;
import io.verbena.samples.report.Checks;
import io.verbena.samples.report.Progress;
import java.io.PrintStream;
import java.net.URI;
import java.time.Duration;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightProducer;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightServer;
import org.apache.arrow.flight.FlightStatusCode;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.Location;
import org.apache.arrow.flight.NoOpFlightProducer;
import org.apache.arrow.flight.PutResult;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableRunTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final int ROWS = 3 * Table.BATCH + 1;
  private static final URI ANY_PORT = URI.create("tcp://127.0.0.1:0");

  private final Checks checks = new Checks();

  @ParameterizedTest
  @ValueSource(strings = {"emulated://flight", "shm://flight-%1$d", "roce://127.61.%2$d.%3$d"})
  void everyValueArrivesOverAnHca(String address) throws Exception {
    // Users of one loopback address share its UDP port. No address ends in 255, where Java opens no
    // sockets.
    long pid = ProcessHandle.current().pid();
    URI hca = URI.create(String.format(address, pid, pid / 255 & 0xff, pid % 255));
    try (SampleServer server = TableServer.start(new OverRdma(hca), ANY_PORT);
        Transport client = new OverRdma(hca)) {
      run(client, server);
    }

    assertThat(checks.failed()).isEmpty();
    assertThat(checks.count()).isEqualTo(9);
  }

  @Test
  void aServerOnAnHcaIsNotThereForTcp() throws Exception {
    URI hca = URI.create("emulated://flight-alone");
    try (SampleServer server = TableServer.start(new OverRdma(hca), ANY_PORT);
        Transport client = new OverTcp()) {
      assertThatExceptionOfType(FlightRuntimeException.class)
          .isThrownBy(() -> run(client, server))
          .matches(e -> e.status().code() == FlightStatusCode.UNAVAILABLE, "unavailable");
    }
  }

  @Test
  void aCheckFailsForEachWrongRow() throws Exception {
    URI hca = URI.create("emulated://flight-wrong");
    try (SampleServer server = TableServer.start(new WrongRows(new OverRdma(hca)), ANY_PORT);
        Transport client = new OverRdma(hca)) {
      run(client, server);
    }

    assertThat(checks.failed())
        .containsOnly(
            "rows fetched, RDMA: " + Table.BATCH + " (expected: " + ROWS + ")",
            "rows fetched that were wrong, RDMA: " + Table.BATCH + " (expected: 0)");
  }

  private void run(Transport client, SampleServer server) throws Exception {
    PrintStream nowhere = new PrintStream(PrintStream.nullOutputStream());
    try (Progress progress = new Progress(nowhere, false);
        Progress.Step step = progress.begin("rows", ROWS)) {
      TableRun.run(
          client, Addresses.socket(server.address()), ROWS, new Job("RDMA", checks, step, LIMIT));
    }
  }

  /** A server that sends one batch in which each row differs from the requested one. */
  private record WrongRows(Transport carrier) implements Transport {
    @Override
    public FlightServer.Builder server(BufferAllocator memory, Location at, FlightProducer tables) {
      return carrier.server(memory, at, new Producer(memory, tables));
    }

    @Override
    public FlightClient client(BufferAllocator memory, Location at) {
      return carrier.client(memory, at);
    }

    @Override
    public void close() {
      carrier.close();
    }

    private static final class Producer extends NoOpFlightProducer {
      private final BufferAllocator memory;
      private final FlightProducer tables;

      Producer(BufferAllocator memory, FlightProducer tables) {
        this.memory = memory;
        this.tables = tables;
      }

      @Override
      public void getStream(CallContext context, Ticket ticket, ServerStreamListener client) {
        if (!Fetch.of(ticket).table().equals(TableProducer.TRADES)) {
          tables.getStream(context, ticket, client);
          return;
        }
        try (VectorSchemaRoot batch = VectorSchemaRoot.create(Table.SCHEMA, memory)) {
          Table.fill(batch, 1, Table.BATCH);
          client.start(batch);
          client.putNext();
          client.completed();
        }
      }

      @Override
      public Runnable acceptPut(
          CallContext context, FlightStream rows, StreamListener<PutResult> client) {
        return tables.acceptPut(context, rows, client);
      }
    }
  }
}
