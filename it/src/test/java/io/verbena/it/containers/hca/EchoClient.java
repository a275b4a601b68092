// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaTransport;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A program that sends numbered messages to an {@link EchoServer} on several connections at once,
 * and ends with an error as soon as one does not come back complete, once and in order.
 */
public final class EchoClient {
  /** Printed each time another {@link #STEP} messages came back. */
  static final String PROGRESS = "more came back";

  static final String DONE = "all came back";

  /** Printed while it waits for a file. */
  static final String WAITING = "waiting";

  static final int FAILED = 3;
  static final int WRONG = 4;

  /**
   * The time for the wait for the file: meanwhile other containers start, and Docker sets their
   * faults.
   */
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private static final int STEP = 100;
  private static final AtomicLong BACK = new AtomicLong();

  private final RdmaConnection connection;
  private final int length;
  private final long count;
  private final Duration pause;
  private long sent;
  private long received;

  private EchoClient(RdmaConnection connection, int length, long count, Duration pause) {
    this.connection = connection;
    this.length = length;
    this.count = count;
    this.pause = pause;
  }

  /**
   * Runs the program: the URI, the number of connections, the length of messages (a multiple of 8),
   * the number of messages on each connection, the milliseconds between them, and optionally a file
   * to wait for.
   */
  public static void main(String[] args) throws InterruptedException {
    URI uri = URI.create(args[0]);
    int connections = Integer.parseInt(args[1]);
    int length = Integer.parseInt(args[2]);
    long count = Long.parseLong(args[3]);
    Duration pause = Duration.ofMillis(Long.parseLong(args[4]));
    if (args.length > 5) {
      await(Path.of(args[5]));
    }
    RdmaTransport transport = Counts.countingTransport();
    try {
      Flux.range(0, connections)
          .flatMap(
              i ->
                  transport
                      .connect(uri)
                      .flatMap(
                          connection -> new EchoClient(connection, length, count, pause).run()),
              connections)
          .blockLast();
    } catch (RdmaException e) {
      System.out.println("failed after " + BACK);
      for (Throwable each = e; each != null; each = each.getCause()) {
        System.out.println(each);
      }
      System.exit(FAILED);
    } catch (IllegalStateException e) {
      System.out.println("wrong after " + BACK + ": " + e);
      System.exit(WRONG);
    }
    System.out.println(BACK + " " + DONE);
    System.exit(0);
  }

  private static void await(Path file) throws InterruptedException {
    System.out.println(WAITING);
    long from = System.nanoTime();
    while (Files.notExists(file)) {
      if (System.nanoTime() - from > LIMIT.toNanos()) {
        throw new IllegalStateException("no " + file + " within " + LIMIT);
      }
      Thread.sleep(1);
    }
  }

  private Mono<Void> run() {
    Flux<ByteBuf> numbers =
        pause.isZero()
            ? Flux.generate(messages -> messages.next(message(sent++)))
            : Flux.interval(pause).onBackpressureDrop().map(tick -> message(sent++));
    Mono<Void> back = connection.receive().doOnNext(this::check).take(count).then();
    return Mono.when(connection.send(numbers.take(count)), back).then(connection.close());
  }

  /** Returns a message filled with its number. */
  private ByteBuf message(long number) {
    ByteBuf message = connection.memory().allocator().buffer(length, length);
    while (message.isWritable()) {
      message.writeLong(number);
    }
    return message;
  }

  private void check(ByteBuf message) {
    try {
      if (message.readableBytes() != length) {
        throw new IllegalStateException(
            message.readableBytes() + " bytes (expected: " + length + ")");
      }
      while (message.isReadable()) {
        long number = message.readLong();
        if (number != received) {
          throw new IllegalStateException(number + " (expected: " + received + ")");
        }
      }
    } finally {
      message.release();
    }
    received++;
    if (BACK.incrementAndGet() % STEP == 0) {
      System.out.println(PROGRESS);
    }
  }
}
