// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.scenario;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.verbs.Device;
import java.util.List;

/** Emulated HCAs in virtual time, and what connects them. */
public interface Network {

  /** Opens another HCA. Its number is that of a port in fault schedules. */
  Device open();

  /** The time in which everything happens. */
  VirtualTime clock();

  /** Executes the next event. Returns false if there is nothing left to do. */
  boolean step();

  /** Records each fault that is injected from now on, as a fault of one packet or byte. */
  void record(List<Fault> into);

  /** Returns what is on its way or open; 0 once nothing is. */
  int left();
}
