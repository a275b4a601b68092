// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.testing.hca;

import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SharedReceiveQueue;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A connection whose queue pair completes into limited queues. */
record LimitedIdentifier(
    ConnectionIdentifier inner, ConnectionManager manager, LimitedDevice device)
    implements ConnectionIdentifier {
  @Override
  public String peer() {
    if (inner.queuePair() != null) {
      device.fault().at(Fault.Place.PEER);
    }
    return inner.peer();
  }

  @Override
  public @Nullable InetSocketAddress localAddress() {
    return inner.localAddress();
  }

  @Override
  public @Nullable InetSocketAddress remoteAddress() {
    return inner.remoteAddress();
  }

  @Override
  public @Nullable QueuePair queuePair() {
    return inner.queuePair();
  }

  @Override
  public QueuePair createQueuePair(ProtectionDomain domain, QueuePairOptions options) {
    Fault fault = device.fault();
    fault.at(Fault.Place.CREATE_QUEUE_PAIR);
    QueuePairOptions plain =
        QueuePairOptions.reliable(
                plain(options.sendQueue()),
                plain(options.receiveQueue()),
                options.maxSend(),
                options.maxReceive())
            .withScatterGather(options.maxSendScatterGather(), options.maxReceiveScatterGather())
            .withInlineData(options.maxInlineData());
    SharedReceiveQueue shared = options.sharedReceiveQueue();
    if (shared != null) {
      plain = plain.withSharedReceiveQueue(fault.plain(shared));
    }
    return fault.in(inner.createQueuePair(fault.plain(domain), plain));
  }

  private static CompletionQueue plain(CompletionQueue queue) {
    return queue instanceof LimitedQueue limited ? limited.inner() : queue;
  }

  @Override
  public void connect(ConnectionParameters parameters, long timeoutNanos) {
    device.fault().at(Fault.Place.CONNECT);
    inner.connect(parameters, timeoutNanos);
  }

  @Override
  public void accept(ConnectionParameters parameters) {
    device.fault().at(Fault.Place.ACCEPT);
    inner.accept(parameters);
  }

  @Override
  public void reject(ByteBuffer privateData) {
    inner.reject(privateData);
  }

  @Override
  public void disconnect() {
    inner.disconnect();
  }

  @Override
  public void close() {
    device.close(inner, inner::close);
  }
}
