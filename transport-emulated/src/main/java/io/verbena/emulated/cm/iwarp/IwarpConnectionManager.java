// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.iwarp;

import io.verbena.emulated.address.IwarpAddress;
import io.verbena.emulated.cm.DrivenConnectionManager;
import io.verbena.emulated.cm.ManagedIdentifier;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.iwarp.IwarpFabric;
import io.verbena.verbs.Capability;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.provider.Range;
import java.io.IOException;
import java.net.BindException;
import java.net.URI;

/** The connection manager of an iWARP device, which connects by MPA frames. */
final class IwarpConnectionManager extends DrivenConnectionManager {
  private final IwarpFabric fabric;

  IwarpConnectionManager(EmulatedDevice device, IwarpFabric fabric) {
    super(device);
    this.fabric = fabric;
  }

  IwarpFabric fabric() {
    return fabric;
  }

  @Override
  public IwarpListener listen(PortSpace space, URI address, int backlog) {
    require(space);
    IwarpAddress asked = IwarpAddress.parse(address);
    Range.check("listen", "backlog", backlog, 1, MAX_BACKLOG);
    opened(Kind.LISTENER);
    IwarpListener listener = null;
    try {
      listener = IwarpListener.open(this, asked, backlog);
      return listener;
    } catch (BindException e) {
      throw new VerbsException(
          VerbsError.ADDRESS_IN_USE, "listen: " + address + ": " + e.getMessage(), e);
    } catch (IOException e) {
      throw new VerbsException(VerbsError.IO, "listen: " + address + ": " + e, e);
    } finally {
      if (listener == null) {
        closed(Kind.LISTENER);
      }
    }
  }

  @Override
  public ConnectionIdentifier resolve(PortSpace space, URI address, long timeoutNanos) {
    require(space);
    IwarpAddress to = IwarpAddress.parse(address);
    if (to.port() == 0) {
      throw new VerbsException(
          VerbsError.INVALID, "resolve: " + address + ": port: 0 (expected: 1..65535)");
    }
    IwarpConnection resolved = IwarpConnection.resolved(this, to);
    raise(
        new ConnectionEvent(
            ConnectionEvent.Type.ADDR_RESOLVED,
            resolved,
            null,
            0,
            ManagedIdentifier.NO_DATA,
            0,
            0));
    return resolved;
  }

  private void require(PortSpace space) {
    if (space == PortSpace.UDP) {
      device().attributes().require(Capability.UNRELIABLE_DATAGRAM);
    }
  }

  void closed(IwarpListener listener) {
    withdraw(listener);
    closed(Kind.LISTENER);
  }

  @Override
  protected void released() {}
}
