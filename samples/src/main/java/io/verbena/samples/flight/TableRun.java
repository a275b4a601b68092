// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import io.verbena.samples.program.Figure;
import io.verbena.samples.program.Job;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.flight.CallOption;
import org.apache.arrow.flight.CallOptions;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightClient.ClientStreamListener;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStatusCode;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.PutResult;
import org.apache.arrow.flight.SyncPutListener;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/** A client of the table: its requests and rows, and the checks of the answers. */
final class TableRun {
  private final FlightClient client;
  private final BufferAllocator memory;
  private final Job job;

  private TableRun(FlightClient client, BufferAllocator memory, Job job) {
    this.client = client;
    this.memory = memory;
    this.job = job;
  }

  /**
   * Runs the client twice, the first time to warm up.
   *
   * @param server the address of the server
   * @param rows the number of rows to fetch and to send
   * @param job advances by four times as many
   */
  @SuppressWarnings("try") // Flight declares that its close may be interrupted.
  static List<Figure> run(Transport transport, InetSocketAddress server, int rows, Job job)
      throws Exception {
    try (BufferAllocator memory = new RootAllocator();
        FlightClient client = transport.client(memory, TableServer.location(server))) {
      TableRun run = new TableRun(client, memory, job);
      run.askForAnUnknownTable();
      run.round(rows);
      return run.round(rows);
    }
  }

  private List<Figure> round(int rows) throws Exception {
    long began = System.nanoTime();
    fetch(rows);
    long fetched = System.nanoTime();
    put(rows);
    long put = System.nanoTime();
    return List.of(
        new Figure("rows/s fetched by DoGet", 1e9 * rows / (fetched - began)),
        new Figure("rows/s sent by DoPut", 1e9 * rows / (put - fetched)));
  }

  private CallOption limit() {
    return CallOptions.timeout(job.limit().toMillis(), TimeUnit.MILLISECONDS);
  }

  private void checkEqual(String what, Object expected, Object actual) {
    job.checks().checkEqual(what + ", " + job.transport(), expected, actual);
  }

  @SuppressWarnings("try") // Flight declares that its close may be interrupted.
  private void askForAnUnknownTable() throws Exception {
    FlightStatusCode code = FlightStatusCode.OK;
    try (FlightStream rows = client.getStream(new Fetch("none", 1).ticket(), limit())) {
      rows.next();
    } catch (FlightRuntimeException e) {
      code = e.status().code();
    }
    checkEqual("status of an unknown table", FlightStatusCode.NOT_FOUND, code);
  }

  @SuppressWarnings("try") // Flight declares that its close may be interrupted.
  private void fetch(long rows) throws Exception {
    long count = 0;
    long wrong = 0;
    try (FlightStream stream =
        client.getStream(new Fetch(TableProducer.TRADES, rows).ticket(), limit())) {
      checkEqual("columns", Table.SCHEMA, stream.getSchema());
      while (stream.next()) {
        VectorSchemaRoot batch = stream.getRoot();
        wrong += Table.countWrong(batch, count);
        count += batch.getRowCount();
        job.step().advance(batch.getRowCount());
      }
    }
    checkEqual("rows fetched", rows, count);
    checkEqual("rows fetched that were wrong", 0L, wrong);
  }

  private void put(long rows) throws Exception {
    try (VectorSchemaRoot batch = VectorSchemaRoot.create(Table.SCHEMA, memory);
        SyncPutListener answers = new SyncPutListener()) {
      ClientStreamListener server =
          client.startPut(FlightDescriptor.path(TableProducer.TRADES), batch, answers, limit());
      for (long sent = 0; sent < rows; sent += batch.getRowCount()) {
        Table.fill(batch, sent, Table.batch(rows - sent));
        server.putNext();
        job.step().advance(batch.getRowCount());
      }
      server.completed();
      try (PutResult answer = answers.read()) {
        checkEqual(
            "rows sent, and wrong at the server",
            new PutAnswer(rows, 0),
            answer == null ? "none" : PutAnswer.read(answer.getApplicationMetadata()));
      }
      server.getResult();
    }
  }
}
