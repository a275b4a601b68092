// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.grpc.Drainable;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor.Marshaller;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;

/** Marshals byte arrays, through the same gRPC interfaces as protobuf messages. */
final class Payload implements Marshaller<byte[]> {
  @Override
  public InputStream stream(byte[] message) {
    return new Bytes(message);
  }

  @Override
  public byte[] parse(InputStream stream) {
    try {
      // The stream contains the whole uncompressed message, so available() is its length.
      byte[] message = new byte[stream.available()];
      if (stream.readNBytes(message, 0, message.length) < message.length || stream.read() >= 0) {
        throw new IOException("not a message of " + message.length + " bytes");
      }
      return message;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class Bytes extends ByteArrayInputStream implements Drainable, KnownLength {
    private Bytes(byte[] message) {
      super(message);
    }

    @Override
    public int drainTo(OutputStream target) throws IOException {
      int length = available();
      target.write(buf, pos, length);
      pos = count;
      return length;
    }
  }
}
