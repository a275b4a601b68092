// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.cm.protocol.CmMessage.Answered;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectReply;
import io.verbena.emulated.cm.protocol.CmMessage.DisconnectRequest;
import io.verbena.emulated.cm.protocol.CmMessage.ReadyToUse;
import io.verbena.emulated.cm.protocol.CmMessage.Reject;
import io.verbena.emulated.cm.protocol.CmMessage.Reply;
import io.verbena.emulated.cm.protocol.CmMessage.Request;
import io.verbena.emulated.crypto.PacketCipher;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.emulated.wire.VirtualTime;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests two agents with a key, and attacks by somebody without the key. */
class LockedHandshakeTest {
  private static final long PATIENCE = 20_000 * Network.MILLI;
  private static final int RUNS = 100;
  private static final SharedSecret KEY = key(1);
  private static final SharedSecret OTHER = key(2);

  private static SharedSecret key(int first) {
    byte[] bytes = new byte[32];
    bytes[0] = (byte) first;
    return SharedSecret.of(bytes);
  }

  /** A port that only records its messages; the test delivers these or forged ones. */
  private static final class Port implements CmPort, CmListener, CmUser {
    final List<ByteBuffer> sent = new ArrayList<>();
    final List<String> told = new ArrayList<>();
    private final SplittableRandom random;
    private final int address;
    private final @Nullable SharedSecret key;
    final CmAgent agent;
    @Nullable Communication communication;

    Port(int address, @Nullable SharedSecret key) {
      this(address, key, address);
    }

    Port(int address, @Nullable SharedSecret key, long seed) {
      this.address = address;
      this.key = key;
      random = new SplittableRandom(seed);
      agent = new CmAgent(this, new VirtualTime(), PeerLimits.DEFAULT);
      agent.listen(CmProgram.SERVICE, this);
    }

    void ask(Port of) {
      communication = agent.connect(of.gid(), CmProgram.request(4), key, PATIENCE, this);
    }

    /** Returns the last sent message of a kind. */
    ByteBuffer last(Class<? extends CmMessage> kind) {
      for (int i = sent.size() - 1; i >= 0; i--) {
        if (kind.isInstance(Mad.read(sent.get(i)))) {
          return sent.get(i);
        }
      }
      throw new AssertionError(kind + " was not sent");
    }

    void take(ByteBuffer mad, Port from) {
      if (Mad.check(mad) == MadFault.NONE) {
        agent.receive(Mad.read(mad), from.gid());
      }
    }

    Communication communication() {
      return Objects.requireNonNull(communication, "communication");
    }

    @Override
    public @Nullable SharedSecret key() {
      return key;
    }

    @Override
    public CmUser requested(Communication made, Request request) {
      told.add("requested");
      communication = made;
      return this;
    }

    @Override
    public void replied(Reply reply) {
      told.add("replied " + text(reply.privateData()));
    }

    @Override
    public void established() {
      told.add("established");
    }

    @Override
    public void rejected(Reject reject) {
      told.add(("rejected " + reject.reason() + " " + text(reject.privateData())).trim());
    }

    @Override
    public void unreachable(int why) {
      told.add("unreachable");
    }

    @Override
    public void disconnected() {
      told.add("disconnected");
    }

    @Override
    public Gid gid() {
      return UdpGid.of(address, RocePacket.UDP_PORT);
    }

    @Override
    public long guid() {
      return address;
    }

    @Override
    public int mtu() {
      return 5;
    }

    @Override
    public int lockedMtu() {
      return 4;
    }

    @Override
    public void send(CmMessage message, Gid to) {
      ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
      Mad.write(message, mad);
      sent.add(mad);
    }

    @Override
    public boolean isFrom(Gid source, Gid gid) {
      return UdpGid.areNeighbors(source, gid);
    }

    @Override
    public int nextSecret() {
      return random.nextInt();
    }
  }

  /** Two ends, which the test takes through the handshake step by step. */
  private static final class Two {
    final Port active;
    final Port passive;

    Two(@Nullable SharedSecret here, @Nullable SharedSecret there) {
      active = new Port(1, here);
      passive = new Port(2, there);
    }

    Two asked() {
      active.ask(passive);
      passive.take(active.last(Request.class), active);
      return this;
    }

    Two accepted() {
      asked();
      passive.communication().accept(CmProgram.reply());
      return this;
    }

    Two replied() {
      accepted();
      active.take(passive.last(Reply.class), passive);
      return this;
    }

    Two ready() {
      replied();
      assertThat(active.communication().ready()).isTrue();
      return this;
    }

    Two established() {
      ready();
      passive.take(active.last(ReadyToUse.class), active);
      assertThat(passive.told).containsExactly("requested", "established");
      return this;
    }
  }

  private static String text(ByteBuffer data) {
    return StandardCharsets.US_ASCII.decode(data.duplicate()).toString().trim();
  }

  @Test
  void bothEndsHaveTheKeysOfTheConnectionAndNoOtherDo() {
    Two ends = new Two(KEY, KEY).established();
    Two others = new Two(key(1), key(1));
    others.active.nextSecret();
    others.established();

    assertThat(ends.active.told).containsExactly("replied welcome");
    PacketCipher active = packets(ends.active);
    PacketCipher passive = packets(ends.passive);
    assertThat(passes(active, passive)).isTrue();
    assertThat(passes(passive, active)).isTrue();
    assertThat(passes(active, packets(others.passive))).as("another connection").isFalse();
  }

  private static PacketCipher packets(Port of) {
    return Objects.requireNonNull(of.communication().packets(), "lock");
  }

  private static boolean passes(PacketCipher from, PacketCipher to) {
    RocePacket frame = new RocePacket();
    frame.start(PacketOpcode.RC_SEND_ONLY).seal(from, RocePacket.workspace());
    return frame.parse() == PacketFault.NONE
        && frame.open(to, RocePacket.workspace()) == PacketFault.NONE;
  }

  @Test
  void refusesWhoHasAnotherKeyBeforeTheProgramHears() {
    Two ends = new Two(OTHER, KEY).asked();

    assertRefused(ends);
  }

  @Test
  void refusesWhoHasNoKey() {
    Two ends = new Two(null, KEY).asked();

    assertRefused(ends);
  }

  @Test
  void refusesWhoHasAKeyWhereThereIsNone() {
    Two ends = new Two(KEY, null).asked();

    assertRefused(ends);
  }

  private static void assertRefused(Two ends) {
    assertThat(ends.passive.told).isEmpty();
    assertThat(ends.passive.agent.known()).as("places").isZero();
    ends.active.take(ends.passive.last(Reject.class), ends.passive);
    assertThat(ends.active.told).containsExactly("rejected " + CmReason.KEY);
  }

  @Test
  void aReplyOfAnEndThatKnowsNothingOfLocksIsRefused() {
    Two ends = new Two(KEY, KEY).asked();
    Request asked = (Request) Mad.read(ends.active.last(Request.class));
    Reply open = new Reply(asked.transaction(), 77, asked.localId(), 200, 6, 1, 1, 7, 0, nothing());
    ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
    Mad.write(open, mad);

    ends.active.take(mad, ends.passive);

    assertThat(ends.active.told).containsExactly("rejected " + CmReason.KEY);
    Reject reject = (Reject) Mad.read(ends.active.last(Reject.class));
    assertThat(reject.reason()).isEqualTo(CmReason.KEY);
    assertThat(reject.rejected()).isEqualTo(Answered.REPLY);
  }

  private static ByteBuffer nothing() {
    return Mad.padded(ByteBuffer.allocate(0), Mad.REPLY_DATA);
  }

  @Test
  void aRequestForAnotherPortThatHasTheKeyIsRefused() {
    Two ends = new Two(KEY, KEY).asked();
    Port third = new Port(3, KEY);

    third.take(ends.active.last(Request.class), ends.active);

    assertThat(third.told).isEmpty();
    assertThat(third.agent.known()).isZero();
  }

  @Test
  void seesEveryBitOfARequestThatMeansSomething() {
    Two ends = new Two(KEY, KEY).asked();

    flipAll(
        ends.active.last(Request.class),
        flipped -> {
          Port passive = new Port(2, KEY);
          passive.take(flipped, ends.active);
          assertThat(passive.told).isEmpty();
        });
  }

  @Test
  void seesEveryBitOfAReplyThatMeansSomething() {
    ByteBuffer reply = new Two(KEY, KEY).accepted().passive.last(Reply.class);

    flipAll(
        reply,
        flipped -> {
          Two same = new Two(KEY, KEY).accepted();
          assertThat(same.passive.last(Reply.class)).isEqualTo(reply);
          same.active.take(flipped, same.passive);
          assertThat(same.active.told).doesNotContain("replied welcome").hasSizeLessThan(2);
        });
  }

  @Test
  void seesEveryBitOfWhatSaysThatTheActiveEndIsReady() {
    Two ends = new Two(KEY, KEY).ready();

    flipAll(
        ends.active.last(ReadyToUse.class),
        flipped -> {
          ends.passive.take(flipped, ends.active);
          assertThat(ends.passive.told).containsExactly("requested");
        });

    ends.passive.take(ends.active.last(ReadyToUse.class), ends.active);
    assertThat(ends.passive.told).endsWith("established");
  }

  @Test
  void seesEveryBitOfWhatEndsTheConnection() {
    Two ends = new Two(KEY, KEY).established();
    ends.active.communication().disconnect();

    flipAll(
        ends.active.last(DisconnectRequest.class),
        flipped -> {
          ends.passive.take(flipped, ends.active);
          assertThat(ends.passive.told).containsExactly("requested", "established");
        });

    ends.passive.take(ends.active.last(DisconnectRequest.class), ends.active);
    assertThat(ends.passive.told).endsWith("disconnected");
    ends.active.take(ends.passive.last(DisconnectReply.class), ends.passive);
    assertThat(ends.active.communication().isDisconnecting()).isFalse();
  }

  /**
   * Flips each bit in turn and delivers the message, unless the flip leaves all fields the same.
   */
  private static void flipAll(ByteBuffer mad, Consumer<ByteBuffer> arrival) {
    CmMessage message = Mad.read(mad);
    int meant = 0;
    for (int bit = 0; bit < Byte.SIZE * Mad.LENGTH; bit++) {
      ByteBuffer flipped = ByteBuffer.allocate(Mad.LENGTH).put(0, mad, 0, Mad.LENGTH);
      int at = bit / Byte.SIZE;
      flipped.put(at, (byte) (flipped.get(at) ^ 1 << bit % Byte.SIZE));
      if (Mad.check(flipped) == MadFault.NONE && Mad.read(flipped).equals(message)) {
        continue;
      }
      meant++;
      arrival.accept(flipped);
    }
    assertThat(meant).as("bits that mean something").isGreaterThan(Byte.SIZE * 200);
  }

  @Test
  void whatEndsAConnectionWithoutAProofIsIgnored() {
    Two ends = new Two(KEY, KEY).established();
    Communication active = ends.active.communication();
    int here = ends.passive.communication().localId();
    int there = active.localId();
    ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);

    Mad.write(new DisconnectRequest(1, there, here, 200, data(Mad.DISCONNECT_DATA)), mad);
    ends.passive.take(mad, ends.active);
    Mad.write(new Reject(1, there, here, Answered.OTHER, 28, 0, data(Mad.REJECT_DATA)), mad);
    ends.passive.take(mad, ends.active);
    Mad.write(new Reject(1, here, there, Answered.OTHER, 28, 0, data(Mad.REJECT_DATA)), mad);
    ends.active.take(mad, ends.passive);

    assertThat(ends.passive.told).containsExactly("requested", "established");
    assertThat(ends.active.told).containsExactly("replied welcome");
  }

  private static ByteBuffer data(int length) {
    return Mad.padded(ByteBuffer.allocate(0), length);
  }

  @Test
  void aRecordedExchangePlayedAgainIsNotEstablished() {
    Two recorded = new Two(KEY, KEY).established();
    Port again = new Port(2, KEY, 99);

    again.take(recorded.active.last(Request.class), recorded.active);
    assertThat(again.told).as("of the recorded request").containsExactly("requested");
    again.communication().accept(CmProgram.reply());
    int id = again.communication().localId();
    ByteBuffer ready = ByteBuffer.allocate(Mad.LENGTH);
    ready
        .put(0, recorded.active.last(ReadyToUse.class), 0, Mad.LENGTH)
        .putInt(MadLayout.REMOTE_ID, id);
    again.take(ready, recorded.active);

    assertThat(again.told).containsExactly("requested");
  }

  @Test
  void aRecordedReplyIsNoneToAnotherRequest() {
    Two recorded = new Two(KEY, KEY).replied();
    Two ends = new Two(KEY, KEY);
    ends.active.nextSecret();
    ends.asked();
    int id = ends.active.communication().localId();
    ByteBuffer reply = ByteBuffer.allocate(Mad.LENGTH);
    reply.put(0, recorded.passive.last(Reply.class), 0, Mad.LENGTH).putInt(MadLayout.REMOTE_ID, id);

    ends.active.take(reply, ends.passive);

    assertThat(ends.active.told).containsExactly("rejected " + CmReason.KEY);
  }

  @Test
  void eachRequestHasANonceOfItsOwn() {
    Two ends = new Two(KEY, KEY).asked();
    Request first = (Request) Mad.read(ends.active.last(Request.class));
    ends.active.ask(ends.passive);
    Request second = (Request) Mad.read(ends.active.last(Request.class));

    assertThat(nonce(second)).isNotEqualTo(nonce(first));
  }

  private static ByteBuffer nonce(Request of) {
    return Objects.requireNonNull(of.lock(), "lock").nonce();
  }

  @Test
  void tellsWhatTheProgramSaysWithItsRefusalAndNothingThatOthersSay() {
    Two ends = new Two(KEY, KEY).asked();
    ends.passive.communication().reject(CmReason.CONSUMER_DEFINED, CmProgram.bytes("no room"));
    Reject refusal = (Reject) Mad.read(ends.passive.last(Reject.class));
    ends.active.take(ends.passive.last(Reject.class), ends.passive);
    assertThat(ends.active.told).containsExactly("rejected 28 no room");

    Two others = new Two(KEY, KEY).asked();
    ByteBuffer forged = ByteBuffer.allocate(Mad.LENGTH);
    int id = others.active.communication().localId();
    Function<Integer, Reject> to =
        local ->
            new Reject(
                refusal.transaction(), 0, local, Answered.REQUEST, 28, 0, refusal.privateData());
    Mad.write(to.apply(id), forged);
    others.active.take(forged, others.passive);
    assertThat(others.active.told).containsExactly("rejected 28");
  }

  @Test
  void takesPacketsNoLargerThanLeaveRoomForTheLock() {
    Port active = new Port(1, KEY);
    Port passive = new Port(2, KEY);
    Request large = withMtu(5);
    active.communication = active.agent.connect(passive.gid(), large, KEY, PATIENCE, active);

    passive.take(active.last(Request.class), active);

    Reject reject = (Reject) Mad.read(passive.last(Reject.class));
    assertThat(reject.reason()).isEqualTo(CmReason.INVALID_MTU);
    assertThat(reject.information()).isEqualTo(4);
  }

  private static Request withMtu(int mtu) {
    Request r = CmProgram.request(4);
    return new Request(
        0,
        0,
        CmProgram.SERVICE,
        0,
        100,
        1,
        1,
        0,
        5,
        7,
        0xffff,
        mtu,
        7,
        r.source(),
        r.destination(),
        14,
        r.privateData(),
        null);
  }

  @Test
  void connectsAndDisconnectsWhateverTheNetworkDoes() {
    for (long seed = 0; seed < RUNS; seed++) {
      Network network = new Network(seed, 0.3);
      Network.End a = network.end();
      Network.End b = network.end();
      CmProgram active = new CmProgram(network, KEY);
      CmProgram passive = new CmProgram(network, KEY);
      active.thinks = 50;
      passive.thinks = 50;
      b.agent.listen(CmProgram.SERVICE, passive);

      active.communication = a.agent.connect(b.gid(), CmProgram.request(4), KEY, PATIENCE, active);
      network.runUntil(PATIENCE);
      assertThat(active.told).as("active, seed %d", seed).containsExactly("replied");
      assertThat(passive.told).as("passive, seed %d", seed).containsExactly("established");

      CmProgram leaver = seed % 2 == 0 ? active : passive;
      leaver.communication().disconnect();
      network.runToEnd();

      assertThat((seed % 2 == 0 ? passive : active).told).endsWith("disconnected").hasSize(2);
      assertThat(a.agent.known() + b.agent.known()).as("left, seed %d", seed).isZero();
    }
  }
}
