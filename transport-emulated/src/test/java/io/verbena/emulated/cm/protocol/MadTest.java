// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.cm.protocol.CmMessage.Answered;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MadTest {
  private static final Gid SOURCE = new Gid(1, 2);
  private static final Gid DESTINATION = new Gid(3, 4);

  static List<CmMessage> messages() {
    return List.of(
        request(),
        new CmMessage.Reply(
            9, 1, 2, 0xabcdef, 0x123456, 255, 254, 7, 0x1122_3344_5566_7788L, data(196)),
        new CmMessage.ReadyToUse(9, 1, 2, data(224)),
        new CmMessage.Reject(9, 1, 2, Answered.REPLY, 28, 0, data(148)),
        new CmMessage.Reject(9, 1, 0, Answered.REQUEST, 4, 77, data(148)),
        new CmMessage.Reject(9, 0, 2, Answered.REQUEST, CmReason.INVALID_MTU, 3, data(148)),
        new CmMessage.Reject(9, 0, 2, Answered.REQUEST, CmReason.INVALID_MTU, 0, data(148)),
        new CmMessage.Receipt(9, 1, 2, Answered.REQUEST, 31, data(222)),
        new CmMessage.DisconnectRequest(9, 1, 2, 0xfedcba, data(220)),
        new CmMessage.DisconnectReply(9, 1, 2, data(224)),
        new CmMessage.ServiceRequest(9, 1, 0xffff, 0x1111234L, data(216)),
        new CmMessage.ServiceReply(9, 2, 1, 0xabcdef, 0x1111234L, 0x8001_0000, data(136)));
  }

  private static CmMessage.Request request() {
    return new CmMessage.Request(
        0x0102_0304_0506_0708L,
        0xaabb_ccdd,
        ServiceId.of(ServiceId.TCP, 7174),
        0x1122_3344_5566_7788L,
        0xabcdef,
        3,
        2,
        2,
        0x654321,
        7,
        0xffff,
        5,
        6,
        SOURCE,
        DESTINATION,
        19,
        data(92),
        null);
  }

  private static ByteBuffer data(int length) {
    ByteBuffer data = ByteBuffer.allocate(length);
    for (int i = 0; i < length; i++) {
      data.put(i, (byte) (i + 1));
    }
    return data.asReadOnlyBuffer();
  }

  private static ByteBuffer written(CmMessage message) {
    ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
    Mad.write(message, mad);
    return mad;
  }

  @ParameterizedTest
  @MethodSource("messages")
  void readsWhatItHasWritten(CmMessage message) {
    ByteBuffer mad = written(message);

    assertThat(Mad.check(mad)).isEqualTo(MadFault.NONE);
    assertThat(Mad.read(mad)).isEqualTo(message);
  }

  @Test
  void putsTheFieldsOfARequestWhereTheyBelong() {
    ByteBuffer mad = written(request());

    assertThat(mad.getInt(0)).isEqualTo(0x0107_0203);
    assertThat(mad.getLong(8)).as("transaction").isEqualTo(0x0102_0304_0506_0708L);
    assertThat(mad.getShort(16)).as("attribute").isEqualTo((short) 0x10);
    int data = 24;
    assertThat(mad.getInt(data)).as("communication id").isEqualTo(0xaabb_ccdd);
    assertThat(mad.getLong(data + 8)).as("service id").isEqualTo(0x0106_1c06L);
    assertThat(mad.getLong(data + 16)).as("GUID").isEqualTo(0x1122_3344_5566_7788L);
    assertThat(mad.getInt(data + 32)).as("queue pair, resources").isEqualTo(0xabcdef_03);
    assertThat(mad.get(data + 39)).as("initiator depth").isEqualTo((byte) 2);
    assertThat(mad.get(data + 43) >>> 1 & 3).as("transport").isEqualTo(2);
    assertThat(mad.getInt(data + 44) >>> 8).as("PSN").isEqualTo(0x654321);
    assertThat(mad.get(data + 47) & 7).as("retries").isEqualTo(7);
    assertThat(mad.getShort(data + 48)).as("partition").isEqualTo((short) 0xffff);
    assertThat(mad.get(data + 50)).as("MTU, RNR retries").isEqualTo((byte) 0x56);
    assertThat(mad.getInt(data + 52)).as("LIDs").isEqualTo(-1);
    assertThat(mad.getLong(data + 64)).as("source GID").isEqualTo(SOURCE.low());
    assertThat(mad.getLong(data + 80)).as("destination GID").isEqualTo(DESTINATION.low());
    assertThat((mad.get(data + 95) & 0xff) >>> 3).as("ACK timeout").isEqualTo(19);
    assertThat(mad.get(data + 140)).as("private data").isEqualTo((byte) 1);
  }

  @Test
  void saysTheMtuThatIsGoodBesideTheReasonAsInARequest() {
    CmMessage.Reject reject =
        new CmMessage.Reject(9, 0, 2, Answered.REQUEST, CmReason.INVALID_MTU, 3, data(148));
    ByteBuffer mad = written(reject);

    assertThat(mad.get(24 + 9) >>> 1).as("bytes of information").isEqualTo(1);
    assertThat(mad.get(24 + 12)).as("MTU").isEqualTo((byte) 0x30);
    assertThat(Mad.read(mad.put(24 + 12, (byte) 0x03))).as("to the right").isEqualTo(reject);
  }

  @Test
  void namesWhatIsWrong() {
    assertThat(Mad.check(ByteBuffer.allocate(255))).isEqualTo(MadFault.LENGTH);
    assertThat(fault(mad -> mad.put(0, (byte) 2))).isEqualTo(MadFault.BASE_VERSION);
    assertThat(fault(mad -> mad.put(1, (byte) 3))).isEqualTo(MadFault.CLASS);
    assertThat(fault(mad -> mad.put(2, (byte) 1))).isEqualTo(MadFault.CLASS_VERSION);
    assertThat(fault(mad -> mad.put(3, (byte) 1))).isEqualTo(MadFault.METHOD);
    assertThat(fault(mad -> mad.putShort(16, (short) 0x19))).isEqualTo(MadFault.ATTRIBUTE);
  }

  private static MadFault fault(UnaryOperator<ByteBuffer> damage) {
    return Mad.check(damage.apply(written(request())));
  }

  @Test
  void readsTheAddressesBeforeTheProgramsData() {
    IpAddressing addressing = IpAddressing.ipv4(50_000, 0x0a00_0001, 0x0a00_0002);
    ByteBuffer bytes = ByteBuffer.allocate(Mad.REQUEST_DATA);
    addressing.write(bytes);

    assertThat(bytes.get(1)).as("IP version").isEqualTo((byte) 0x40);
    assertThat(bytes.getInt(16)).as("the last four of sixteen").isEqualTo(0x0a00_0001);
    assertThat(IpAddressing.read(bytes.clear())).isEqualTo(addressing);
    assertThat(IpAddressing.read(ByteBuffer.allocate(IpAddressing.LENGTH - 1))).isNull();
    assertThat(IpAddressing.read(bytes.put(0, (byte) 1))).isNull();
    assertThat(IpAddressing.read(bytes.put(0, (byte) 0).put(1, (byte) 0x50))).isNull();
  }

  @Test
  void tellsTheUdpPortOnlyOfAnHcaThatIsOnAnother() {
    IpAddressing plain = IpAddressing.ipv4(50_000, 0x0a00_0001, 0x0a00_0002);

    assertThat(plain.udpPort()).isEqualTo(4791);
    assertThat(plain.at(4791)).isEqualTo(plain);
    assertThat(plain.at(40_000).udpPort()).isEqualTo(40_000);
    assertThat(IpAddressing.ipv6(1, new Gid(40_000, 1), new Gid(0, 2)).udpPort()).isEqualTo(4791);
  }
}
