// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.scenario;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.verbs.Device;
import java.util.List;

/** Emulated HCAs in virtual time, and the wire between them. */
public interface Network {

  /** Opens another HCA. Its number is that of a port in fault schedules. */
  Device open();

  /** Returns the virtual time of all HCAs and of the wire. */
  VirtualTime clock();

  /** Executes the next event. Returns false if no event is left. */
  boolean step();

  /** Adds each fault that is injected from now on to a list, as a fault of one packet or byte. */
  void record(List<Fault> into);

  /** Returns the number of packets in flight, or of open streams and their events; 0 at rest. */
  int left();
}
