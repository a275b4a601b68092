// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.cm.local.LocalConnectionManagers;
import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.hca.DeviceLimits;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.Scheduled;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.emulated.wire.Wire;
import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Gid;
import io.verbena.verbs.Mtu;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import java.util.EnumSet;
import java.util.SplittableRandom;

/** A fabric in virtual time over any wire, driven by a test. */
final class DrivenFabric extends PacketFabric {
  static final int PAYLOAD = Mtu.MTU_256.bytes();

  private final VirtualTime time;
  private final FlowControl flow;

  DrivenFabric(VirtualTime time, Wire wire, FlowControl flow) {
    super(new Secrets(new SplittableRandom(7)), time, wire);
    this.time = time;
    this.flow = flow;
  }

  EmulatedDevice open() {
    return EmulatedDevice.open(this, DeviceLimits.FULL, new LocalConnectionManagers());
  }

  /** Runs until this time. */
  void run(long until) {
    enter();
    try {
      boolean more = true;
      while (more) {
        more = time.runDue() || serve() || time.advance(until);
      }
    } finally {
      leave();
    }
  }

  static void connect(QueuePair pair, QueuePair to, Gid gid, int timeout, int retryCount) {
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.INIT)
            .pkeyIndex(0)
            .port(1)
            .access(EnumSet.of(Access.REMOTE_WRITE, Access.REMOTE_READ)));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTR)
            .addressVector(AddressVector.to(gid))
            .pathMtu(Mtu.MTU_256)
            .destinationQueuePair(to.number())
            .receivePsn(1)
            .maxDestinationReadAtomic(1)
            .minRnrTimer(1));
    pair.modify(
        new QueuePairAttributes()
            .state(QueuePairState.RTS)
            .timeout(timeout)
            .retryCount(retryCount)
            .rnrRetry(1)
            .sendPsn(1)
            .maxReadAtomic(1));
  }

  @Override
  protected FlowControl flowControl() {
    return flow;
  }

  @Override
  public void wake() {}

  @Override
  public Scheduled schedule(EmulatedDevice device, Runnable task, long delayNanos) {
    return time.schedule(delayNanos, task)::cancel;
  }
}
