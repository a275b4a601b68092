// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp.frame;

import java.nio.ByteBuffer;

/**
 * A request or a reply of MPA.
 *
 * @param kind request or reply
 * @param revision 1 (RFC 5044), 2 (RFC 6581), or 0, which came before both
 * @param markers whether the sender wants markers in what it receives
 * @param crc whether the sender wants CRCs
 * @param rejects of a reply, whether it refuses the connection
 * @param extensions whether the sender supports the atomics and immediate data of RFC 7306; in a
 *     reply, only if the request has the flag, too. No RFC defines this flag, and RFC 7306, section
 *     1.1, leaves the matter to the programs; a peer that does not set the flag supports neither
 * @param locked whether the sender wants the bytes after the frames to be sealed, or refuses
 *     because of that. No RFC defines this flag, either
 * @param depths the words for the depths, or {@link Depths#ABSENT} if there are none
 * @param privateData the program's private data, read-only
 */
public record MpaFrame(
    Kind kind,
    int revision,
    boolean markers,
    boolean crc,
    boolean rejects,
    boolean extensions,
    boolean locked,
    Depths depths,
    ByteBuffer privateData) {
  /** The revision with words for the depths. */
  public static final int ENHANCED_REVISION = 2;

  /** The number of bytes that {@link #length} needs. */
  public static final int HEADER_LENGTH = MpaLayout.HEADER_LENGTH;

  /** The longest frame. */
  public static final int MAX_LENGTH = HEADER_LENGTH + MpaLayout.MAX_PRIVATE_LENGTH;

  private static final int BYTE = 0xff;
  private static final int SHORT = 0xffff;

  /** Creates a frame without extensions. */
  public MpaFrame(
      Kind kind,
      int revision,
      boolean markers,
      boolean crc,
      boolean rejects,
      Depths depths,
      ByteBuffer privateData) {
    this(kind, revision, markers, crc, rejects, /* extensions= */ false, depths, privateData);
  }

  /** Creates a frame without a lock. */
  public MpaFrame(
      Kind kind,
      int revision,
      boolean markers,
      boolean crc,
      boolean rejects,
      boolean extensions,
      Depths depths,
      ByteBuffer privateData) {
    this(
        kind,
        revision,
        markers,
        crc,
        rejects,
        extensions,
        /* locked= */ false,
        depths,
        privateData);
  }

  /** Returns the reply that refuses this request. */
  public MpaFrame refusal(ByteBuffer data) {
    return new MpaFrame(
        Kind.REPLY,
        revision,
        /* markers= */ false,
        crc,
        /* rejects= */ true,
        depths.present ? Depths.of(0, 0) : Depths.ABSENT,
        data);
  }

  /** Returns the same frame, with a lock and with other private data. */
  public MpaFrame withLock(ByteBuffer data) {
    return new MpaFrame(
        kind, revision, markers, crc, rejects, extensions, /* locked= */ true, depths, data);
  }

  /** The two kinds of frames. */
  public enum Kind {
    REQUEST,
    REPLY
  }

  /**
   * The depths, which are two words of the private data (RFC 6581, section 9).
   *
   * @param present whether the frame has the words
   * @param responder the most READs that the sender serves at a time
   * @param initiator the most READs that the sender has outstanding at a time
   * @param peerToPeer whether the initiator sends an empty message first, so that the responder may
   *     send, too
   * @param bySend whether that message may be a SEND
   * @param byWrite whether it may be a WRITE
   * @param byRead whether it may be a READ
   */
  public record Depths(
      boolean present,
      int responder,
      int initiator,
      boolean peerToPeer,
      boolean bySend,
      boolean byWrite,
      boolean byRead) {
    /** The depths of a frame without the words. */
    public static final Depths ABSENT = new Depths(false, 0, 0, false, false, false, false);

    /** The highest depth, which leaves the matter to the programs. */
    public static final int UNSAID = MpaLayout.DEPTH_MASK;

    /** Returns depths without peer-to-peer. */
    public static Depths of(int responder, int initiator) {
      return new Depths(true, responder, initiator, false, false, false, false);
    }

    /** Returns the same depths, with an empty WRITE to make the responder ready. */
    public Depths readyByWrite() {
      return new Depths(present, responder, initiator, true, false, true, false);
    }

    /** Returns the same depths, with an empty READ to make the responder ready. */
    public Depths readyByRead() {
      return new Depths(present, responder, initiator, true, false, false, true);
    }
  }

  /**
   * Returns the first fault in the bytes of a frame that have come so far, from position to limit.
   * {@link MpaFault#TOO_SHORT} means only that more bytes are needed.
   */
  public static MpaFault check(Kind kind, ByteBuffer bytes) {
    int from = bytes.position();
    int length = bytes.remaining();
    byte[] key = MpaLayout.key(kind);
    for (int i = 0; i < Math.min(length, key.length); i++) {
      if (bytes.get(from + i) != key[i]) {
        return MpaFault.KEY;
      }
    }
    if (length < HEADER_LENGTH) {
      return MpaFault.TOO_SHORT;
    }
    int flags = bytes.get(from + MpaLayout.FLAGS_OFFSET);
    int data = privateLength(bytes, from);
    if ((bytes.get(from + MpaLayout.REVISION_OFFSET) & BYTE) > ENHANCED_REVISION) {
      return MpaFault.REVISION;
    }
    if (data > MpaLayout.MAX_PRIVATE_LENGTH) {
      return MpaFault.PRIVATE_LENGTH;
    }
    if ((flags & MpaLayout.ENHANCED) != 0 && data < MpaLayout.WORDS_LENGTH) {
      return MpaFault.DEPTHS;
    }
    return length < HEADER_LENGTH + data ? MpaFault.TOO_SHORT : MpaFault.NONE;
  }

  /**
   * Returns the length of a frame that begins with these {@link #HEADER_LENGTH} bytes, which have
   * no fault.
   */
  public static int length(ByteBuffer bytes) {
    return HEADER_LENGTH + privateLength(bytes, bytes.position());
  }

  /**
   * Reads a frame in which {@link #check} finds no fault; copies its private data.
   *
   * @throws IllegalArgumentException if the frame has a fault
   */
  public static MpaFrame parse(Kind kind, ByteBuffer bytes) {
    if (check(kind, bytes) != MpaFault.NONE) {
      throw new IllegalArgumentException("frame: " + check(kind, bytes) + " (expected: NONE)");
    }
    int from = bytes.position();
    int flags = bytes.get(from + MpaLayout.FLAGS_OFFSET);
    boolean enhanced = (flags & MpaLayout.ENHANCED) != 0;
    int words = enhanced ? MpaLayout.WORDS_LENGTH : 0;
    byte[] data = new byte[privateLength(bytes, from) - words];
    bytes.get(from + HEADER_LENGTH + words, data);
    return new MpaFrame(
        kind,
        bytes.get(from + MpaLayout.REVISION_OFFSET) & BYTE,
        (flags & MpaLayout.MARKERS) != 0,
        (flags & MpaLayout.CRC) != 0,
        (flags & MpaLayout.REJECT) != 0,
        (flags & MpaLayout.EXTENSION_BITS) == MpaLayout.extensions(kind),
        (flags & MpaLayout.LOCKED) != 0,
        enhanced ? depths(bytes, from + HEADER_LENGTH) : Depths.ABSENT,
        ByteBuffer.wrap(data).asReadOnlyBuffer());
  }

  private static int privateLength(ByteBuffer bytes, int from) {
    return bytes.getShort(from + MpaLayout.PRIVATE_LENGTH_OFFSET) & SHORT;
  }

  private static Depths depths(ByteBuffer bytes, int at) {
    int responder = bytes.getShort(at + MpaLayout.RESPONDER_WORD) & SHORT;
    int initiator = bytes.getShort(at + MpaLayout.INITIATOR_WORD) & SHORT;
    return new Depths(
        true,
        responder & MpaLayout.DEPTH_MASK,
        initiator & MpaLayout.DEPTH_MASK,
        (responder & MpaLayout.PEER_TO_PEER) != 0,
        (responder & MpaLayout.READY_BY_SEND) != 0,
        (initiator & MpaLayout.READY_BY_WRITE) != 0,
        (initiator & MpaLayout.READY_BY_READ) != 0);
  }

  /** Returns the bytes of this frame. */
  public ByteBuffer bytes() {
    int words = depths.present ? MpaLayout.WORDS_LENGTH : 0;
    int data = words + privateData.remaining();
    ByteBuffer bytes = ByteBuffer.allocate(HEADER_LENGTH + data);
    bytes.put(MpaLayout.key(kind));
    bytes.put(
        (byte)
            ((markers ? MpaLayout.MARKERS : 0)
                | (crc ? MpaLayout.CRC : 0)
                | (rejects ? MpaLayout.REJECT : 0)
                | (extensions ? MpaLayout.extensions(kind) : 0)
                | (locked ? MpaLayout.LOCKED : 0)
                | (depths.present ? MpaLayout.ENHANCED : 0)));
    bytes.put((byte) revision);
    bytes.putShort((short) data);
    if (depths.present) {
      bytes.putShort(
          (short)
              (depths.responder
                  | (depths.peerToPeer ? MpaLayout.PEER_TO_PEER : 0)
                  | (depths.bySend ? MpaLayout.READY_BY_SEND : 0)));
      bytes.putShort(
          (short)
              (depths.initiator
                  | (depths.byWrite ? MpaLayout.READY_BY_WRITE : 0)
                  | (depths.byRead ? MpaLayout.READY_BY_READ : 0)));
    }
    return bytes.put(privateData.duplicate()).flip();
  }
}
