// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.MethodDescriptor.Marshaller;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Short messages. gRPC may drop messages silently, so they hold nothing that must be released.
 *
 * @param encoder returns a buffer that the caller owns
 * @param decoder reads a message from a buffer that the caller owns
 */
record GrpcMessages<T>(
    BiFunction<T, ByteBufAllocator, ByteBuf> encoder, Function<ByteBuf, T> decoder)
    implements Marshaller<T> {

  @Override
  public InputStream stream(T message) {
    ByteBuf bytes = encoder.apply(message, UnpooledByteBufAllocator.DEFAULT);
    try {
      return new ByteArrayInputStream(ByteBufUtil.getBytes(bytes));
    } finally {
      bytes.release();
    }
  }

  @Override
  public T parse(InputStream stream) {
    try {
      return decoder.apply(Unpooled.wrappedBuffer(stream.readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
