// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A connection identifier whose queue pair is watched. */
final class SanitizedIdentifier implements ConnectionIdentifier {
  private final SanitizedManager manager;
  private final ConnectionIdentifier identifier;
  private final TrackedObject tracked;
  private volatile @Nullable SanitizedQueuePair queuePair;

  SanitizedIdentifier(SanitizedManager manager, ConnectionIdentifier identifier, CallSite place) {
    this.manager = manager;
    this.identifier = identifier;
    tracked =
        TrackedObject.of(
            this, manager.watched(), "connection identifier of " + identifier.peer(), place);
  }

  ConnectionIdentifier identifier() {
    return identifier;
  }

  void established() {
    SanitizedQueuePair own = queuePair;
    if (own != null) {
      own.connected();
    }
  }

  @Override
  public ConnectionManager manager() {
    return manager;
  }

  @Override
  public String peer() {
    return identifier.peer();
  }

  @Override
  public @Nullable InetSocketAddress localAddress() {
    return identifier.localAddress();
  }

  @Override
  public @Nullable InetSocketAddress remoteAddress() {
    return identifier.remoteAddress();
  }

  @Override
  public @Nullable QueuePair queuePair() {
    return identifier.queuePair() == null ? null : queuePair;
  }

  @Override
  public QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options) {
    QueuePair created =
        identifier.createQueuePair(Unwrapped.domain(domain), Unwrapped.options(options));
    // The device refuses domains of other devices, and all of its own domains are wrapped.
    SanitizedQueuePair wrapper =
        new SanitizedQueuePair((SanitizedDomain) domain, created, options, CallSite.here());
    queuePair = wrapper;
    return wrapper;
  }

  @Override
  public void connect(ConnectionParameters parameters, long timeoutNanos) {
    identifier.connect(parameters, timeoutNanos);
  }

  @Override
  public void accept(ConnectionParameters parameters) {
    identifier.accept(parameters);
  }

  @Override
  public void reject(ByteBuffer privateData) {
    identifier.reject(privateData);
  }

  @Override
  public void disconnect() {
    identifier.disconnect();
  }

  @Override
  public void close() {
    identifier.close();
    tracked.closed();
    manager.remove(this);
  }
}
