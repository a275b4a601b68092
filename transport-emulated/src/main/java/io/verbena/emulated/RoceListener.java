package io.verbena.emulated;

import io.verbena.emulated.cm.CmListener;
import io.verbena.emulated.cm.CmMessage.Request;
import io.verbena.emulated.cm.CmUser;
import io.verbena.emulated.cm.Communication;
import io.verbena.verbs.ConnectionListener;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/** A port that is listened on, and how many requests to it wait to be taken. */
final class RoceListener implements ConnectionListener, CmListener {
  private final RoceConnectionManager manager;
  private final URI address;
  private final long serviceId;
  private final int backlog;
  private int waiting;
  private boolean closed;

  RoceListener(RoceConnectionManager manager, URI address, long serviceId, int backlog) {
    this.manager = manager;
    this.address = address;
    this.serviceId = serviceId;
    this.backlog = backlog;
  }

  @Override
  public @Nullable CmUser requested(Communication communication, Request request) {
    synchronized (this) {
      if (closed || waiting == backlog) {
        return null;
      }
      waiting++;
    }
    return RoceConnection.requested(manager, this, communication, request);
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
