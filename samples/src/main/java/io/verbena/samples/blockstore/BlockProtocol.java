// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.verbena.MalformedTokenException;
import io.verbena.RemoteMemory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The messages of the block store, over RDMA and TCP alike. All numbers are big-endian.
 *
 * <pre>
 *  0       1      2
 *  | magic | type | fields
 *
 *  LIST                           LISTING      count 4, block...
 *  STAT     name                  STATUS       block
 *  LOCATE   name                  LOCATION     token 24
 *  TICKETS                        RESERVATION  number 4, token 24
 *  RESERVE  block                 STREAMING    stream 4, messages 4, length 8
 *  STREAM   name, length 4        STORED       block
 *                                 REFUSED      refusal 1, text
 *
 *  name, text: length 2, UTF-8    block: name, length 8, digest 32
 * </pre>
 */
final class BlockProtocol {
  /** The longest message that is not a piece of a block, in bytes. */
  static final int MAX_LENGTH = 1 << 20;

  /** The longest name, in bytes of UTF-8. */
  static final int MAX_NAME_LENGTH = 255;

  /** The longest reason of a refusal, in characters; more is cut. */
  static final int MAX_REASON_LENGTH = 1_000;

  private static final int MAGIC = 0xB5;

  private static final int LIST = 1;
  private static final int STAT = 2;
  private static final int LOCATE = 3;
  private static final int TICKETS = 4;
  private static final int RESERVE = 5;
  private static final int STREAM = 6;

  private static final int LISTING = 65;
  private static final int STATUS = 66;
  private static final int LOCATION = 67;
  private static final int RESERVATION = 68;
  private static final int STREAMING = 69;
  private static final int STORED = 70;
  private static final int REFUSED = 71;

  private static final int USUAL_LENGTH = 128;
  private static final ErrorCode[] ERROR_CODES = ErrorCode.values();

  private BlockProtocol() {}

  /** A message that belongs to the caller. */
  static ByteBuf encode(Request request, ByteBufAllocator allocator) {
    ByteBuf out = allocator.directBuffer(USUAL_LENGTH);
    try {
      write(request, out);
      return out;
    } catch (RuntimeException e) {
      out.release();
      throw e;
    }
  }

  /** A message that belongs to the caller. */
  static ByteBuf encode(Reply reply, ByteBufAllocator allocator) {
    ByteBuf out = allocator.directBuffer(USUAL_LENGTH);
    try {
      write(reply, out);
      return out;
    } catch (RuntimeException e) {
      out.release();
      throw e;
    }
  }

  /**
   * Reads a request from {@code in}, which stays the caller's.
   *
   * @throws ProtocolException naming the field, its value and what was expected
   */
  static Request decodeRequest(ByteBuf in) {
    return decode(in, BlockProtocol::readRequest);
  }

  /**
   * Reads a reply from {@code in}, which stays the caller's.
   *
   * @throws ProtocolException naming the field, its value and what was expected
   */
  static Reply decodeReply(ByteBuf in) {
    return decode(in, BlockProtocol::readReply);
  }

  private static void write(Request request, ByteBuf out) {
    if (request instanceof Request.ListBlocks) {
      begin(out, LIST);
    } else if (request instanceof Request.StatBlock stat) {
      writeName(begin(out, STAT), stat.name());
    } else if (request instanceof Request.LocateBlock locate) {
      writeName(begin(out, LOCATE), locate.name());
    } else if (request instanceof Request.LocateTickets) {
      begin(out, TICKETS);
    } else if (request instanceof Request.ReserveBlock reserve) {
      writeBlock(begin(out, RESERVE), reserve.block());
    } else if (request instanceof Request.StreamBlock stream) {
      writeName(begin(out, STREAM), stream.name());
      out.writeInt(stream.messageLength());
    } else {
      throw new AssertionError(request);
    }
  }

  private static Request readRequest(int type, ByteBuf in) {
    return switch (type) {
      case LIST -> new Request.ListBlocks();
      case STAT -> new Request.StatBlock(readName(in));
      case LOCATE -> new Request.LocateBlock(readName(in));
      case TICKETS -> new Request.LocateTickets();
      case RESERVE -> new Request.ReserveBlock(readBlock(in));
      case STREAM -> new Request.StreamBlock(readName(in), in.readInt());
      default -> throw unknownType(type, LIST, STREAM);
    };
  }

  private static void write(Reply reply, ByteBuf out) {
    if (reply instanceof Reply.Listing listing) {
      begin(out, LISTING).writeInt(listing.blocks().size());
      listing.blocks().forEach(block -> writeBlock(out, block));
    } else if (reply instanceof Reply.Status status) {
      writeBlock(begin(out, STATUS), status.block());
    } else if (reply instanceof Reply.Location location) {
      location.memory().encode(begin(out, LOCATION));
    } else if (reply instanceof Reply.Reservation reservation) {
      reservation.memory().encode(begin(out, RESERVATION).writeInt(reservation.number()));
    } else if (reply instanceof Reply.Streaming streaming) {
      begin(out, STREAMING).writeInt(streaming.stream()).writeInt(streaming.messages());
      out.writeLong(streaming.length());
    } else if (reply instanceof Reply.Stored stored) {
      writeBlock(begin(out, STORED), stored.block());
    } else if (reply instanceof Reply.Refused refused) {
      String reason = refused.reason();
      begin(out, REFUSED).writeByte(refused.refusal().code());
      writeText(out, reason.substring(0, Math.min(reason.length(), MAX_REASON_LENGTH)));
    } else {
      throw new AssertionError(reply);
    }
  }

  private static Reply readReply(int type, ByteBuf in) {
    return switch (type) {
      case LISTING -> new Reply.Listing(readBlocks(in));
      case STATUS -> new Reply.Status(readBlock(in));
      case LOCATION -> new Reply.Location(RemoteMemory.decode(in));
      case RESERVATION -> new Reply.Reservation(in.readInt(), RemoteMemory.decode(in));
      case STREAMING ->
          new Reply.Streaming(in.readInt(), readCount("messages", in), readLength("length", in));
      case STORED -> new Reply.Stored(readBlock(in));
      case REFUSED -> new Reply.Refused(readErrorCode(in), readText(in));
      default -> throw unknownType(type, LISTING, REFUSED);
    };
  }

  private static ProtocolException unknownType(int type, int first, int last) {
    return new ProtocolException("type: " + type + " (expected: " + first + ".." + last + ")");
  }

  private static ByteBuf begin(ByteBuf out, int type) {
    return out.writeByte(MAGIC).writeByte(type);
  }

  private interface Body<T> {
    T read(int type, ByteBuf in);
  }

  private static <T> T decode(ByteBuf in, Body<T> body) {
    try {
      int magic = in.readUnsignedByte();
      check(magic == MAGIC, "magic", magic, Integer.toString(MAGIC));
      T message = body.read(in.readUnsignedByte(), in);
      check(!in.isReadable(), "bytes after the message", in.readableBytes(), "0");
      return message;
    } catch (IndexOutOfBoundsException e) {
      throw new ProtocolException("message of " + in.writerIndex() + " bytes ends too soon", e);
    } catch (MalformedTokenException e) {
      throw new ProtocolException("token: " + e.getMessage(), e);
    }
  }

  private static void writeBlock(ByteBuf out, BlockInfo block) {
    writeName(out, block.name());
    out.writeLong(block.length());
    block.sha256().encode(out);
  }

  private static BlockInfo readBlock(ByteBuf in) {
    return new BlockInfo(readName(in), readLength("length", in), Sha256.decode(in));
  }

  private static List<BlockInfo> readBlocks(ByteBuf in) {
    int count = readCount("count", in);
    List<BlockInfo> blocks = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      blocks.add(readBlock(in));
    }
    return blocks;
  }

  private static void writeName(ByteBuf out, String name) {
    int length = name.getBytes(StandardCharsets.UTF_8).length;
    if (length < 1 || length > MAX_NAME_LENGTH) {
      throw new IllegalArgumentException(
          "length of name: " + length + " (expected: 1.." + MAX_NAME_LENGTH + ")");
    }
    writeText(out, name);
  }

  private static String readName(ByteBuf in) {
    String name = readText(in);
    int length = name.getBytes(StandardCharsets.UTF_8).length;
    check(
        length >= 1 && length <= MAX_NAME_LENGTH,
        "length of name",
        length,
        "1.." + MAX_NAME_LENGTH);
    return name;
  }

  private static void writeText(ByteBuf out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeShort(bytes.length).writeBytes(bytes);
  }

  private static String readText(ByteBuf in) {
    return in.readCharSequence(in.readUnsignedShort(), StandardCharsets.UTF_8).toString();
  }

  private static ErrorCode readErrorCode(ByteBuf in) {
    int code = in.readUnsignedByte();
    for (ErrorCode refusal : ERROR_CODES) {
      if (refusal.code() == code) {
        return refusal;
      }
    }
    throw new ProtocolException("refusal: " + code + " (expected: 1.." + ERROR_CODES.length + ")");
  }

  private static int readCount(String field, ByteBuf in) {
    int count = in.readInt();
    check(count >= 0, field, count, ">= 0");
    return count;
  }

  private static long readLength(String field, ByteBuf in) {
    long length = in.readLong();
    check(length >= 0, field, length, ">= 0");
    return length;
  }

  private static void check(boolean valid, String field, long value, String expected) {
    if (!valid) {
      throw new ProtocolException(field + ": " + value + " (expected: " + expected + ")");
    }
  }
}
