// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.mapped.ReadGrants;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.AddressVector;
import org.jspecify.annotations.Nullable;

/** A packet sink without limits. */
@FunctionalInterface
interface OpenSink extends PacketSink {
  @Override
  default RocePacket packet() {
    return new RocePacket();
  }

  @Override
  default boolean isFull() {
    return false;
  }

  @Override
  default @Nullable PeerWindow window(AddressVector to) {
    return null;
  }

  @Override
  default boolean takesReferences() {
    return false;
  }

  @Override
  default @Nullable ReadGrants readGrants() {
    return null;
  }

  @Override
  default void withdraw(int queuePair) {}

  @Override
  default boolean isBehind() {
    return false;
  }
}
