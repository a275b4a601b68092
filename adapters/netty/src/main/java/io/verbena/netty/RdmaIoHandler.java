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
 * The {@link IoHandler} of an event loop on an HCA. It polls the completion queues of the loop's
 * channels on the loop's thread: no other thread stands between a completion and {@code
 * channelRead}.
 *
 * <pre>{@code
 * EventLoopGroup group = new MultiThreadIoEventLoopGroup(
 *     RdmaIoHandler.newFactory(URI.create("emulated://netty")));
 * new ServerBootstrap().group(group).channel(RdmaServerSocketChannel.class)...
 * }</pre>
 *
 * <p>A program without settings of its own for event loops uses {@link RdmaSockets} instead.
 *
 * <p>The loop also drives sockets: channels of NIO, or of the handler passed to {@link
 * #newFactory(URI, RdmaOptions, IoHandlerFactory)}, can be registered with the same group. The loop
 * then waits for RDMA and sockets at once. A loop without socket channels has no cost from this.
 *
 * <p>If the HCA fails, its RDMA channels close; the HCA is opened again for the next channel.
 *
 * <p>{@link RdmaOptions#pollMode} sets how an idle loop waits: {@code BUSY} never sleeps; {@code
 * ADAPTIVE} spins while that pays off, at most for {@link RdmaOptions#spinTime}, and then sleeps;
 * {@code EVENT} sleeps at once. The loop sleeps on the HCA's completion channel or, once it has
 * socket channels, in their handler. A task that is submitted to the loop wakes it.
 */
public final class RdmaIoHandler implements IoHandler {
  /** A loop that is never idle checks keep-alives once in 256 runs. */
  private static final int CLOCK_MASK = 255;

  /** The options of loops that are created without options. */
  static final RdmaOptions DEFAULTS =
      RdmaOptions.builder().eagerSize(16 << 10).receiveDepth(32).sendDepth(32).build();

  /** The longest wait on the completion channel, in nanoseconds. */
  private static final long LONGEST_SLEEP = TimeUnit.MINUTES.toNanos(1);

  private final ThreadAwareExecutor executor;
  private final IdleStrategy idleStrategy;
  private final Sockets sockets;
  private SharedHca hca;
  private volatile @Nullable CompletionChannel channel;

  /** The events of the completion channel; null unless the loop sleeps in the sockets' handler. */
  private @Nullable CompletionEvents events;

  private CompletionQueues<QueueMember> queues;
  private LoopReceives receives;
  private final Set<RdmaIoHandle> handles = new HashSet<>();
  private final Set<Stream> streams = new HashSet<>();
  private final DutyCycleEnds ends = new DutyCycleEnds();
  private KeepAliveRounds<QueueMember> keepAlive;
  private Flusher flusher;

  /** Collects the requests of a flush into linked lists; null if each is posted at once. */
  private @Nullable LinkedPosts linkedPosts;

  private int runs;
  private volatile boolean sleeping;

  /** Whether the task that closes the channels at the loop's end was submitted. */
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
   * Opens the HCA again after it has failed.
   *
   * @throws io.verbena.verbs.VerbsException if it cannot be opened; this handler is unchanged then
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

  /** Closes the loop's own objects of the HCA. */
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
   * Returns a factory of event loops on an HCA, with the default options except for 32 sends and 32
   * receives per connection and receives of 16 KiB.
   *
   * @param hca the URI of the HCA: {@code emulated://} and a name, or {@code disni://} and one of
   *     its addresses, for example. Socket addresses of this machine, such as the wildcard and the
   *     loopback, stand for this HCA; any other address is a peer's
   */
  public static IoHandlerFactory newFactory(URI hca) {
    return newFactory(hca, DEFAULTS);
  }

  /**
   * Returns a factory of event loops on an HCA. All loops of this JVM with the same URI and equal
   * options share the device and its registered memory, in whatever group they are. If the HCA
   * cannot be opened, the creation of a loop throws {@link io.verbena.verbs.VerbsException}.
   *
   * @param options the options of the loops and their channels; used are {@code pollMode}, {@code
   *     spinTime}, {@code receiveDepth}, {@code sendDepth}, {@code maxRegisteredBytes}, {@code
   *     maxCachedRegistrations}, {@code closeTimeout}, {@code keepAlive}, {@code operationTimeout}
   *     (of a keep-alive), {@code meters}, and {@code eagerSize} as the size of a receive in bytes
   */
  public static IoHandlerFactory newFactory(URI hca, RdmaOptions options) {
    requireNonNull(hca, "hca");
    requireNonNull(options, "options");
    return executor -> open(executor, hca, options, null);
  }

  /**
   * Returns a factory of event loops on an HCA that drive sockets of another kind than NIO: epoll,
   * for example.
   *
   * @param sockets creates the handler of a loop's sockets, when the first of them is registered
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

  /** Returns the receives of this loop's streams. */
  LoopReceives receives() {
    return receives;
  }

  /** Returns the number of registered RDMA channels; on the loop's thread. */
  int registrations() {
    return handles.size();
  }

  /** Returns the event loop. */
  EventExecutor executor() {
    return (EventExecutor) executor;
  }

  /** Returns the flusher of this loop's channels. */
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

  /** Returns the streams that asked to be run at the end of the duty cycle. */
  DutyCycleEnds ends() {
    return ends;
  }

  /** Polls until the completion queues are empty. */
  void drain() {
    while (queues.poll() > 0) {
      // A poll takes a bounded batch.
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

  /** Runs the streams that have work, and posts the receives that they have returned. */
  private int endDutyCycle() {
    int handled = ends.run();
    LinkedPosts posts = linkedPosts;
    if (posts != null) {
      posts.post();
    }
    return handled;
  }

  /**
   * Arms the queues, polls once more, and sleeps. A thread that submits a task either has it taken
   * before the sleep, or sees {@link #sleeping}.
   */
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
      // Only a shutdown ends the loop's thread; an interrupt just wakes it.
      idleStrategy.worked();
    }
  }

  private void takeEvents() {
    CompletionEvents taken = events;
    if (taken != null && taken.haveCome() && taken.take(queues)) {
      idleStrategy.worked();
    }
  }

  /** Called on any thread after an event of the completion channel. */
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
      // The loop writes events before it sets sleeping, so this thread sees them.
      if (events != null) {
        sockets.wakeup();
      } else {
        channel.wakeup();
      }
    }
  }

  /**
   * Submits a task that closes the channels. A loop without a quiet period that is running a task
   * when it is shut down runs the tasks queued behind it, and then ends without {@link
   * #prepareToDestroy}.
   */
  private void closeBeforeTheEnd() {
    ending = true;
    try {
      executor.execute(this::prepareToDestroy);
    } catch (RejectedExecutionException e) {
      // The loop has ended meanwhile, and destroy() closes the channels.
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
    // Posted bytes still arrive: the loop runs until its quiet period is over.
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
    // These channels came too late for prepareToDestroy(); the loop takes no more tasks that could
    // report their close.
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

  /** Waits for streams that are closing, at most {@link RdmaOptions#closeTimeout}. */
  private void awaitStreams() {
    long from = System.nanoTime();
    long patience = hca.options().closeTimeout().toNanos();
    while (!streams.isEmpty() && System.nanoTime() - from < patience) {
      if (queues.poll() + endDutyCycle() == 0) {
        Thread.onSpinWait();
      }
    }
  }

  /** The registration of an RDMA channel with this loop. */
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

  /** Returns whether RDMA channels can be registered with a loop. */
  static boolean isCompatibleLoop(Object loop) {
    return loop instanceof IoEventLoop ours && ours.isCompatible(RdmaIoHandle.class);
  }
}
