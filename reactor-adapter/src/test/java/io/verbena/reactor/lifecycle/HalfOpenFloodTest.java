// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.Unpooled;
import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.emulated.cm.protocol.CmMessage;
import io.verbena.emulated.cm.protocol.IpAddressing;
import io.verbena.emulated.cm.protocol.Mad;
import io.verbena.emulated.cm.protocol.ServiceId;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.wire.UdpGid;
import io.verbena.meters.Backlog;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.wire.Handshake;
import io.verbena.verbs.Gid;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** Tests a server that is flooded with connect requests from peers that never answer. */
@Tag("once")
class HalfOpenFloodTest {
  private static final int MOST = 64;
  private static final int MOST_PER_PEER = 16;
  private static final int REQUESTS = 400;

  /** The receives of a connection, 64 of 12 KiB, rounded up to a part of a slab. */
  private static final long CONNECTION_BYTES = 1 << 20;

  /** The bytes that the allocator registers at once. */
  private static final long SLAB_BYTES = 4 << 20;

  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final Watch watch = new Watch();
  private final RdmaTransport transport =
      RdmaTransport.create(Ends.options().connectTimeout(PATIENCE).meters(watch).build());
  private final RdmaTransport innocent =
      RdmaTransport.create(Ends.options().connectTimeout(PATIENCE).build());
  private final String network =
      "127."
          + (64 + ProcessHandle.current().pid() / 255 % 64)
          + "."
          + ProcessHandle.current().pid() % 255
          + ".";
  private final RdmaServer server =
      transport
          .bind(
              URI.create(
                  "roce://"
                      + network
                      + "1:0?max-half-open="
                      + MOST
                      + "&max-half-open-per-peer="
                      + MOST_PER_PEER),
              connection -> connection.send(connection.receive()))
          .block(Ends.LIMIT);
  private int requests;

  /** Reads how much memory the server's transport has registered. */
  private static final class Watch implements Meters {
    private volatile @Nullable MeteredHca hca;

    @Override
    public HcaMeter hca(MeteredHca used) {
      hca = used;
      return HcaMeter.OFF;
    }

    @Override
    public Meters.Watch watch(String adapter, String provider, Backlog backlog) {
      return () -> {};
    }

    long registeredBytes() {
      MeteredHca used = hca;
      return used == null ? 0 : used.registeredBytes().getAsLong();
    }
  }

  @AfterEach
  void dispose() {
    innocent.dispose();
    transport.dispose();
  }

  @Test
  void requestsOfOneSourceTakeAsMuchAsItsPlacesAndOthersConnect() throws IOException {
    long before = watch.registeredBytes();
    flood(network + "100", REQUESTS);

    awaitMemory(before);
    assertThat(watch.registeredBytes() - before)
        .isLessThanOrEqualTo(MOST_PER_PEER * CONNECTION_BYTES + SLAB_BYTES);
    assertThatAnInnocentClientEchoes();
  }

  @Test
  void requestsOfManySourcesTakeAsMuchAsAllPlacesAndOthersConnect() throws IOException {
    long before = watch.registeredBytes();
    for (int i = 0; i < REQUESTS / 2; i++) {
      flood(network + (10 + i), 2);
    }

    awaitMemory(before);
    assertThat(watch.registeredBytes() - before)
        .isLessThanOrEqualTo(MOST * CONNECTION_BYTES + SLAB_BYTES);
    assertThatAnInnocentClientEchoes();
  }

  private void awaitMemory(long before) {
    await().atMost(Ends.LIMIT).until(() -> watch.registeredBytes() > before);
    long[] last = {-1};
    await()
        .atMost(Ends.LIMIT)
        .pollInterval(Duration.ofMillis(200))
        .until(
            () -> {
              long now = watch.registeredBytes();
              boolean settled = now == last[0];
              last[0] = now;
              return settled;
            });
  }

  private void assertThatAnInnocentClientEchoes() {
    RdmaConnection client =
        innocent
            .connect(URI.create("roce://" + network + "1:" + server.address().getPort()))
            .block(Ends.LIMIT);
    byte[] echo =
        client
            .send(Flux.just(Unpooled.wrappedBuffer(new byte[] {1, 2, 3})))
            .thenMany(client.receive())
            .next()
            .map(Ends::take)
            .block(Ends.LIMIT);
    assertThat(echo).containsExactly(1, 2, 3);
  }

  private void flood(String source, int count) throws IOException {
    InetAddress from = InetAddress.getByName(source);
    InetAddress to = InetAddress.getByName(network + "1");
    Gid ours = UdpGid.of(from, RocePacket.UDP_PORT);
    Gid theirs = UdpGid.of(to, RocePacket.UDP_PORT);
    try (DatagramChannel channel = DatagramChannel.open()) {
      channel.bind(new InetSocketAddress(from, RocePacket.UDP_PORT));
      for (int i = 0; i < count; i++) {
        channel.send(request(ours, theirs), new InetSocketAddress(to, RocePacket.UDP_PORT));
      }
    }
  }

  private ByteBuffer request(Gid from, Gid to) {
    int number = ++requests;
    ByteBuffer data = ByteBuffer.allocate(Mad.REQUEST_DATA);
    IpAddressing.ipv4(number, UdpGid.address(from), UdpGid.address(to)).write(data);
    data.put(
        IpAddressing.LENGTH,
        new Handshake(Handshake.VERSION, 8, 8192, 64, 64, 1 << 20).encode(),
        0,
        24);
    ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
    Mad.write(
        new CmMessage.Request(
            number,
            number,
            ServiceId.of(ServiceId.TCP, server.address().getPort()),
            0,
            100 + number,
            1,
            1,
            0,
            5,
            7,
            0xffff,
            5,
            7,
            from,
            to,
            14,
            data,
            null),
        mad);
    RocePacket frame = RocePacket.direct();
    frame
        .start(PacketOpcode.UD_SEND_ONLY)
        .destinationQueuePair(1)
        .psn(number)
        .queueKey(Mad.QUEUE_KEY)
        .sourceQueuePair(1)
        .append(mad, 0, Mad.LENGTH);
    UdpGid.address(frame, from, to);
    return frame.sourcePort(RocePacket.UDP_PORT).seal().udpPayload();
  }
}
