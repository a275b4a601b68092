// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.RdmaConnection;
import io.verbena.RdmaTransport;
import io.verbena.core.testing.Addresses;
import io.verbena.meters.Backlog;
import io.verbena.meters.ConnectionMeter;
import io.verbena.meters.ConnectionState;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.hca.Fault;
import io.verbena.reactor.testing.hca.LimitedProvider;
import io.verbena.reactor.wire.FrameLayout;
import io.verbena.reactor.wire.RecordLayout;
import io.verbena.verbs.SendOpcode;
import io.verbena.verbs.SendWorkRequest;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Tests which message frames are posted with inline data. */
@Tag("once")
class InlineTest {
  private static final String COSTLY = "emulated://inline?mode=async&seed=1";
  private static final int LONGEST_INLINE = 256;

  /** The bytes of a frame that carries one message, without those of the message. */
  private static final int OVERHEAD = FrameLayout.HEADER_LENGTH + RecordLayout.HEADER_LENGTH;

  private final Sends sends = new Sends();

  /** Records the length of each frame that a client posts, inline and gathered. */
  private static final class Sends extends HcaMeter implements Meters {
    final Queue<Integer> inline = new ConcurrentLinkedQueue<>();
    final Queue<Integer> gathered = new ConcurrentLinkedQueue<>();

    @Override
    public HcaMeter hca(MeteredHca hca) {
      return this;
    }

    @Override
    public Watch watch(String adapter, String provider, Backlog backlog) {
      return () -> {};
    }

    @Override
    public ConnectionMeter connection(ConnectionState state, int slots) {
      return new ConnectionMeter() {
        @Override
        public void posted(int slot, SendWorkRequest request) {
          ByteBuffer data = request.inlineData();
          if (data != null) {
            inline.add(data.remaining());
          } else if (request.opcode() == SendOpcode.SEND) {
            gathered.add((int) request.buffers().totalLength());
          }
        }
      };
    }
  }

  /** Sends a message of each length from a client on {@code hca}. */
  private void send(String hca, int... lengths) {
    send(URI.create(hca), URI.create(hca), lengths);
  }

  private void send(URI server, URI client, int... lengths) {
    RdmaTransport serverSide = RdmaTransport.create(Ends.options().build());
    RdmaTransport clientSide = RdmaTransport.create(Ends.options().meters(sends).build());
    try {
      serverSide
          .bind(server, connection -> connection.receive().doOnNext(ByteBuf::release).then())
          .block(Ends.LIMIT);
      RdmaConnection connected = clientSide.connect(client).block(Ends.LIMIT);
      for (int length : lengths) {
        connected.send(Mono.fromSupplier(() -> message(length))).block(Ends.LIMIT);
      }
    } finally {
      clientSide.dispose();
      serverSide.dispose();
    }
  }

  private static ByteBuf message(int length) {
    return Ends.fill(Unpooled.buffer(length), length, length);
  }

  @Test
  void shortFramesAreInlineWhereAPostHasAPrice() {
    int longest = LONGEST_INLINE - OVERHEAD;

    send(COSTLY, 8, longest, longest + 8, 1000);

    assertThat(sends.inline).contains(8 + OVERHEAD, LONGEST_INLINE);
    assertThat(sends.inline).allMatch(length -> length <= LONGEST_INLINE);
    assertThat(sends.gathered).containsExactly(LONGEST_INLINE + 8, 1000 + OVERHEAD);
  }

  @Test
  void noneIsLongerThanTheDeviceTakes() {
    int longest = 64 - OVERHEAD;

    send(COSTLY + "&max-inline-data=64", longest, longest + 8);

    assertThat(sends.inline).contains(64).allMatch(length -> length <= 64);
    assertThat(sends.gathered).containsExactly(72);
  }

  @Test
  void nothingIsInlineOnADeviceWithoutInlineData() {
    URI address = Addresses.of("inline");
    // This place makes the device report {@code hasCostlyPosts()}.
    Fault.Place costly = Fault.Place.POST_OWN_RECEIVE;

    send(address, LimitedProvider.faulty(address, costly, Fault.Kind.EXCEPTION), 8, 100);

    assertThat(sends.inline).isEmpty();
    assertThat(sends.gathered).contains(8 + OVERHEAD, 104 + OVERHEAD);
  }

  @Test
  void nothingIsInlineWhereAPostCostsNothing() {
    send("emulated://inline", 8, 100);

    assertThat(sends.inline).isEmpty();
    assertThat(sends.gathered).contains(8 + OVERHEAD, 104 + OVERHEAD);
  }
}
