// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.Capability;
import io.verbena.verbs.PortSpace;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests attributes of connected queue pairs that come from the device or from address options. */
@Tag(FakeRdmaCore.TAG)
final class ConnectionOptionsTest {
  private static final long NANOS = TimeUnit.SECONDS.toNanos(10);

  @BeforeAll
  static void needsTheFake() {
    FakeRdmaCore.assumeLoaded();
  }

  @ParameterizedTest
  @CsvSource({"10.0.1.1, true", "10.0.2.1, false", "10.0.7.1, false"})
  void givesPeersTheRightToAtomicsWhereTheDeviceHasThem(String host, boolean atomics)
      throws Exception {
    try (FakeConnection link = connect(host, "")) {
      assertThat(link.client.query().access().contains(Access.REMOTE_ATOMIC)).isEqualTo(atomics);
      assertThat(link.server.query().access().contains(Access.REMOTE_ATOMIC)).isEqualTo(atomics);
      assertThat(link.device.attributes().supports(Capability.ATOMICS)).isEqualTo(atomics);
    }
  }

  @ParameterizedTest
  @CsvSource({"10.0.1.1, 3", "10.0.5.1, 0"})
  void agreesWithThePeerOnWhatDriversCanDoBeyondTheStandard(String host, int options)
      throws Exception {
    try (FakeConnection link = connect(host, "")) {
      assertThat(FakeRdmaCore.ece(((DisniQueuePair) link.client).pointer())).isEqualTo(options);
      assertThat(FakeRdmaCore.ece(((DisniQueuePair) link.server).pointer())).isEqualTo(options);
    }
  }

  @Test
  void registersForAtomicsOnlyWhereTheDeviceHasThem() {
    try (DisniDevice device = open("10.0.2.1");
        DisniProtectionDomain domain = device.allocateProtectionDomain()) {
      assertThatThrownBy(
              () ->
                  domain
                      .register(
                          ByteBuffer.allocateDirect(8),
                          Set.of(Access.LOCAL_WRITE, Access.REMOTE_ATOMIC))
                      .close())
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.NOT_SUPPORTED))
          .hasMessageContaining("ATOMICS");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.7.1", "10.0.16.1"})
  void saysWhatIwarpHasNot(String host) throws Exception {
    try (FakeConnection link = connect(host, "?tos=104")) {
      assertThat(link.device.attributes().capabilities())
          .doesNotContain(
              Capability.IMMEDIATE_DATA,
              Capability.SEND_WITH_IMMEDIATE,
              Capability.ATOMICS,
              Capability.SEND_QUEUE_DRAIN,
              Capability.LOCAL_READ_SINKS,
              Capability.ADDRESS_VECTORS,
              Capability.REQUEST_STATUS,
              Capability.UNRELIABLE_DATAGRAM);
      assertThatThrownBy(() -> link.client.postSend(new SendWorkRequest().sendWithImmediate(1)))
          .isInstanceOfSatisfying(
              PostException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.NOT_SUPPORTED));
      assertThatThrownBy(
              () -> link.client.modify(new QueuePairAttributes().state(QueuePairState.SQD)))
          .hasMessageContaining("SEND_QUEUE_DRAIN");
    }
  }

  @Test
  void waitsShortlyForAReceiveOfThePeer() throws Exception {
    try (FakeConnection link = connect("10.0.1.1", "")) {
      // Code 12 is 0.64 ms; the kernel's 0 would be 655.36 ms.
      assertThat(link.client.query().minRnrTimer()).isEqualTo(12);
      assertThat(link.server.query().minRnrTimer()).isEqualTo(12);
    }
  }

  @Test
  void takesTimersAndTrafficClassOfTheAddress() throws Exception {
    try (FakeConnection link = connect("10.0.1.1", "?tos=104&ack-timeout=14&rnr-timer=1")) {
      for (QueuePairAttributes pair : List.of(link.client.query(), link.server.query())) {
        AddressVector way = pair.addressVector();
        assertThat(way).isNotNull();
        assertThat(way.trafficClass()).isEqualTo(104);
        assertThat(pair.timeout()).isEqualTo(14);
        assertThat(pair.minRnrTimer()).isEqualTo(1);
      }
    }
  }

  @Test
  void leavesTheTimerOfAnswersToTheKernel() throws Exception {
    try (FakeConnection link = connect("10.0.1.1", "")) {
      assertThat(link.client.query().timeout()).isEqualTo(18);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'', 3", // the RoCE v2 GID, which rdma_cm prefers
    "?gid=2, 2", // the RoCE v1 GID
    "?gid=3, 3"
  })
  void takesTheGidOfTheAddressAndElseTheOneOfRdmaCm(String options, int expected) throws Exception {
    try (FakeConnection link = connect("10.0.1.1", options)) {
      for (QueuePairAttributes pair : List.of(link.client.query(), link.server.query())) {
        AddressVector way = pair.addressVector();
        assertThat(way).isNotNull();
        assertThat(way.sourceGidIndex()).isEqualTo(expected);
      }
    }
  }

  @Test
  void connectsFromTheNetworkOfThePeer() throws Exception {
    // An address on a VLAN; the first address of the device is on another network.
    try (FakeConnection link =
        new FakeConnection(FakeRdmaCore.uri("10.0.103.1:0"), "?device=mlx5_3", false)) {
      assertThat(String.valueOf(link.active.localAddress())).contains("10.0.103.1");
    }
  }

  @Test
  void refusesToListenWithTheGidOfAnotherAddress() {
    URI address = FakeRdmaCore.uri("10.0.3.1:0?gid=9");
    try (DisniDevice device = open("10.0.3.1:0")) {
      try (DisniConnectionManager manager = device.createConnectionManager()) {
        assertThatThrownBy(() -> manager.listen(PortSpace.TCP, address, 1))
            .isInstanceOfSatisfying(
                VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.INVALID))
            .hasMessageContaining("10.0.103.1")
            .hasMessageContaining("10.0.3.1");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "10.0.1.1, gid=6, INVALID, 0..5",
    "10.0.1.1, vector=4, INVALID, 0..3",
    "10.0.7.1, gid=0, NOT_SUPPORTED, none",
    "10.0.7.1, ack-timeout=14, NOT_SUPPORTED, none",
    "10.0.7.1, rnr-timer=1, NOT_SUPPORTED, none",
    "10.0.4.1, gid=0, NOT_SUPPORTED, none",
    "10.0.1.1, cq-period=4096&cq-count=1, INVALID, 1..4095",
    "10.0.5.1, cq-count=16&cq-period=20, NOT_SUPPORTED, none: bnxt_re0",
    "10.0.6.1, cq-count=16&cq-period=20, NOT_SUPPORTED, none: irdma0",
    "10.0.7.1, cq-count=16&cq-period=20, NOT_SUPPORTED, none: siw0",
    "10.0.9.1, cq-count=16&cq-period=20, NOT_SUPPORTED, none: rxe0"
  })
  void refusesWhatTheDeviceDoesNotHaveByName(
      String host, String option, VerbsError error, String expected) {
    URI refused = FakeRdmaCore.uri(host + ":1?" + option);
    String message = option.replaceAll("&.*", "").replace("=", ": ") + " (expected: " + expected;

    assertThatThrownBy(() -> FakeRdmaCore.open(refused).close())
        .isInstanceOfSatisfying(VerbsException.class, e -> assertThat(e.error()).isEqualTo(error))
        .hasMessageContaining(message);
    try (DisniDevice device = open(host);
        DisniConnectionManager manager = device.createConnectionManager()) {
      assertThatThrownBy(() -> manager.resolve(PortSpace.TCP, refused, NANOS))
          .hasMessageContaining(message);
      assertThatThrownBy(() -> manager.listen(PortSpace.TCP, refused, 1))
          .hasMessageContaining(message);
    }
  }

  @Test
  void spreadsChannelsOverTheVectorsOfADevice() {
    try (DisniDevice device = open("10.0.5.1")) {
      List<Integer> vectors = vectors(device, 8);

      assertThat(vectors.subList(0, 4)).containsExactlyInAnyOrder(0, 1, 2, 3);
      assertThat(vectors.subList(4, 8)).isEqualTo(vectors.subList(0, 4));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void takesTheVectorOfTheAddress(int vector) {
    try (DisniDevice device = open("10.0.5.1?vector=" + vector)) {
      assertThat(vectors(device, 2)).containsExactly(vector, vector);
    }
  }

  @ParameterizedTest
  @CsvSource({"'', false", "?relaxed-ordering=false, false", "?relaxed-ordering=true, true"})
  void registersMemoryForWritesInAnyOrderWhereAsked(String option, boolean relaxed) {
    Set<Access> access = Set.of(Access.LOCAL_WRITE);
    int expected = Access.bits(access) | (relaxed ? 1 << 20 : 0);
    try (DisniDevice device = open("10.0.1.1" + option);
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        DisniMemoryRegion region = domain.register(ByteBuffer.allocateDirect(64), access)) {
      assertThat(FakeRdmaCore.access(region.pointer())).isEqualTo(expected);

      region.reregister(null, ByteBuffer.allocateDirect(32), Set.of());

      assertThat(FakeRdmaCore.access(region.pointer())).isEqualTo(relaxed ? 1 << 20 : 0);
      assertThat(region.access()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({"10.0.1.1, 16, 20", "10.0.4.1, 65535, 4095"})
  void moderatesCompletionQueuesWithAChannelWhereAsked(String host, int count, int period) {
    String options = "?cq-count=" + count + "&cq-period=" + period;
    try (DisniDevice device = open(host + options);
        DisniCompletionChannel channel = device.createCompletionChannel();
        DisniCompletionQueue shared = device.createCompletionQueue(4, channel, false);
        DisniCompletionQueue single = device.createCompletionQueue(4, channel, true);
        DisniCompletionQueue polled = device.createCompletionQueue(4, null, false)) {
      long expected = (long) count << 16 | period;

      assertThat(FakeRdmaCore.moderation(shared.pointer())).isEqualTo(expected);
      assertThat(FakeRdmaCore.moderation(single.pointer())).isEqualTo(expected);
      assertThat(FakeRdmaCore.moderation(polled.pointer())).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"10.0.1.1", "10.0.9.1"})
  void moderatesNothingUnlessAsked(String host) {
    try (DisniDevice device = open(host);
        DisniCompletionChannel channel = device.createCompletionChannel();
        DisniCompletionQueue queue = device.createCompletionQueue(4, channel, false)) {
      assertThat(FakeRdmaCore.moderation(queue.pointer())).isEqualTo(-1);
    }
  }

  private static List<Integer> vectors(DisniDevice device, int channels) {
    List<Integer> vectors = new ArrayList<>();
    for (int i = 0; i < channels; i++) {
      try (DisniCompletionChannel channel = device.createCompletionChannel();
          DisniCompletionQueue queue = device.createCompletionQueue(4, channel, i % 2 == 0)) {
        vectors.add(FakeRdmaCore.vector(queue.pointer()));
      }
    }
    return vectors;
  }

  private static DisniDevice open(String address) {
    return FakeRdmaCore.open(FakeRdmaCore.uri(address));
  }

  /** Connects with these options at both ends. */
  private static FakeConnection connect(String host, String options) throws Exception {
    return new FakeConnection(FakeRdmaCore.uri(host + ":0" + options), "", false);
  }
}
