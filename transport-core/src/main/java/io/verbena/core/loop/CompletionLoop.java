// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.meters.HcaMeter;
import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A loop that polls completion queues for its members and runs tasks for other threads, on a thread
 * of its own.
 *
 * <p>A duty cycle runs the scheduled tasks, polls, passes the completions to their members, and
 * runs the requested {@link DutyCycleEnd}s. After a duty cycle without work, the {@link PollMode}
 * decides whether the thread spins or sleeps. With a {@link DutyCycleInvoker} there is no thread,
 * and the invoker decides. Only {@link #schedule}, {@link #execute}, {@link #waiters}, {@link
 * #inLoop}, {@link #stop} and {@link #join} may be called from other threads.
 */
public final class CompletionLoop {
  private static final VarHandle CYCLES = cyclesHandle();
  private static final int CLOCK_MASK = 63;
  private static final long LEAST_TICK = 200_000;
  private static final long LONGEST_TICK = 1_000_000_000;
  private static final int TICKS_PER_TIMEOUT = 16;
  private static final int MOST_VISITED = 1 << 20;

  /** Bounds every sleep, also that of a loop without deadlines. */
  private static final long LONGEST_SLEEP = TimeUnit.MINUTES.toNanos(1);

  private final Device device;
  private final IdleStrategy idleStrategy;
  private final long tickNanos;
  private final @Nullable CompletionChannel channel;
  private final @Nullable Thread thread;
  private final @Nullable DutyCycleInvoker invoker;
  private final TaskStack tasks = new TaskStack();
  private final Waiters waiters = new Waiters(this);
  private final DutyCycleEnds ends = new DutyCycleEnds();
  private final CompletionQueues<LoopMember> queues;
  private final KeepAliveRounds<LoopMember> keepAlive;
  private final List<TickListener> tickListeners = new ArrayList<>();
  private final List<Ticks> ticks = new ArrayList<>();
  private final List<Runnable> atEnd = new ArrayList<>();
  private final @Nullable LinkedPosts linkedPosts;

  /** The calls of {@link #runLeftTasks} that the running one has to serve, or 0. */
  private final AtomicInteger leftTasks = new AtomicInteger();

  private int pending;
  private int tick;
  private long lastTick;

  /** The time of the clock when it was last read, in nanoseconds. */
  private long now;

  /** The task behind the one that runs now; read by a watchdog while the loop is held up. */
  private @Nullable LoopTask nextToRun;

  /** Counts duty cycles. The loop writes the field, watchdogs read it. */
  private int cycles;

  /**
   * The thread that is in the loop, or null. Not volatile: a thread looks only for itself, which
   * only its own write can have stored.
   */
  private @Nullable Thread inside;

  private volatile boolean sleeping;
  private volatile @Nullable Runnable onWake;
  private volatile boolean stopping;
  private volatile boolean ended;
  private volatile @Nullable Throwable brokenBy;
  private volatile @Nullable Throwable failure;

  /**
   * Creates a loop; {@link #start} starts its thread.
   *
   * @param threads makes the loop's thread
   * @param device the device whose completions are polled
   * @param options the poll mode, timeouts and keep-alive
   * @param invoker invokes the duty cycle in place of a thread, or null
   * @param meter counts completion queues and polls
   */
  public CompletionLoop(
      ThreadFactory threads,
      Device device,
      RdmaOptions options,
      @Nullable DutyCycleInvoker invoker,
      HcaMeter meter) {
    this.device = device;
    this.invoker = invoker;
    PollMode mode = invoker == null ? options.pollMode() : PollMode.BUSY;
    idleStrategy = new IdleStrategy(mode, options);
    long shortest =
        Math.min(
            options.connectTimeout().toNanos(),
            Math.min(options.operationTimeout().toNanos(), options.closeTimeout().toNanos()));
    tickNanos = Math.min(LONGEST_TICK, Math.max(LEAST_TICK, shortest / TICKS_PER_TIMEOUT));
    channel = mode == PollMode.BUSY ? null : device.createCompletionChannel();
    queues = new CompletionQueues<>(device, channel, meter);
    keepAlive = new KeepAliveRounds<>(queues, options);
    linkedPosts = LinkedPosts.of(device);
    thread = invoker == null ? threads.newThread(this::work) : null;
  }

  private static VarHandle cyclesHandle() {
    try {
      return MethodHandles.lookup().findVarHandle(CompletionLoop.class, "cycles", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /** Starts the thread, or adds the duty cycle to the invoker. */
  public void start() {
    if (invoker != null) {
      startClock(invoker.nanoTime());
      invoker.add(new InvokedCycle());
    } else if (thread != null) {
      thread.start();
    }
  }

  /**
   * Returns whether the caller is in this loop: on its thread, or within its invoked duty cycle.
   */
  public boolean inLoop() {
    return Thread.currentThread() == inside;
  }

  /** Returns the device whose completions the loop polls. */
  public Device device() {
    return device;
  }

  /**
   * Returns the lists that collect the members' send requests until the end of a duty cycle; null
   * if each request is to be posted at once.
   */
  public @Nullable LinkedPosts linkedPosts() {
    return linkedPosts;
  }

  /** Returns the loop's thread, or null if an invoker invokes the duty cycle. */
  public @Nullable Thread thread() {
    return thread;
  }

  /** Returns the number of duty cycles, modulo 2<sup>32</sup>. May be called by any thread. */
  public int cycles() {
    return (int) CYCLES.getOpaque(this);
  }

  /** Returns whether the loop waits for work. May be called by any thread. */
  public boolean isSleeping() {
    return sleeping;
  }

  /**
   * Sets the action that runs on the loop's thread each time the loop has slept, also if the sleep
   * throws; {@link #isSleeping} is then false. It must be short, and throw nothing.
   */
  public void onWake(Runnable action) {
    onWake = action;
  }

  /** Returns the operations that wait for the loop with a deadline. */
  public Waiters waiters() {
    return waiters;
  }

  /**
   * Calls {@code visitor} with the waiting tasks that another thread can see: all of them while the
   * loop is held up; else only some, and perhaps tasks that run already.
   */
  void forEachWaiting(Consumer<LoopTask> visitor) {
    // Tasks that are scheduled again meanwhile may form a cycle.
    int left = MOST_VISITED;
    for (LoopTask task = nextToRun; task != null && --left > 0; task = task.nextTask()) {
      visitor.accept(task);
    }
    for (LoopTask task = tasks.peek(); task != null && --left > 0; task = task.nextTask()) {
      visitor.accept(task);
    }
  }

  /**
   * Calls {@code visitor} with the operations in progress at the members that another thread can
   * see.
   */
  void forEachTakenUp(AwaitedVisitor visitor) {
    queues.forEach(member -> member.forEachAwaited(visitor));
  }

  /** Runs {@code task} on the loop's thread, soon. May be called by any thread. */
  public void schedule(LoopTask task) {
    if (task.markScheduled()) {
      tasks.push(task);
      if (sleeping) {
        wakeup();
      }
      if (ended) {
        runLeftTasks();
      }
    }
  }

  /** Runs {@code action} on the loop's thread, soon. Allocates: for cold paths. */
  public void execute(Runnable action) {
    schedule(ScheduledTask.of(action));
  }

  private void wakeup() {
    CompletionChannel channel = this.channel;
    if (channel != null) {
      channel.wakeup();
    }
  }

  /**
   * Runs tasks that are scheduled after the end, one at a time: on the scheduling thread, or on a
   * thread that runs such tasks already, because waiting for that thread could be a deadlock.
   */
  private void runLeftTasks() {
    if (leftTasks.getAndIncrement() == 0) {
      int seen = 1;
      do {
        runTasks();
        seen = leftTasks.addAndGet(-seen);
      } while (seen != 0);
    }
  }

  /** Returns the time at which the loop last read its clock, in nanoseconds. */
  public long now() {
    return now;
  }

  /**
   * Returns the coarse clock, in ticks. It advances by one at a time, however long a subscriber
   * blocked the loop.
   */
  public int tick() {
    return tick;
  }

  /** Returns the length of a tick in nanoseconds. */
  public long tickNanos() {
    return tickNanos;
  }

  /**
   * Returns the ticks of a timeout in nanoseconds, rounded up, plus one for the tick that has
   * begun.
   */
  public int ticks(long nanos) {
    long roundedUp = nanos / tickNanos + (nanos % tickNanos == 0 ? 0 : 1);
    return (int) Math.min(Integer.MAX_VALUE / 2, roundedUp) + 1;
  }

  /** Adds to the count of deadlines; while it is above 0, the loop wakes for each tick. */
  public void pending(int change) {
    pending += change;
  }

  void add(Ticks asking) {
    ticks.add(asking);
  }

  private boolean needsClock() {
    return pending > 0 || !ticks.isEmpty() || !tickListeners.isEmpty();
  }

  /** Calls {@code listener.tick()} on each tick until it returns false. */
  public void addTickListener(TickListener listener) {
    Throwable broken = brokenBy;
    if (stopping || broken != null) {
      listener.shutDown(broken);
      return;
    }
    tickListeners.add(listener);
  }

  /**
   * Listens to the ticks of the loop, for a deadline of its own. The loop calls all methods on its
   * thread.
   */
  public interface TickListener {
    /** Called on each tick; returns whether it waits for further ticks. */
    boolean tick();

    /**
     * Called once if the loop stops: releases everything.
     *
     * @param broken the exception that ended the loop, or null if it was stopped
     */
    void shutDown(@Nullable Throwable broken);
  }

  /** Returns the actions to run at the end of the duty cycle. */
  public DutyCycleEnds dutyCycleEnds() {
    return ends;
  }

  /** Runs {@code action} on the loop's thread after everything else, when the loop ends. */
  public void atEnd(Runnable action) {
    atEnd.add(action);
  }

  /** Returns the completion queues that the loop polls; members join and leave them. */
  public CompletionQueues<LoopMember> queues() {
    return queues;
  }

  /** Shuts all members down; the loop ends once the last has left. */
  public void stop() {
    stopping = true;
    execute(() -> shutDownAll(new IllegalStateException("the completion loop was stopped"), false));
  }

  /**
   * Waits for the end of a stopped loop.
   *
   * @param nanos the longest wait, in nanoseconds
   * @return whether the loop ended in time
   */
  public boolean join(long nanos) throws InterruptedException {
    if (thread == null) {
      return ended || (invoker != null && !inLoop() && invoker.awaitFor(() -> ended, nanos));
    }
    if (!inLoop() && thread.isAlive()) {
      TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
    }
    return !thread.isAlive();
  }

  /**
   * Returns the exception that broke the loop, or null. A broken loop has shut its members down, or
   * is about to, and no longer serves them.
   */
  public @Nullable Throwable brokenBy() {
    return brokenBy;
  }

  /**
   * Closes the completion queues that the loop could not close at its end; after {@link #join}.
   *
   * @throws VerbsException if one is still open
   */
  public void closeQueues() {
    queues.close();
  }

  /**
   * Returns the first exception of an {@linkplain #atEnd(Runnable) action at the loop's end}, or
   * null.
   */
  public @Nullable Throwable failure() {
    return failure;
  }

  /** Shuts all members and listeners down, even if some of them throw. */
  private void shutDownAll(Throwable cause, boolean now) {
    for (int i = 0; i < queues.bound(); i++) {
      LoopMember member = queues.at(i);
      if (member != null) {
        try {
          member.shutDown(cause, now);
        } catch (Throwable thrown) {
          report(thrown);
        }
      }
    }
    List<TickListener> listeners = List.copyOf(tickListeners);
    tickListeners.clear();
    for (TickListener each : listeners) {
      try {
        each.shutDown(now ? cause : null);
      } catch (Throwable thrown) {
        report(thrown);
      }
    }
  }

  private void work() {
    inside = Thread.currentThread();
    startClock(System.nanoTime());
    try {
      while (isNeeded()) {
        doWork();
      }
    } catch (Throwable broken) {
      breakDown(broken);
    } finally {
      end();
    }
  }

  private boolean isNeeded() {
    return !stopping || queues.count() > 0 || !tickListeners.isEmpty() || !tasks.isEmpty();
  }

  private void breakDown(Throwable cause) {
    brokenBy = cause;
    shutDownAll(cause, true);
  }

  /** The duty cycle of a loop without a thread. */
  private final class InvokedCycle implements DutyCycle {
    @Override
    public boolean doWork() {
      Thread outside = inside;
      inside = Thread.currentThread();
      try {
        if (isNeeded()) {
          CompletionLoop.this.doWork();
          readClock();
          return !idleStrategy.isIdle() || !tasks.isEmpty() || !ends.isEmpty();
        }
        end();
        return true;
      } catch (RuntimeException | Error broken) {
        breakDown(broken);
        end();
        throw broken;
      } finally {
        inside = outside;
      }
    }

    @Override
    public long deadline() {
      long keepAliveAt = now + keepAlive.nanosLeft(now);
      return needsClock() ? Math.min(lastTick + tickNanos, keepAliveAt) : keepAliveAt;
    }

    @Override
    public boolean isOver() {
      return ended;
    }
  }

  private void doWork() {
    boolean worked = !tasks.isEmpty();
    if (worked) {
      runTasks();
    }
    worked |= queues.poll() > 0;
    ends.run();
    postLinked();
    int cycle = cycles + 1;
    CYCLES.setOpaque(this, cycle);
    if ((cycle & CLOCK_MASK) == 0) {
      readClock();
    }
    if (worked || !ends.isEmpty()) {
      idleStrategy.worked();
    } else if (!idleStrategy.spins()) {
      sleep();
    }
  }

  private void postLinked() {
    if (linkedPosts != null) {
      linkedPosts.post();
    }
  }

  private void runTasks() {
    LoopTask task = tasks.takeAll();
    while (task != null) {
      LoopTask next = task.nextTask();
      task.nextTask(null);
      task.clearScheduled();
      nextToRun = next;
      run(task);
      task = next;
    }
  }

  /**
   * Runs a task, and reports its exception as the thread's uncaught exception, so that it harms no
   * other task. This includes errors of the JVM, such as a stack overflow in a subscriber.
   */
  private static void run(LoopTask task) {
    try {
      task.run();
    } catch (Throwable thrown) {
      report(thrown);
    }
  }

  private static void report(Throwable thrown) {
    Thread current = Thread.currentThread();
    try {
      current.getUncaughtExceptionHandler().uncaughtException(current, thrown);
    } catch (Throwable ignored) {
      // The JVM ignores exceptions of a handler of uncaught exceptions, too.
    }
  }

  private void startClock(long at) {
    now = at;
    lastTick = at;
    keepAlive.start(at);
  }

  private void readClock() {
    long time = invoker == null ? System.nanoTime() : invoker.nanoTime();
    now = time;
    keepAlive.run(time);
    if (time - lastTick >= tickNanos) {
      lastTick = time;
      tick++;
      keepIf(ticks, Ticks::run);
      keepIf(tickListeners, CompletionLoop::waitsOn);
      ends.run();
    }
    postLinked();
  }

  /** Keeps the elements that still wait, and those that are added meanwhile. */
  private static <T> void keepIf(List<T> waiting, Predicate<T> waitsOn) {
    int kept = 0;
    int visited = waiting.size();
    for (int i = 0; i < visited; i++) {
      T each = waiting.get(i);
      if (waitsOn.test(each)) {
        waiting.set(kept++, each);
      }
    }
    waiting.subList(kept, visited).clear();
  }

  /**
   * Calls {@code listener.tick()}; returns false if it throws. The listener may have signalled its
   * timeout by then, so it waits no longer.
   */
  private static boolean waitsOn(TickListener listener) {
    try {
      return listener.tick();
    } catch (Throwable thrown) {
      report(thrown);
      return false;
    }
  }

  /**
   * Arms the queues, polls once more, and sleeps. A thread that schedules a task either has it
   * taken before the sleep, or finds {@link #sleeping} set and wakes the loop.
   */
  private void sleep() {
    CompletionChannel channel = this.channel;
    if (channel == null) {
      return;
    }
    queues.arm();
    if (queues.poll() > 0) {
      idleStrategy.worked();
      return;
    }
    sleeping = true;
    try {
      if (tasks.isEmpty()) {
        long longest = needsClock() ? tickNanos : LONGEST_SLEEP;
        woken(channel.await(Math.min(longest, keepAlive.nanosLeft(now))));
      }
    } catch (InterruptedException e) {
      // stop() ends the loop's own thread; an interrupt only wakes it.
      idleStrategy.worked();
    } finally {
      sleeping = false;
      Runnable listener = onWake;
      if (listener != null) {
        listener.run();
      }
    }
    readClock();
  }

  private void woken(@Nullable CompletionQueue queue) {
    if (queue == null) {
      return;
    }
    idleStrategy.worked();
    queues.woken(queue);
  }

  private void end() {
    Throwable first = null;
    for (Runnable action : atEnd) {
      try {
        action.run();
      } catch (Throwable e) {
        first = first == null ? e : first;
      }
    }
    try {
      queues.close();
    } catch (VerbsException e) {
      // The thread that waits for the end tries again by closeQueues().
    }
    failure = first;
    ended = true;
    runLeftTasks();
  }
}
