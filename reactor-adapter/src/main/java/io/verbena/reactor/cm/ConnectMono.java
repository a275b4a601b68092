package io.verbena.reactor.cm;

import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import java.net.URI;
import java.util.function.Supplier;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** A connection, for each subscription its own. */
public final class ConnectMono extends Mono<RdmaConnection> {
  private final URI address;
  private final Supplier<Place> places;

  /**
   * @param places where each next connection is made; may throw {@link RdmaException}
   */
  public ConnectMono(URI address, Supplier<Place> places) {
    this.address = address;
    this.places = places;
  }

  @Override
  public void subscribe(CoreSubscriber<? super RdmaConnection> actual) {
    Place place;
    try {
      place = places.get();
    } catch (RdmaException e) {
      Operators.error(actual, e);
      return;
    }
    actual.onSubscribe(new Dial(address, place, actual));
  }
}
