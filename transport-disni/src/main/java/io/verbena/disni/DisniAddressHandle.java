// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.Words.AddressWords;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;

/** An address handle ({@code ibv_create_ah(3)}). */
final class DisniAddressHandle implements AddressHandle {
  private final DisniProtectionDomain domain;
  private final AddressVector vector;
  private final long pointer;
  private volatile boolean closed;

  DisniAddressHandle(DisniProtectionDomain domain, AddressVector vector) {
    this.domain = domain;
    this.vector = vector;
    DisniPort port = domain.device().at();
    Block words =
        Block.of(AddressWords.values())
            .set(AddressWords.GID_HIGH, vector.destination().high())
            .set(AddressWords.GID_LOW, vector.destination().low())
            .set(AddressWords.SGID_INDEX, vector.sourceGidIndex())
            .set(AddressWords.HOP_LIMIT, vector.hopLimit())
            .set(AddressWords.TRAFFIC_CLASS, vector.trafficClass())
            .set(AddressWords.FLOW_LABEL, vector.flowLabel())
            .set(AddressWords.IS_GLOBAL, port.needsRoute(vector) ? 1 : 0)
            .set(AddressWords.LID, vector.lid())
            .set(AddressWords.SL, vector.serviceLevel())
            .set(AddressWords.PORT, port.number());
    long made = domain.device().core().createAddressHandle(domain.pointer(), words.address());
    words.keep();
    pointer = Errno.check("create address handle", made);
  }

  long pointer() {
    return pointer;
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public DisniProtectionDomain protectionDomain() {
    return domain;
  }

  @Override
  public AddressVector vector() {
    return vector;
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      domain.device().context().posters().await();
      int result = domain.device().core().destroyAddressHandle(pointer);
      closed = result >= 0;
      Errno.check("destroy address handle", result);
      domain.closed(DisniProtectionDomain.Kind.ADDRESS_HANDLE);
    }
  }
}
