// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.InvalidProtocolBufferException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.jspecify.annotations.Nullable;

/**
 * The layout of a message: a header, and after it a protobuf message of Ratis. Network byte order.
 *
 * <pre>{@code
 *  0        1          2        4         8                16
 * +--------+----------+--------+---------+----------------+-----------
 * | kind   | operation| 0      | stream  | call           | body ...
 * +--------+----------+--------+---------+----------------+-----------
 * }</pre>
 */
final class CallLayout {
  /** A request; its body is that of its operation. */
  static final int REQUEST = 1;

  /** The reply to a request. */
  static final int REPLY = 2;

  /** The request failed; the body is a serialized exception, as with Ratis's other RPC types. */
  static final int FAILURE = 3;

  static final int HEADER_LENGTH = 16;

  private static final int KIND = 0;
  private static final int OPERATION = 1;
  private static final int STREAM = 4;
  private static final int CALL = 8;

  /** The private data of a client's connect: a server of another version refuses it. */
  private static final byte[] HELLO = "verbena-ratis-1".getBytes(StandardCharsets.US_ASCII);

  private CallLayout() {}

  /** Returns the private data of a connection request. */
  static ByteBuffer hello() {
    return ByteBuffer.wrap(HELLO).asReadOnlyBuffer();
  }

  /** Returns whether the private data of a connection request is {@link #hello}. */
  static boolean isHello(ByteBuffer privateData) {
    return privateData.equals(ByteBuffer.wrap(HELLO));
  }

  /** Returns an error text if a message is longer than the transport can send; else null. */
  static @Nullable String tooLong(MessageLite body, int longest) {
    long length = HEADER_LENGTH + (long) body.getSerializedSize();
    return length <= longest
        ? null
        : body.getClass().getSimpleName()
            + ": "
            + length
            + " bytes (expected: <= "
            + longest
            + ", RdmaOptions.maxMessageSize)";
  }

  /**
   * Returns a message, which belongs to the caller.
   *
   * @param operation the operation of a request; else 0
   */
  static ByteBuf message(
      ByteBufAllocator allocator, int kind, int operation, int stream, long call, MessageLite body)
      throws IOException {
    int length = body.getSerializedSize();
    ByteBuf message = header(allocator, kind, operation, stream, call, length);
    try {
      CodedOutputStream out =
          CodedOutputStream.newInstance(message.nioBuffer(HEADER_LENGTH, length));
      body.writeTo(out);
      out.flush();
      message.writerIndex(HEADER_LENGTH + length);
      return message;
    } catch (IOException | RuntimeException e) {
      message.release();
      throw e;
    }
  }

  /** Returns a message for a call that failed, which belongs to the caller. */
  static ByteBuf failure(ByteBufAllocator allocator, long call, byte[] exception) {
    return header(allocator, FAILURE, 0, 0, call, exception.length).writeBytes(exception);
  }

  private static ByteBuf header(
      ByteBufAllocator allocator, int kind, int operation, int stream, long call, int length) {
    return allocator
        .directBuffer(HEADER_LENGTH + length)
        .writeByte(kind)
        .writeByte(operation)
        .writeShort(0)
        .writeInt(stream)
        .writeLong(call);
  }

  static int kind(ByteBuf message) {
    return message.getUnsignedByte(message.readerIndex() + KIND);
  }

  static int operation(ByteBuf message) {
    return message.getUnsignedByte(message.readerIndex() + OPERATION);
  }

  static int stream(ByteBuf message) {
    return message.getInt(message.readerIndex() + STREAM);
  }

  static long call(ByteBuf message) {
    return message.getLong(message.readerIndex() + CALL);
  }

  /** Returns the body. All bytes are copied, because Ratis keeps log entries and contents. */
  static <T> T body(ByteBuf message, Parser<T> parser) throws InvalidProtocolBufferException {
    return parser.parseFrom(bytes(message));
  }

  /**
   * Returns the body of a request to install a snapshot. The bytes of the snapshot's files are
   * shared with the message: Ratis writes them to disk before it replies. All others are copied,
   * because Ratis logs the request later, and hands configurations to the state machine.
   */
  static InstallSnapshotRequestProto snapshotBody(ByteBuf message) throws IOException {
    InstallSnapshotRequestProto shared = sharedBody(message, InstallSnapshotRequestProto.parser());
    if (!shared.hasSnapshotChunk()) {
      return body(message, InstallSnapshotRequestProto.parser());
    }
    InstallSnapshotRequestProto.Builder others = shared.toBuilder();
    others.getSnapshotChunkBuilder().clearFileChunks();
    InstallSnapshotRequestProto.Builder copy =
        InstallSnapshotRequestProto.parseFrom(others.build().toByteString()).toBuilder();
    copy.getSnapshotChunkBuilder().addAllFileChunks(shared.getSnapshotChunk().getFileChunksList());
    return copy.build();
  }

  /** Returns the body. Its byte fields are shared with the message, which must outlive them. */
  private static <T> T sharedBody(ByteBuf message, Parser<T> parser) throws IOException {
    var in = UnsafeByteOperations.unsafeWrap(bytes(message)).newCodedInput();
    in.enableAliasing(true);
    T body = parser.parseFrom(in);
    in.checkLastTagWas(0);
    return body;
  }

  /** Returns a copy of the bytes of the body. */
  static byte[] bodyBytes(ByteBuf message) {
    ByteBuffer body = bytes(message);
    byte[] copy = new byte[body.remaining()];
    body.get(copy);
    return copy;
  }

  private static ByteBuffer bytes(ByteBuf message) {
    return message.nioBuffer(
        message.readerIndex() + HEADER_LENGTH, message.readableBytes() - HEADER_LENGTH);
  }
}
