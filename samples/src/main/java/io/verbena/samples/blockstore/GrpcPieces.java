// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/**
 * Marshals pieces of a block. The sender keeps its pieces, which are copied once, into gRPC's
 * frames; the receiver's pieces are copied from the frames into heap memory.
 */
final class GrpcPieces implements Marshaller<ByteBuf> {

  @Override
  public InputStream stream(ByteBuf piece) {
    return new Piece(piece.duplicate());
  }

  @Override
  public ByteBuf parse(InputStream stream) {
    try {
      byte[] bytes = new byte[stream.available()];
      int length = stream.readNBytes(bytes, 0, bytes.length);
      return Unpooled.wrappedBuffer(bytes, 0, length);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A piece of known length that writes itself into gRPC's buffers. */
  private static final class Piece extends ByteBufInputStream implements KnownLength, Drainable {
    private final ByteBuf bytes;

    Piece(ByteBuf bytes) {
      super(bytes);
      this.bytes = bytes;
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      int length = bytes.readableBytes();
      bytes.readBytes(target, length);
      return length;
    }
  }
}
