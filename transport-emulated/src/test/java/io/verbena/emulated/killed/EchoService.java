// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.killed;

import io.verbena.emulated.Caller;
import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Accepts every connection, sends its memory's address and key, and echoes each message. However a
 * connection ends, every posted request completes exactly once.
 */
final class EchoService implements AutoCloseable {
  /** Messages that a peer may have sent without having received their echoes. */
  static final int RECEIVES = 16;

  /** Maximum length of a message. */
  static final int SLOT = 16 << 10;

  private static final int MOST_COMPLETIONS = 4096;
  private static final long NAP_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Caller caller;
  private final ConnectionListener listener;
  private final Map<Integer, Served> byQueuePair = new HashMap<>();
  private volatile boolean stopped;
  private volatile int open;

  /** One connection: posted requests that have not completed. */
  private static final class Served {
    final ConnectionIdentifier identifier;
    final QueuePair pair;
    int posted;
    boolean established;
    boolean over;

    /** Slots and lengths of messages that arrived before the connection was established. */
    final List<int[]> early = new ArrayList<>();

    Served(ConnectionIdentifier identifier, QueuePair pair) {
      this.identifier = identifier;
      this.pair = pair;
    }
  }

  EchoService(URI address) {
    caller = new Caller(address, MOST_COMPLETIONS);
    listener = caller.manager.listen(address, 64);
  }

  /** Returns the number of open connections. */
  int open() {
    return open;
  }

  /** Serves until it is stopped. */
  void run() throws InterruptedException {
    int idle = 0;
    while (!stopped) {
      ConnectionEvent event = caller.manager.await(idle > 100 ? NAP_NANOS : 0);
      if (event != null) {
        handle(event);
      }
      WorkCompletion done = caller.poll();
      idle = event == null && done == null ? idle + 1 : 0;
      if (done != null) {
        handle(done);
      }
      open = byQueuePair.size();
    }
  }

  void stop() {
    stopped = true;
  }

  private void handle(ConnectionEvent event) {
    switch (event.type()) {
      case CONNECT_REQUEST -> accept(event.identifier());
      case ESTABLISHED -> {
        QueuePair pair = Objects.requireNonNull(event.identifier().queuePair());
        Served served = Objects.requireNonNull(byQueuePair.get(pair.number()));
        served.established = true;
        served.early.forEach(message -> echo(served, message[0], message[1]));
        served.early.clear();
      }
      case DISCONNECTED, CONNECT_ERROR -> {
        QueuePair pair = event.identifier().queuePair();
        Served served = pair == null ? null : byQueuePair.get(pair.number());
        if (served == null) {
          throw new AssertionError(event + " of no connection");
        }
        if (event.type() == ConnectionEvent.Type.CONNECT_ERROR) {
          pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        }
        served.over = true;
        closeIfDone(served);
      }
      default -> throw new AssertionError("unexpected: " + event);
    }
  }

  private void accept(ConnectionIdentifier identifier) {
    QueuePair pair = caller.queuePair(identifier);
    Served served = new Served(identifier, pair);
    byQueuePair.put(pair.number(), served);
    for (int slot = 0; slot < RECEIVES; slot++) {
      receive(served, slot);
    }
    ByteBuffer lent = ByteBuffer.allocate(12);
    lent.putLong(caller.region.address()).putInt(caller.region.rkey()).flip();
    identifier.accept(new ConnectionParameters(lent, 4, 4, 7, 7));
  }

  private void receive(Served served, int slot) {
    served.posted++;
    served.pair.postReceive(
        new ReceiveWorkRequest(1)
            .id(slot)
            .buffer(caller.region.address() + (long) slot * SLOT, SLOT, caller.region.lkey()));
  }

  private void handle(WorkCompletion done) {
    Served served = byQueuePair.get(done.queuePairNumber());
    if (served == null) {
      throw new AssertionError("a completion of no connection: " + done);
    }
    served.posted--;
    int slot = (int) done.workRequestId();
    if (!done.isSuccess()) {
      if (!Load.ENDS.contains(done.status())) {
        throw new AssertionError("a service's request ended with " + done);
      }
      closeIfDone(served);
    } else if (served.over) {
      closeIfDone(served);
    } else if (done.opcode() == CompletionOpcode.RECV) {
      if (served.established) {
        echo(served, slot, done.byteLength());
      } else {
        served.early.add(new int[] {slot, done.byteLength()});
      }
    } else {
      receive(served, slot);
    }
  }

  private void echo(Served served, int slot, int length) {
    served.posted++;
    served.pair.postSend(
        new SendWorkRequest(1)
            .id(slot)
            .send()
            .signaled()
            .buffer(caller.region.address() + (long) slot * SLOT, length, caller.region.lkey()));
  }

  private void closeIfDone(Served served) {
    if (served.over && served.posted == 0) {
      byQueuePair.remove(served.pair.number());
      served.pair.close();
      served.identifier.close();
    }
  }

  /** Closes the service; called after the last {@link #run}. */
  @Override
  public void close() {
    List<Served> left = new ArrayList<>(byQueuePair.values());
    left.forEach(each -> each.pair.close());
    left.forEach(each -> each.identifier.close());
    listener.close();
    caller.close();
  }
}
