// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import org.apache.arrow.flight.FlightProducer.ServerStreamListener;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Sends rows at the pace at which the client takes them. gRPC calls it each time that the client is
 * ready, one call after the other.
 */
final class TableSend implements Runnable {
  private final long rows;
  private final ServerStreamListener client;
  private final VectorSchemaRoot batch;
  private long sent;
  private boolean ended;

  private TableSend(BufferAllocator memory, long rows, ServerStreamListener client) {
    this.rows = rows;
    this.client = client;
    batch = VectorSchemaRoot.create(Table.SCHEMA, memory);
  }

  /** Sends the first {@code rows} rows of the table. */
  static void start(BufferAllocator memory, long rows, ServerStreamListener client) {
    TableSend send = new TableSend(memory, rows, client);
    client.setOnReadyHandler(send);
    client.setOnCancelHandler(send::end);
    client.start(send.batch);
  }

  @Override
  public void run() {
    while (!ended && client.isReady()) {
      if (sent == rows) {
        client.completed();
        end();
      } else {
        int count = Table.batch(rows - sent);
        Table.fill(batch, sent, count);
        client.putNext();
        sent += count;
      }
    }
  }

  private void end() {
    ended = true;
    batch.close();
  }
}
