// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.verbena.samples.tcp.TcpConnection;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.Socket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

class TcpBlockStoreTest extends BlockStoreContract<TcpTwin> {
  private final UnpooledByteBufAllocator allocator = new UnpooledByteBufAllocator(true);

  @Override
  TcpTwin start() throws IOException {
    return TcpTwin.start(Block.load(file, allocator), 2, allocator, LIMIT);
  }

  @Override
  Flux<ByteBuf> exchange(Publisher<ByteBuf> messages) {
    TcpConnection connection = twin.clients().connect(twin.address()).block(LIMIT);
    return connection.receive().mergeWith(connection.send(messages).then(Mono.empty()));
  }

  @AfterEach
  void releasesEveryBuffer() {
    twin.close();
    assertThat(allocator.metric().usedDirectMemory()).isZero();
  }

  @Test
  void refusesWhatNeedsOneSidedOperations() {
    Request locate = new Request.LocateBlock(SampleFile.NAME);

    Reply reply =
        exchange(Mono.fromSupplier(() -> BlockProtocol.encode(locate, allocator)))
            .map(BlockStoreContract::decode)
            .blockFirst(LIMIT);

    assertThat(reply)
        .isEqualTo(new Reply.Refused(ErrorCode.NOT_SUPPORTED, "locate needs one-sided operations"));
  }

  @Test
  void refusesARequestThatIsTooLongAndCloses() throws IOException {
    try (Socket socket = new Socket(twin.address().getHost(), twin.address().getPort())) {
      socket.setSoTimeout((int) LIMIT.toMillis());
      new DataOutputStream(socket.getOutputStream()).writeInt(BlockProtocol.MAX_LENGTH + 1);
      DataInputStream in = new DataInputStream(socket.getInputStream());
      byte[] reply = in.readNBytes(in.readInt());

      assertThat(decode(Unpooled.wrappedBuffer(reply)))
          .isEqualTo(
              new Reply.Refused(
                  ErrorCode.MALFORMED, "message length: 1048577 (expected: 0..1048576)"));
      assertThat(in.read()).isEqualTo(-1);
    }
  }
}
