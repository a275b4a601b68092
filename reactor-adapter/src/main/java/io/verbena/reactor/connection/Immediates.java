package io.verbena.reactor.connection;

import io.verbena.RdmaConnection.Immediate;
import io.verbena.reactor.wire.ProtocolException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The peer's immediates, kept until they are asked for. They have credits of their own, so that an
 * end which never asks for any stalls its peer's notices and nothing else.
 */
final class Immediates implements DemandSource<Immediate> {
  private final Connection connection;
  private final Grant grant;
  private final int window;
  private final ArrayDeque<Immediate> queue = new ArrayDeque<>();
  private @Nullable DemandSubscription<Immediate> subscriber;
  private boolean delivering;
  private boolean ended;
  private @Nullable Throwable error;

  Immediates(Connection connection, int window) {
    this.connection = connection;
    this.window = window;
    grant = new Grant(window, Math.max(1, window / 4));
  }

  int announce() {
    return grant.announce();
  }

  boolean due() {
    return grant.due();
  }

  /**
   * One arrived.
   *
   * @throws ProtocolException if the peer had no credit for it
   */
  void arrived(int value, int length) {
    if (!grant.arrive() || length < 0) {
      throw ProtocolException.malformed(
          length < 0 ? "immediate length" : "immediates on their way",
          length < 0 ? length : window + 1L,
          length < 0 ? ">= 0" : "<= " + window);
    }
    queue.add(new Immediate(value, length));
    drain();
  }

  @Override
  public void attach(DemandSubscription<Immediate> subscription) {
    if (subscriber != null) {
      subscription.fail(
          new IllegalStateException("immediates: it has a subscriber (expected: one at a time)"));
      return;
    }
    subscriber = subscription;
    drain();
  }

  @Override
  public void detach(DemandSubscription<Immediate> subscription) {
    if (subscriber == subscription) {
      subscriber = null;
    }
  }

  @Override
  public void broke(Throwable thrown) {
    connection.broke(thrown);
  }

  @Override
  public void drain() {
    if (delivering) {
      return;
    }
    delivering = true;
    try {
      DemandSubscription<Immediate> to = subscriber;
      while (to != null && !queue.isEmpty() && to.demand() > 0) {
        grant.free();
        to.next(queue.remove());
        to = subscriber;
      }
    } finally {
      delivering = false;
    }
    endIfDelivered();
    connection.endTurnLater();
  }

  /** No more will come. */
  void end(@Nullable Throwable why) {
    if (!ended) {
      ended = true;
      error = why;
    }
    endIfDelivered();
  }

  private void endIfDelivered() {
    DemandSubscription<Immediate> to = subscriber;
    if (!ended || delivering || !queue.isEmpty() || to == null) {
      return;
    }
    subscriber = null;
    Throwable why = error;
    if (why == null) {
      to.complete();
    } else {
      to.fail(why);
    }
  }

  /** Forgets what was not delivered. */
  void discard() {
    queue.clear();
    endIfDelivered();
  }
}
