// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.NoOpFlightProducer;
import org.apache.arrow.flight.PutResult;
import org.apache.arrow.flight.Ticket;
import org.apache.arrow.memory.BufferAllocator;

/** Sends the rows that a client requests, and checks the rows that a client sends. */
final class TableProducer extends NoOpFlightProducer {
  /** The name of the table. */
  static final String TRADES = "trades";

  private final BufferAllocator memory;

  /**
   * @param memory the allocator of batches
   */
  TableProducer(BufferAllocator memory) {
    this.memory = memory;
  }

  @Override
  public void getStream(CallContext context, Ticket ticket, ServerStreamListener client) {
    Fetch fetch = Fetch.of(ticket);
    if (!fetch.table().equals(TRADES)) {
      throw CallStatus.NOT_FOUND.withDescription("table: " + fetch.table()).toRuntimeException();
    }
    TableSend.start(memory, fetch.rows(), client);
  }

  /** Answers with a {@link PutAnswer} about the received rows. */
  @Override
  public Runnable acceptPut(
      CallContext context, FlightStream rows, StreamListener<PutResult> client) {
    return () -> {
      long count = 0;
      long wrong = 0;
      while (rows.next()) {
        wrong += Table.countWrong(rows.getRoot(), count);
        count += rows.getRoot().getRowCount();
      }
      try (PutResult result = PutResult.metadata(new PutAnswer(count, wrong).write(memory))) {
        client.onNext(result);
      }
      client.onCompleted();
    };
  }
}
