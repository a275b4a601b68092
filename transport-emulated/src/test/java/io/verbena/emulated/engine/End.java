// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.mapped.ReadGrants;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** One end of a wire: an engine with its host and send queue. */
final class End {
  final int number;
  final TestHost host = new TestHost();
  final TestRing sends = new TestRing();
  final QueuePairAttributes attributes = new QueuePairAttributes();
  final QueuePairEngine engine;

  /** Takes the packets of this end. */
  OpenSink out = (frame, to) -> {};

  /** Withdraws the payload that the packets of a queue pair refer to. */
  IntConsumer withdrawn = queuePair -> {};

  /** Grants for reading memory without a packet, of this end and its peer. */
  @Nullable ReadGrants grants;

  /** The window shared with other queue pairs that send to the same peer. */
  @Nullable PeerWindow window;

  /** Whether the wire has no room. */
  boolean full;

  /** Whether received packets are still waiting to be processed. */
  boolean behind;

  End(
      QueuePairType type,
      int number,
      boolean sharedReceives,
      ManualTimeline time,
      FlowControl flow) {
    this.number = number;
    engine =
        new QueuePairEngine(
            new EngineOptions(type, number, sharedReceives, 8, 1 << 30, Pair.MTU, flow),
            host,
            sends,
            time,
            new OpenSink() {
              @Override
              public void send(RocePacket frame, AddressVector to) {
                out.send(frame, to);
              }

              @Override
              public boolean isFull() {
                return full;
              }

              @Override
              public @Nullable PeerWindow window(AddressVector to) {
                return window;
              }

              @Override
              public boolean takesReferences() {
                return host.shares;
              }

              @Override
              public @Nullable ReadGrants readGrants() {
                return grants;
              }

              @Override
              public void withdraw(int queuePair) {
                withdrawn.accept(queuePair);
              }

              @Override
              public boolean isBehind() {
                return behind;
              }
            });
    host.ready = this::run;
  }

  void modify(QueuePairState to) {
    engine.modify(to, attributes);
    run();
  }

  void post(SendWorkRequest request) {
    queue(request);
    run();
  }

  /** Posts without giving the engine a chance to run. */
  void queue(SendWorkRequest request) {
    sends.post(request);
    engine.posted();
  }

  void postReceive(ReceiveWorkRequest request) {
    host.receives.add(request);
    engine.posted();
    run();
  }

  void receive(RocePacket frame) {
    engine.receive(frame);
    run();
  }

  void run() {
    while (engine.run(16) && !full) {
      // Repeat as long as the engine has more to send.
    }
  }
}
