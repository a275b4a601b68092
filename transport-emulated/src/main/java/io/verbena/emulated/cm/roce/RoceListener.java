// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.protocol.CmListener;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.cm.protocol.CmUser;
import io.verbena.emulated.cm.protocol.Communication;
import io.verbena.emulated.cm.protocol.ServiceListener;
import io.verbena.emulated.cm.protocol.ServiceResolution;
import io.verbena.emulated.lock.LockKey;
import io.verbena.verbs.ConnectionListener;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** A port that is listened on, and how many requests to it wait to be taken. */
final class RoceListener implements ConnectionListener, CmListener, ServiceListener {
  private final RoceConnectionManager manager;
  private final URI address;
  private final long serviceId;
  private final int backlog;
  private final @Nullable LockKey key;
  private int waiting;
  private boolean closed;

  RoceListener(
      RoceConnectionManager manager,
      URI address,
      long serviceId,
      int backlog,
      @Nullable LockKey key) {
    this.manager = manager;
    this.address = address;
    this.serviceId = serviceId;
    this.backlog = backlog;
    this.key = key;
  }

  @Override
  public @Nullable LockKey key() {
    return key;
  }

  @Override
  public @Nullable CmUser requested(Communication communication, Request request) {
    return claim() ? RoceConnection.requested(manager, this, communication, request) : null;
  }

  @Override
  public boolean asked(ServiceResolution resolution, ServiceRequest request) {
    if (!claim()) {
      return false;
    }
    RoceDatagrams.requested(manager, this, resolution, request);
    return true;
  }

  private synchronized boolean claim() {
    if (closed || waiting == backlog) {
      return false;
    }
    waiting++;
    return true;
  }

  synchronized void taken() {
    waiting--;
  }

  long serviceId() {
    return serviceId;
  }

  @Override
  public URI address() {
    return address;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    manager.closed(this);
  }
}
