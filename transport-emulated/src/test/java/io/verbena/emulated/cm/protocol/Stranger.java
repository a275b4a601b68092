// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.cm.protocol.CmMessage.Answered;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectReply;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectRequest;
import io.verbena.emulated.cm.protocol.CmMessage.ReadyToUse;
import io.verbena.emulated.cm.protocol.CmMessage.Receipt;
import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceReply;
import io.verbena.emulated.cm.protocol.CmMessage.ServiceRequest;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Sends every kind of message to a port under any address: made up, replayed, with a wrong answer,
 * or with changed bytes. Sees the messages to its own addresses, or all if it overhears.
 */
final class Stranger {
  /** Its own addresses, where it receives messages even if it does not overhear. */
  private static final int[] OWN = {200, 201};

  /** Addresses where nobody answers. */
  private static final int[] VICTIMS = {100, 101, 102};

  private static final int[] PORTS = {RocePacket.UDP_PORT, RocePacket.UDP_PORT, 53, 40_000};
  private static final int[] SMALL_IDS = {0, 1, 2, 3};
  private static final List<Answered> ANSWERED = List.of(Answered.values());
  private static final int KINDS = 9;
  private static final int MEMORY = 40;

  /** First of a range of attributes around the known ones, including LAP and APR (0x19, 0x1a). */
  private static final int FIRST_ATTRIBUTE = 0x0e;

  private static final int ATTRIBUTES = 0x10;

  /** A message that the stranger has seen. */
  private record Heard(CmMessage message, Gid from, Gid to) {}

  private final RandomCmRun run;
  private final SplittableRandom random;
  private final boolean overhears;
  private final List<Heard> heard = new ArrayList<>();

  Stranger(RandomCmRun run, boolean overhears) {
    this.run = run;
    this.overhears = overhears;
    random = run.random;
  }

  /** Shows the stranger a message that a port sends. */
  void hears(CmMessage message, Gid from, Gid to) {
    boolean own = UdpGid.address(to) >= OWN[0];
    if (own || overhears) {
      Heard one = new Heard(message, from, to);
      if (heard.size() < MEMORY) {
        heard.add(one);
      } else {
        heard.set(random.nextInt(MEMORY), one);
      }
    }
  }

  /** Sends one message. */
  void act() {
    CountingPort target = run.anyPort();
    int source = anyAddress();
    CmMessage message;
    if (heard.isEmpty() || run.oneIn(3)) {
      message = any(source, id(), id());
    } else {
      Heard about = heard.get(random.nextInt(heard.size()));
      boolean replays = run.oneIn(4);
      boolean answers = random.nextBoolean();
      CountingPort known = run.portAt(answers ? about.from : about.to);
      target = known == null ? target : known;
      if (!run.oneIn(8)) {
        source = UdpGid.address(answers ? about.to : about.from);
      }
      CmMessage like = about.message;
      message =
          replays
              ? like
              : answers
                  ? any(source, like.remoteId() == 0 ? id() : like.remoteId(), like.localId())
                  : any(source, like.localId(), like.remoteId());
    }
    ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
    Mad.write(message, mad);
    target.arrive(spoilt(mad), source);
  }

  private int anyAddress() {
    return switch (random.nextInt(4)) {
      case 0 -> OWN[random.nextInt(OWN.length)];
      case 1 -> UdpGid.address(run.anyPort().gid());
      default -> VICTIMS[random.nextInt(VICTIMS.length)];
    };
  }

  private int id() {
    return random.nextBoolean() ? SMALL_IDS[random.nextInt(SMALL_IDS.length)] : random.nextInt();
  }

  /** Truncates one message of 40, changes the attribute of one of 40, and bytes of one of five. */
  private ByteBuffer spoilt(ByteBuffer mad) {
    if (run.oneIn(40)) {
      return mad.limit(random.nextInt(Mad.LENGTH));
    }
    if (run.oneIn(40)) {
      int attribute = FIRST_ATTRIBUTE + random.nextInt(ATTRIBUTES);
      mad.putShort(MadLayout.ATTRIBUTE_OFFSET, (short) attribute);
    } else if (run.oneIn(5)) {
      for (int changes = 1 + random.nextInt(8); changes > 0; changes--) {
        mad.put(
            MadLayout.LOCAL_ID + random.nextInt(Mad.LENGTH - MadLayout.LOCAL_ID),
            (byte) random.nextInt());
      }
    }
    return mad;
  }

  private CmMessage any(int source, int localId, int remoteId) {
    long transaction = random.nextInt(4);
    Answered answered = ANSWERED.get(random.nextInt(ANSWERED.size()));
    int status = random.nextInt(4);
    return switch (random.nextInt(KINDS)) {
      case 0 -> {
        int claimed = run.oneIn(10) ? anyAddress() : source;
        Gid gid = UdpGid.of(claimed, PORTS[random.nextInt(PORTS.length)]);
        yield request(run, transaction, localId, gid, service(RandomProgram.CONNECTIONS));
      }
      case 1 -> reply(localId, remoteId, random.nextInt(5));
      case 2 -> new ReadyToUse(transaction, localId, remoteId, data(Mad.READY_DATA));
      case 3 ->
          new Reject(
              transaction,
              localId,
              run.oneIn(4) ? 0 : remoteId,
              answered,
              random.nextInt(40),
              0,
              data(Mad.REJECT_DATA));
      case 4 ->
          new Receipt(
              transaction, localId, remoteId, answered, random.nextInt(32), data(Mad.RECEIPT_DATA));
      case 5 ->
          new DisconnectRequest(
              transaction, localId, remoteId, random.nextInt(5), data(Mad.DISCONNECT_DATA));
      case 6 -> new DisconnectReply(transaction, localId, remoteId, data(Mad.READY_DATA));
      case 7 -> serviceRequest(run, transaction, localId, service(RandomProgram.DATAGRAMS));
      default -> serviceReply(remoteId, status);
    };
  }

  private long service(long listened) {
    return run.oneIn(5) ? listened + random.nextInt(3) : listened;
  }

  private static ByteBuffer data(int length) {
    return Mad.padded(ByteBuffer.allocate(0), length);
  }

  static Request request(RandomCmRun run, long transaction, int localId, Gid source, long service) {
    boolean odd = run.oneIn(20);
    return new Request(
        transaction,
        localId,
        service,
        0,
        100,
        1,
        1,
        odd ? run.random.nextInt(4) : 0,
        5,
        7,
        0xffff,
        odd ? run.random.nextInt(8) : 5,
        7,
        source,
        source,
        14,
        data(Mad.REQUEST_DATA),
        null);
  }

  static Reply reply(int localId, int remoteId, int queuePair) {
    return new Reply(0, localId, remoteId, queuePair, 6, 1, 1, 7, 0, data(Mad.REPLY_DATA));
  }

  static ServiceRequest serviceRequest(
      RandomCmRun run, long transaction, int localId, long service) {
    ByteBuffer data = ByteBuffer.allocate(Mad.SERVICE_REQUEST_DATA);
    if (run.random.nextBoolean()) {
      int port = PORTS[run.random.nextInt(PORTS.length)];
      IpAddressing.ipv4(1, 2, 3).at(port).write(data);
    }
    return new ServiceRequest(transaction, localId, 0xffff, service, data.clear());
  }

  static ServiceReply serviceReply(int remoteId, int status) {
    return new ServiceReply(
        0, remoteId, status, 1, RandomProgram.DATAGRAMS, 1, data(Mad.SERVICE_REPLY_DATA));
  }
}
