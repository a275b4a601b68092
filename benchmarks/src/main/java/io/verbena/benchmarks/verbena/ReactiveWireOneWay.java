// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.netty.buffer.ByteBuf;
import io.verbena.PollMode;
import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;
import io.verbena.benchmarks.work.OneWay;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.Tally;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;

/** {@code Flux} one way between two processes. */
public final class ReactiveWireOneWay implements OneWay {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int EAGER_DEPTH = 32;

  private final OtherProcess other;
  private final RdmaTransport transport;
  private final RdmaConnection connection;
  private final MessageBuffers buffers;
  private final MessageBuffers.Writer write = this::write;
  private MessageSource source;
  private volatile CompletableFuture<Void> done = new CompletableFuture<>();
  private volatile long end;
  private long sent;

  /**
   * Connects.
   *
   * @param server the address on which the other process listens
   * @param mode how the loops of both ends poll
   * @param eager whether a message is one SEND; all other options have their defaults
   */
  public ReactiveWireOneWay(int size, URI server, PollMode mode, boolean eager) throws Exception {
    other = new OtherProcess(Sink.class, server, size, mode, eager);
    transport = transport(size, mode, eager);
    connection = present(transport.connect(URI.create(other.line())));
    buffers = new MessageBuffers(size, connection.memory().allocator());
    source = new MessageSource(size);
    connection.receive().subscribe(this::told, failure -> done.completeExceptionally(failure));
  }

  private static RdmaTransport transport(int size, PollMode mode, boolean eager) {
    RdmaOptions.Builder options = RdmaOptions.builder().pollMode(mode);
    if (eager) {
      options.eagerSize(size).receiveDepth(EAGER_DEPTH).window(2 * EAGER_DEPTH);
    }
    return RdmaTransport.create(options.build());
  }

  private static <T> T present(Mono<T> made) {
    return Objects.requireNonNull(made.block(LIMIT), "made");
  }

  private void told(ByteBuf tally) {
    boolean last = tally.readLong() == end;
    tally.release();
    if (last) {
      done.complete(null);
    }
  }

  /** {@inheritDoc} The other process uses a check of its own. */
  @Override
  public void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception {
    this.source = source;
    done = new CompletableFuture<>();
    end = sent + Tally.rounded(messages);
    deadline.await(connection.send(Flux.<ByteBuf>generate(this::generate)).toFuture());
    deadline.await(done);
  }

  private void generate(SynchronousSink<ByteBuf> sink) {
    if (sent == end) {
      sink.complete();
      return;
    }
    sent++;
    sink.next(buffers.write(write));
  }

  private void write(ByteBufView message) {
    source.next(message);
  }

  @Override
  public long otherCpuNanos() {
    return other.cpuNanos();
  }

  @Override
  public void close() {
    try (other) {
      buffers.release();
      transport.dispose();
    }
  }

  /** The end in the other process: prints its address and receives the messages of a client. */
  static final class Sink {
    private final RdmaConnection connection;
    private final MessageCheck check;
    private final ByteBufView view = new ByteBufView();
    private long taken;

    private Sink(RdmaConnection connection, int size) {
      this.connection = connection;
      check = new MessageCheck(size);
    }

    private Mono<Void> take() {
      return connection.send(connection.receive().handle(this::take));
    }

    private void take(ByteBuf message, SynchronousSink<ByteBuf> tallies) {
      try {
        check.accept(view.wrap(message), message.readableBytes());
      } finally {
        message.release();
      }
      if (++taken % Tally.EVERY == 0) {
        ByteBuf tally = connection.memory().allocator().directBuffer(Tally.BYTES);
        tallies.next(tally.writeLong(taken));
      }
    }

    /** Arguments: the address to listen on, and the options of the other end. */
    public static void main(String[] arguments) {
      OtherProcess.endWithParent();
      int size = Integer.parseInt(arguments[1]);
      RdmaServer server =
          present(
              transport(size, PollMode.valueOf(arguments[2]), Boolean.parseBoolean(arguments[3]))
                  .bind(URI.create(arguments[0]), connection -> new Sink(connection, size).take()));
      System.out.println(server.address());
      server.onClose().block();
    }
  }
}
