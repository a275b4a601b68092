// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaConnection.Immediate;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory.Right;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * The blocks that one client is writing. Each has a number, which the client sends when it has
 * written all bytes; then the client loses access, the digest is checked, and the block joins the
 * catalog. Unfinished blocks are dropped when the connection ends. Thread-safe.
 */
final class Uploads implements AutoCloseable {
  /** Blocks that a client may have reserved at a time. */
  static final int CAPACITY = 4;

  private static final int MAX_LENGTH = Integer.MAX_VALUE - 64;

  private final BlockCatalog catalog;
  private final RdmaMemory memory;
  private final Map<Integer, Upload> reserved = new HashMap<>();
  private int lastNumber;
  private boolean closed;

  Uploads(BlockCatalog catalog, RdmaMemory memory) {
    this.catalog = catalog;
    this.memory = memory;
  }

  private record Upload(Block block, RdmaMemory.Region region) {
    void drop() {
      region.close();
      block.content().release();
    }
  }

  /**
   * Reserves memory, which takes the time to clear it.
   *
   * @throws RefusedException if the length or the number of reservations is out of range
   * @throws MemoryLimitException at the ceiling of registered memory
   */
  synchronized Reply reserve(BlockInfo info) {
    if (info.length() > MAX_LENGTH) {
      throw new RefusedException(
          ErrorCode.BAD_LENGTH, "length: " + info.length() + " (expected: 0.." + MAX_LENGTH + ")");
    }
    if (closed || reserved.size() >= CAPACITY) {
      throw new RefusedException(
          ErrorCode.NO_SPACE, "reserved: " + reserved.size() + " (expected: < " + CAPACITY + ")");
    }
    int length = (int) info.length();
    ByteBuf content = memory.allocator().directBuffer(length, length);
    try {
      content.writeZero(length);
      RdmaMemory.Region region = memory.register(content.nioBuffer(), Set.of(Right.WRITE));
      lastNumber++;
      reserved.put(lastNumber, new Upload(new Block(info, content), region));
      return new Reply.Reservation(lastNumber, region.token());
    } catch (RuntimeException e) {
      content.release();
      throw e;
    }
  }

  /** Returns the replies to the client's notices of written blocks. */
  Flux<ByteBuf> receipts(Flux<Immediate> written) {
    return written
        .concatMap(
            immediate ->
                Mono.fromCallable(() -> finish(immediate.value()))
                    .subscribeOn(Schedulers.boundedElastic()))
        .map(reply -> BlockProtocol.encode(reply, memory.allocator()));
  }

  /** Drops unfinished blocks; idempotent. */
  @Override
  public synchronized void close() {
    closed = true;
    reserved.values().forEach(Upload::drop);
    reserved.clear();
  }

  private Reply finish(int number) {
    Upload upload = take(number);
    if (upload == null) {
      return new Reply.Refused(
          ErrorCode.MALFORMED, "immediate: " + number + " (expected: the number of a reservation)");
    }
    upload.region().close();
    Block block = upload.block();
    try {
      Sha256 actual = Sha256.of(block.content());
      if (!actual.equals(block.info().sha256())) {
        throw new RefusedException(
            ErrorCode.WRONG_DIGEST,
            "sha256: " + actual + " (expected: " + block.info().sha256() + ")");
      }
      catalog.add(block);
      return new Reply.Stored(block.info());
    } catch (RefusedException e) {
      block.content().release();
      return Answers.refused(e);
    }
  }

  private synchronized @Nullable Upload take(int number) {
    return reserved.remove(number);
  }
}
