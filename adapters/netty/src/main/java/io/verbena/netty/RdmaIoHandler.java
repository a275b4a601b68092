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
import io.verbena.core.loop.CompletionEvents;
import io.verbena.core.loop.CompletionQueues;
import io.verbena.core.loop.DutyCycleEnds;
import io.verbena.core.loop.IdleStrategy;
import io.verbena.core.loop.KeepAliveRounds;
import io.verbena.core.loop.LinkedPosts;
import io.verbena.core.loop.QueueMember;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import java.net.URI;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
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
 * <p>{@link RdmaSockets} does that for a program that has no wishes for its loops.
 *
 * <p>The loop drives sockets too: channels of NIO, or of the handler that {@link #newFactory(URI,
 * RdmaOptions, IoHandlerFactory)} is given, are registered with the same group, and one sleep ends
 * for all. A loop without such channels pays nothing for them.
 *
 * <p>If the HCA fails, its RDMA channels close; it is opened again for the next channel.
 *
 * <p>How an idle loop waits is {@link RdmaOptions#pollMode}: {@code BUSY} never sleeps, {@code
 * ADAPTIVE} spins while that pays, at most for {@link RdmaOptions#spinTime}, and then sleeps,
 * {@code EVENT} sleeps at once. It sleeps on the HCA's completion channel, or where its sockets are
 * waited for; a task that is handed to the loop wakes it.
 */
public final class RdmaIoHandler implements IoHandler {
  /** A loop that is never idle looks once in 256 runs whether peers are to be asked. */
  private static final int CLOCK_MASK = 255;

  /** The options of channels without options of their own. */
  static final RdmaOptions DEFAULTS =
      RdmaOptions.builder().eagerSize(16 << 10).receiveDepth(32).sendDepth(32).build();

  /** Bounds every wait. */
  private static final long LONGEST_SLEEP = TimeUnit.MINUTES.toNanos(1);

  private final ThreadAwareExecutor executor;
  private final IdleStrategy idleStrategy;
  private final Sockets sockets;
  private SharedHca hca;
  private volatile @Nullable CompletionChannel channel;

  /** Events of the channel, once the loop sleeps where its sockets are waited for. */
  private @Nullable CompletionEvents events;

  private CompletionQueues<QueueMember> queues;
  private LoopReceives receives;
  private final Set<RdmaIoHandle> handles = new HashSet<>();
  private final Set<Stream> streams = new HashSet<>();
  private final DutyCycleEnds ends = new DutyCycleEnds();
  private KeepAliveRounds<QueueMember> keepAlive;
  private Flusher flusher;

  /** The collector of a flush's requests; null if each is to be posted at once. */
  private @Nullable LinkedPosts linkedPosts;

  private int runs;
  private volatile boolean sleeping;

  /** Whether there is a task that closes the channels, as the loop ends. */
  private volatile boolean ending;

  private RdmaIoHandler(
      ThreadAwareExecutor executor, SharedHca hca, @Nullable IoHandlerFactory sockets) {
    this.executor = executor;
    this.sockets = new Sockets(executor, sockets);
    this.hca = hca;
    idleStrategy = new IdleStrategy(hca.options().pollMode(), hca.options());
    CompletionChannel made = channelOf(hca);
    channel = made;
    queues = new CompletionQueues<>(hca.device(), made, hca.meter());
    linkedPosts = LinkedPosts.of(hca.device());
    receives = new LoopReceives(hca, queues, linkedPosts);
    flusher = new Flusher(hca.memory(), queues);
    keepAlive = keepAlive();
  }

  private static RdmaIoHandler open(
      ThreadAwareExecutor executor,
      URI address,
      RdmaOptions options,
      @Nullable IoHandlerFactory sockets) {
    SharedHca hca = SharedHca.open(address, options);
    try {
      return new RdmaIoHandler(executor, hca, sockets);
    } catch (RuntimeException | Error e) {
      hca.guarded(hca::release);
      throw e;
    }
  }

  private KeepAliveRounds<QueueMember> keepAlive() {
    KeepAliveRounds<QueueMember> rounds = new KeepAliveRounds<>(queues, hca.options());
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
    CompletionChannel made;
    try {
      made = channelOf(opened);
    } catch (RuntimeException | Error e) {
      opened.guarded(opened::release);
      throw e;
    }
    closeOnHca();
    hca = opened;
    channel = made;
    queues = new CompletionQueues<>(opened.device(), made, opened.meter());
    linkedPosts = LinkedPosts.of(opened.device());
    receives = new LoopReceives(opened, queues, linkedPosts);
    flusher = new Flusher(opened.memory(), queues);
    keepAlive = keepAlive();
    if (sockets.areUsed()) {
      watchEvents();
    }
    failed.release();
  }

  private void watchEvents() {
    CompletionChannel from = channel;
    if (from != null) {
      events = new CompletionEvents(from, this::eventCame, "verbena-netty-events");
    }
  }

  /** Closes what the loop itself has of its HCA. */
  private void closeOnHca() {
    hca.guarded(flusher::release);
    CompletionQueues<QueueMember> gone = queues;
    CompletionEvents ending = events;
    if (ending != null) {
      events = null;
      hca.guarded(() -> ending.close(gone));
    }
    hca.close("completion queues", gone::close);
  }

  /**
   * Event loops on an HCA with the default options, but for queues of 32 work requests a connection
   * and receives of 16 KiB.
   *
   * @param hca what names the HCA: {@code emulated://} and a name, {@code disni://} and one of its
   *     addresses. Socket addresses of this machine stand for it, others for themselves
   */
  public static IoHandlerFactory newFactory(URI hca) {
    return newFactory(hca, DEFAULTS);
  }

  /**
   * Creates event loops on an HCA. All loops of this JVM with the same address and equal options
   * share the device and its registered memory, whatever group they are in.
   *
   * @param options of which {@code pollMode}, {@code spinTime}, {@code receiveDepth}, {@code
   *     sendDepth}, {@code maxRegisteredBytes}, {@code maxCachedRegistrations}, {@code
   *     closeTimeout}, {@code keepAlive}, {@code operationTimeout} (of a keep-alive) and {@code
   *     meters} count, and {@code eagerSize} as the size of a receive
   */
  public static IoHandlerFactory newFactory(URI hca, RdmaOptions options) {
    requireNonNull(hca, "hca");
    requireNonNull(options, "options");
    return executor -> open(executor, hca, options, null);
  }

  /**
   * Creates event loops on an HCA, with sockets of another kind than NIO's: epoll's, say.
   *
   * @param sockets makes the handler of each loop's sockets, when the first of them is registered
   */
  public static IoHandlerFactory newFactory(
      URI hca, RdmaOptions options, IoHandlerFactory sockets) {
    requireNonNull(hca, "hca");
    requireNonNull(options, "options");
    requireNonNull(sockets, "sockets");
    return executor -> open(executor, hca, options, sockets);
  }

  SharedHca hca() {
    return hca;
  }

  CompletionQueues<QueueMember> queues() {
    return queues;
  }

  /** Returns what this loop's streams receive into. */
  LoopReceives receives() {
    return receives;
  }

  /** Returns how many channels over RDMA are registered; on the loop's thread. */
  int registrations() {
    return handles.size();
  }

  /** Returns the event loop. */
  EventExecutor executor() {
    return (EventExecutor) executor;
  }

  /** Returns what posts for this loop's channels. */
  Flusher flusher() {
    return flusher;
  }

  @Nullable LinkedPosts linkedPosts() {
    return linkedPosts;
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
    if ((++runs & CLOCK_MASK) == 0) {
      keepAlive.run(System.nanoTime());
    }
    int handled = work(context);
    if (handled > 0) {
      idleStrategy.worked();
    } else if (context.canBlock() && !idleStrategy.spins()) {
      return sleep(context);
    }
    if (sockets.areDue(handled > 0, context)) {
      handled += sockets.poll(context);
    }
    return handled;
  }

  private int work(IoHandlerContext context) {
    boolean timed = context.shouldReportActiveIoTime();
    long start = timed ? System.nanoTime() : 0;
    int handled = queues.poll() + endDutyCycle();
    if (timed) {
      context.reportActiveIoTime(handled > 0 ? System.nanoTime() - start : 0);
    }
    return handled;
  }

  /** Runs the streams that have work, and posts the receives that they have given back. */
  private int endDutyCycle() {
    int handled = ends.run();
    LinkedPosts posts = linkedPosts;
    if (posts != null) {
      posts.post();
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
    takeEvents();
    queues.arm();
    int handled = queues.poll();
    if (handled > 0 || !ends.isEmpty()) {
      idleStrategy.worked();
      return handled + endDutyCycle();
    }
    CompletionEvents elsewhere = events;
    sleeping = true;
    try {
      if (elsewhere != null) {
        handled = sockets.sleep(context, elsewhere, keepAlive.nanosLeft(now));
      } else if (context.canBlock()) {
        await(channel, Math.min(context.delayNanos(now), keepAlive.nanosLeft(now)));
      }
    } finally {
      sleeping = false;
    }
    takeEvents();
    return handled + work(context);
  }

  private void await(CompletionChannel channel, long nanos) {
    try {
      CompletionQueue queue = channel.await(Math.max(0, Math.min(LONGEST_SLEEP, nanos)));
      if (queue != null) {
        idleStrategy.worked();
        queues.woken(queue);
      }
    } catch (InterruptedException e) {
      // The loop's thread is ended by a shutdown; an interrupt only wakes it.
      idleStrategy.worked();
    }
  }

  private void takeEvents() {
    CompletionEvents taken = events;
    if (taken != null && taken.haveCome() && taken.take(queues)) {
      idleStrategy.worked();
    }
  }

  /** Called by any thread behind an event of the completion channel. */
  private void eventCame() {
    if (sleeping) {
      sockets.wakeup();
    }
  }

  @Override
  public void wakeup() {
    if (!ending && executor().isShuttingDown()) {
      closeBeforeTheEnd();
    }
    CompletionChannel channel = this.channel;
    if (sleeping && channel != null && !executor.isExecutorThread(Thread.currentThread())) {
      // Set before the loop sleeps, and so seen with the flag.
      if (events != null) {
        sockets.wakeup();
      } else {
        channel.wakeup();
      }
    }
  }

  /**
   * Closes the channels by a task. A loop without a quiet period that runs a task as it is asked to
   * end runs the tasks queued behind it, and then ends without {@link #prepareToDestroy}.
   */
  private void closeBeforeTheEnd() {
    ending = true;
    try {
      executor.execute(this::prepareToDestroy);
    } catch (RejectedExecutionException e) {
      // It has ended meanwhile, and destroy() closes them.
      return;
    }
  }

  @Override
  public IoRegistration register(IoHandle handle) throws Exception {
    if (!(handle instanceof RdmaIoHandle ours)) {
      IoRegistration made = sockets.register(handle);
      if (events == null) {
        watchEvents();
      }
      return made;
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
    return RdmaIoHandle.class.isAssignableFrom(handleType) || sockets.isCompatible(handleType);
  }

  @Override
  public void prepareToDestroy() {
    for (RdmaIoHandle handle : List.copyOf(handles)) {
      handle.close();
    }
    sockets.prepareToDestroy();
    // What was posted still arrives: the loop runs until its quiet period is over.
    queues.poll();
    endDutyCycle();
  }

  @Override
  public void destroy() {
    try {
      sockets.destroy();
    } finally {
      destroyOnHca();
    }
  }

  private void destroyOnHca() {
    // These came too late to be closed as usual; the loop takes no more tasks that could report it.
    for (RdmaIoHandle handle : List.copyOf(handles)) {
      hca.guarded(handle::closeForcibly);
    }
    hca.guarded(this::awaitStreams);
    for (Stream stream : List.copyOf(streams)) {
      hca.guarded(stream::abort);
    }
    closeOnHca();
    hca.release();
  }

  /** Streams that are closing are given the time that a close may take. */
  private void awaitStreams() {
    long from = System.nanoTime();
    long patience = hca.options().closeTimeout().toNanos();
    while (!streams.isEmpty() && System.nanoTime() - from < patience) {
      if (queues.poll() + endDutyCycle() == 0) {
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
