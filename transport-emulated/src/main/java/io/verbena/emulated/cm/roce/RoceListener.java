// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.ManagedListener;
import io.verbena.emulated.cm.protocol.CmListener;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.cm.protocol.CmUser;
import io.verbena.emulated.cm.protocol.Communication;
import io.verbena.emulated.cm.protocol.ServiceListener;
import io.verbena.emulated.cm.protocol.ServiceResolution;
import io.verbena.emulated.crypto.SharedSecret;
import org.jspecify.annotations.Nullable;

/** A listener on a port. */
final class RoceListener extends ManagedListener implements CmListener, ServiceListener {
  private final RoceConnectionManager manager;
  private final HostNaming.Claim claim;
  private final long serviceId;
  private final @Nullable SharedSecret key;

  RoceListener(
      RoceConnectionManager manager,
      HostNaming.Claim claim,
      long serviceId,
      int backlog,
      @Nullable SharedSecret key) {
    super(claim.address(), backlog);
    this.claim = claim;
    this.manager = manager;
    this.serviceId = serviceId;
    this.key = key;
  }

  @Override
  public @Nullable SharedSecret key() {
    return key;
  }

  @Override
  public @Nullable CmUser requested(Communication communication, Request request) {
    return reserve()
        ? PassiveRoceConnection.requested(manager, this, communication, request)
        : null;
  }

  @Override
  public boolean asked(ServiceResolution resolution, ServiceRequest request) {
    if (!reserve()) {
      return false;
    }
    RoceDatagrams.requested(manager, this, resolution, request);
    return true;
  }

  HostNaming.Claim claim() {
    return claim;
  }

  long serviceId() {
    return serviceId;
  }

  @Override
  protected void stop() {
    manager.closed(this);
  }
}
