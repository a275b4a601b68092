package io.verbena.reactor.connection;

/**
 * Where a {@link DemandSubscription} is fed from, on the loop.
 *
 * @param <T> what it feeds
 */
interface DemandSource<T> {

  /** A new subscriber. */
  void attach(DemandSubscription<T> subscription);

  /** The subscriber cancelled. */
  void detach(DemandSubscription<T> subscription);

  /** The subscriber asked for more. */
  void drain();

  /** The subscriber threw this. */
  void broke(Throwable thrown);
}
