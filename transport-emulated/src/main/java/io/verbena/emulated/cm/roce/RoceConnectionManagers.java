// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import io.verbena.emulated.cm.protocol.CmAgent;
import io.verbena.emulated.cm.protocol.PeerLimits;
import io.verbena.emulated.hca.ConnectionManagerFactory;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.packet.HostFabric;
import io.verbena.verbs.ConnectionManager;

/** Creates the connection managers of one HCA, which share the agent of its port. */
public final class RoceConnectionManagers implements ConnectionManagerFactory {
  private final HostFabric fabric;
  private final CmAgent agent;
  private final HostNaming naming;

  /**
   * Creates the agent of an HCA; called before the HCA's first device is opened.
   *
   * @param limits the limits on the connections of peers
   * @param naming the mapping of addresses to peers and listeners
   */
  public RoceConnectionManagers(HostFabric fabric, PeerLimits limits, HostNaming naming) {
    this.fabric = fabric;
    this.naming = naming;
    ManagementPort port = new ManagementPort(fabric);
    agent = new CmAgent(port, fabric.timeline(), limits);
    port.serve(agent);
    fabric.management(port);
  }

  @Override
  public ConnectionManager create(EmulatedDevice device) {
    return new RoceConnectionManager(device, fabric, agent, naming);
  }
}
