// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;

import io.netty.channel.IoEventLoop;
import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.CompletionQueues;
import io.verbena.core.loop.DutyCycleEnds;
import io.verbena.core.loop.IdleStrategy;
import io.verbena.core.loop.KeepAliveRounds;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Puts an event loop on an HCA: it polls the completion queues of the loop's channels, so that
 * there is no hop between threads from a completion to {@code channelRead}.
 *
 * <pre>{@code
 * EventLoopGroup group = new MultiThreadIoEventLoopGroup(
 *     RdmaIoHandler.newFactory(URI.create("emulated://netty")));
 * new ServerBootstrap().group(group).channel(RdmaServerSocketChannel.class)...
 * }</pre>
 *
 * <p>If the HCA fails, its channels close; it is opened again for the next channel.
 *
 * <p>How an idle loop waits is {@link RdmaOptions#pollMode}: {@code BUSY} never sleeps, {@code
 * ADAPTIVE} spins while that pays, at most for {@link RdmaOptions#spinTime}, and then sleeps,
 * {@code EVENT} sleeps at once. It sleeps on the HCA's completion channel; a task that is handed to
 * the loop wakes it.
 */
public final class RdmaIoHandler implements IoHandler {
  /** A loop that is never idle looks once in 256 runs whether peers are to be asked. */
  private static final int CLOCK_MASK = 255;

  /** Bounds every wait. */
  private static final long LONGEST_SLEEP = TimeUnit.MINUTES.toNanos(1);

  private final ThreadAwareExecutor executor;
  private final IdleStrategy idleStrategy;
  private SharedHca hca;
  private volatile @Nullable CompletionChannel channel;
  private CompletionQueues<Stream> queues;
  private final Set<RdmaIoHandle> handles = new HashSet<>();
  private final Set<Stream> streams = new HashSet<>();
  private final DutyCycleEnds ends = new DutyCycleEnds();
  private KeepAliveRounds<Stream> keepAlive;
  private Flusher flusher;
  private int runs;
  private volatile boolean sleeping;

  private RdmaIoHandler(ThreadAwareExecutor executor, SharedHca hca) {
    this.executor = executor;
    this.hca = hca;
    idleStrategy = new IdleStrategy(hca.options().pollMode(), hca.options());
    CompletionChannel made = channelOf(hca);
    channel = made;
    queues = new CompletionQueues<>(hca.device(), made, hca.meter());
    flusher = new Flusher(hca.memory(), queues);
    keepAlive = keepAlive();
  }

  private KeepAliveRounds<Stream> keepAlive() {
    KeepAliveRounds<Stream> rounds = new KeepAliveRounds<>(queues, hca.options());
    rounds.start(System.nanoTime());
    return rounds;
  }

  private static @Nullable CompletionChannel channelOf(SharedHca hca) {
    return hca.options().pollMode() == PollMode.BUSY
        ? null
        : hca.device().createCompletionChannel();
  }

  /**
   * Opens an HCA that has failed again.
   *
   * @throws io.verbena.verbs.VerbsException if it cannot be opened; then all stays as it is
   */
  private void reopen() {
    SharedHca opened = SharedHca.open(hca.address(), hca.options());
    SharedHca failed = hca;
    CompletionChannel made = channelOf(opened);
    flusher.release();
    try {
      queues.close();
    } finally {
      hca = opened;
      channel = made;
      queues = new CompletionQueues<>(opened.device(), made, opened.meter());
      flusher = new Flusher(opened.memory(), queues);
      keepAlive = keepAlive();
      failed.release();
    }
  }

  /**
   * Event loops on an HCA with the default options, but for queues of 32 work requests a connection
   * and receives of 16 KiB.
   *
   * @param hca what names the HCA: {@code emulated://} and a name, {@code disni://} and one of its
   *     addresses. Socket addresses of this machine stand for it, others for themselves
   */
  public static IoHandlerFactory newFactory(URI hca) {
    return newFactory(
        hca, RdmaOptions.builder().eagerSize(16 << 10).receiveDepth(32).sendDepth(32).build());
  }

  /**
   * Event loops on an HCA. All loops of this JVM with the same address and equal options share the
   * device and its registered memory, whatever group they are in.
   *
   * @param options of which {@code pollMode}, {@code spinTime}, {@code receiveDepth}, {@code
   *     sendDepth}, {@code maxRegisteredBytes}, {@code maxCachedRegistrations}, {@code
   *     closeTimeout}, {@code keepAlive}, {@code operationTimeout} (of a keep-alive) and {@code
   *     meters} count, and {@code eagerSize} as the size of a receive
   */
  public static IoHandlerFactory newFactory(URI hca, RdmaOptions options) {
    requireNonNull(hca, "hca");
    requireNonNull(options, "options");
    return executor -> new RdmaIoHandler(executor, SharedHca.open(hca, options));
  }

  SharedHca hca() {
    return hca;
  }

  CompletionQueues<Stream> queues() {
    return queues;
  }

  /** Returns the event loop. */
  EventExecutor executor() {
    return (EventExecutor) executor;
  }

  /** Returns what posts for this loop's channels. */
  Flusher flusher() {
    return flusher;
  }

  void opened(Stream stream) {
    streams.add(stream);
  }

  void closed(Stream stream) {
    streams.remove(stream);
  }

  /** Returns which streams work in the next run. */
  DutyCycleEnds ends() {
    return ends;
  }

  /** Polls all completions that are there. */
  void drain() {
    while (queues.poll() > 0) {
      // More than a batch.
    }
  }

  @Override
  public int run(IoHandlerContext context) {
    int handled = work(context);
    if ((++runs & CLOCK_MASK) == 0) {
      keepAlive.run(System.nanoTime());
    }
    if (handled > 0) {
      idleStrategy.worked();
    } else if (context.canBlock() && !idleStrategy.spins()) {
      handled = sleep(context);
    }
    return handled;
  }

  private int work(IoHandlerContext context) {
    boolean timed = context.shouldReportActiveIoTime();
    long start = timed ? System.nanoTime() : 0;
    int handled = queues.poll() + ends.run();
    if (timed) {
      context.reportActiveIoTime(handled > 0 ? System.nanoTime() - start : 0);
    }
    return handled;
  }

  /** Arms, polls once more, and sleeps; a thread that wakes it finds its task taken or the flag. */
  private int sleep(IoHandlerContext context) {
    CompletionChannel channel = this.channel;
    if (channel == null) {
      return 0;
    }
    long now = System.nanoTime();
    keepAlive.run(now);
    queues.arm();
    int handled = queues.poll();
    if (handled > 0 || !ends.isEmpty()) {
      idleStrategy.worked();
      return handled + ends.run();
    }
    sleeping = true;
    try {
      if (context.canBlock()) {
        long nanos =
            Math.min(LONGEST_SLEEP, Math.min(context.delayNanos(now), keepAlive.nanosLeft(now)));
        CompletionQueue queue = channel.await(Math.max(0, nanos));
        if (queue != null) {
          idleStrategy.worked();
          queues.woken(queue);
        }
      }
    } catch (InterruptedException e) {
      // The loop's thread is ended by a shutdown; an interrupt only wakes it.
      idleStrategy.worked();
    } finally {
      sleeping = false;
    }
    return work(context);
  }

  @Override
  public void wakeup() {
    CompletionChannel channel = this.channel;
    if (sleeping && channel != null && !executor.isExecutorThread(Thread.currentThread())) {
      channel.wakeup();
    }
  }

  @Override
  public IoRegistration register(IoHandle handle) {
    if (!(handle instanceof RdmaIoHandle ours)) {
      throw new IllegalArgumentException(
          "handle: " + handle.getClass().getName() + " (expected: an RDMA channel's)");
    }
    if (streams.isEmpty() && hca.hasFailed()) {
      reopen();
    }
    if (!handles.add(ours)) {
      throw new IllegalStateException("handle: " + handle + " is registered already");
    }
    ours.registered();
    return new Registration(ours);
  }

  @Override
  public boolean isCompatible(Class<? extends IoHandle> handleType) {
    return RdmaIoHandle.class.isAssignableFrom(handleType);
  }

  @Override
  public void prepareToDestroy() {
    for (RdmaIoHandle handle : List.copyOf(handles)) {
      handle.close();
    }
    // What was posted still arrives: the loop runs until its quiet period is over.
    queues.poll();
    ends.run();
  }

  @Override
  public void destroy() {
    // Those that came too late to be closed as usual; the loop takes no more tasks to tell of it.
    for (RdmaIoHandle handle : List.copyOf(handles)) {
      handle.closeForcibly();
    }
    awaitStreams();
    for (Stream stream : List.copyOf(streams)) {
      stream.abort();
    }
    flusher.release();
    try {
      queues.close();
    } finally {
      hca.release();
    }
  }

  /** Streams that are closing are given the time that a close may take. */
  private void awaitStreams() {
    long from = System.nanoTime();
    long patience = hca.options().closeTimeout().toNanos();
    while (!streams.isEmpty() && System.nanoTime() - from < patience) {
      if (queues.poll() + ends.run() == 0) {
        Thread.onSpinWait();
      }
    }
  }

  /** A channel's place on this loop. */
  private final class Registration implements IoRegistration {
    private final RdmaIoHandle handle;
    private volatile boolean cancelled;

    Registration(RdmaIoHandle handle) {
      this.handle = handle;
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // as the interface has it
    @Override
    public <T> T attachment() {
      return (T) RdmaIoHandler.this;
    }

    @Override
    public long submit(IoOps ops) {
      throw new UnsupportedOperationException("submit: channels post to their queue pairs");
    }

    @Override
    public boolean isValid() {
      return !cancelled;
    }

    @Override
    public boolean cancel() {
      if (cancelled) {
        return false;
      }
      cancelled = true;
      if (executor.isExecutorThread(Thread.currentThread())) {
        remove();
      } else {
        executor.execute(this::remove);
      }
      return true;
    }

    private void remove() {
      if (handles.remove(handle)) {
        handle.unregistered();
      }
    }
  }

  /** Returns whether a loop takes the channels of this package. */
  static boolean isCompatibleLoop(Object loop) {
    return loop instanceof IoEventLoop ours && ours.isCompatible(RdmaIoHandle.class);
  }
}
