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
 * Polls completion queues for its members and runs tasks for other threads, on a thread of its own.
 *
 * <p>A duty cycle runs the tasks that were handed over, polls, routes the completions, and calls
 * the members that asked to be called at its end. After one without work the {@link PollMode} says
 * what the thread does; with a {@link DutyCycleInvoker} there is no thread, and the invoker
 * decides. Only {@link #schedule}, {@link #execute}, {@link #waiters}, {@link #inLoop}, {@link
 * #stop} and {@link #join} may be called from other threads.
 */
public final class CompletionLoop {
  private static final VarHandle CYCLES = cyclesHandle();
  private static final int CLOCK_MASK = 63;
  private static final long LEAST_TICK = 200_000;
  private static final long LONGEST_TICK = 1_000_000_000;
  private static final int TICKS_PER_TIMEOUT = 16;
  private static final int MOST_VISITED = 1 << 20;

  /** Bounds every wait, even that of a loop which has nothing to wait for. */
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

  /** Calls of {@link #runLeftTasks} that the one under way has to answer, or 0. */
  private final AtomicInteger leftTasks = new AtomicInteger();

  private int pending;
  private int tick;
  private long lastTick;

  /** The clock when it was last read. */
  private long now;

  /** Behind the task that runs now; a watchdog looks at it while that takes its time. */
  private @Nullable LoopTask nextToRun;

  /** Counts duty cycles. The loop writes it, and its watchers read it. */
  private int cycles;

  /** The thread while it is in the loop. Not volatile: no other thread ever finds itself here. */
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
   * @param threads makes its thread
   * @param invoker invokes its duty cycle in place of a thread, or null
   * @param meter counts its completion queues and polls
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

  /** Returns whether the caller is in this loop: on its thread, or within its duty cycle. */
  public boolean inLoop() {
    return Thread.currentThread() == inside;
  }

  /** Returns the device whose completions it polls. */
  public Device device() {
    return device;
  }

  /**
   * Returns what collects the requests that its members post in a duty cycle, and posts them at its
   * end; null if each is to be posted at once.
   */
  public @Nullable LinkedPosts linkedPosts() {
    return linkedPosts;
  }

  /** Returns its thread, or null if an invoker invokes it. */
  public @Nullable Thread thread() {
    return thread;
  }

  /** Returns a number that another duty cycle changes. May be called by any thread. */
  public int cycles() {
    return (int) CYCLES.getOpaque(this);
  }

  /** Returns whether the loop waits for work. May be called by any thread. */
  public boolean isSleeping() {
    return sleeping;
  }

  /**
   * Runs {@code action} on the loop's thread each time the loop has slept, also if it breaks down;
   * the action finds {@link #isSleeping} false. It must be short, and throw nothing.
   */
  public void onWake(Runnable action) {
    onWake = action;
  }

  /** Returns the operations that wait for the loop with a deadline. */
  public Waiters waiters() {
    return waiters;
  }

  /**
   * Calls {@code visitor} with the tasks that wait to be run, as far as they can be seen from
   * another thread: all, if the loop is held up meanwhile; else some, or some that it runs.
   */
  void forEachWaiting(Consumer<LoopTask> visitor) {
    // Tasks that are scheduled again meanwhile may lead in circles.
    int left = MOST_VISITED;
    for (LoopTask task = nextToRun; task != null && --left > 0; task = task.nextTask()) {
      visitor.accept(task);
    }
    for (LoopTask task = tasks.peek(); task != null && --left > 0; task = task.nextTask()) {
      visitor.accept(task);
    }
  }

  /**
   * Calls {@code visitor} with the operations that wait for what the members have taken up, as far
   * as they can be seen from another thread.
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
   * Runs what is scheduled after the end, one at a time: on the thread that schedules it, or on
   * that which runs such tasks just now, as waiting for it could be a deadlock.
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

  /** Returns the time of its clock in nanoseconds, as it was read last: now and then. */
  public long now() {
    return now;
  }

  /**
   * Returns the coarse clock, which advances by one, however long a subscriber blocked the loop.
   */
  public int tick() {
    return tick;
  }

  /** Returns the length of a tick in nanoseconds. */
  public long tickNanos() {
    return tickNanos;
  }

  /** Returns the ticks of a timeout, rounded up, plus one for the tick that has begun. */
  public int ticks(long nanos) {
    long roundedUp = nanos / tickNanos + (nanos % tickNanos == 0 ? 0 : 1);
    return (int) Math.min(Integer.MAX_VALUE / 2, roundedUp) + 1;
  }

  /** Changes the count of deadlines; while there are any, the loop wakes for its clock. */
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
   * A listener to the ticks of the loop, with a deadline of its own. All methods are called on the
   * loop's thread.
   */
  public interface TickListener {
    /** Called on each tick; returns whether it waits for further ticks. */
    boolean tick();

    /**
     * Called once if the loop stops: releases everything.
     *
     * @param broken what the loop broke down with, or null if it was stopped
     */
    void shutDown(@Nullable Throwable broken);
  }

  /** Returns the connections that are called at the end of its duty cycle. */
  public DutyCycleEnds dutyCycleEnds() {
    return ends;
  }

  /** Runs {@code action} on the loop's thread after everything else, when the loop ends. */
  public void atEnd(Runnable action) {
    atEnd.add(action);
  }

  /** Returns the completion queues that it polls, for members to join and to leave. */
  public CompletionQueues<LoopMember> queues() {
    return queues;
  }

  /** Shuts all members down, and ends once the last has left. */
  public void stop() {
    stopping = true;
    execute(() -> shutDownAll(new IllegalStateException("the completion loop was stopped"), false));
  }

  /**
   * Waits for the end of a stopped loop.
   *
   * @return whether it ended in time
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
   * Returns what the loop broke down with, or null. Then it has shut all members down, or is about
   * to, and serves none any more.
   */
  public @Nullable Throwable brokenBy() {
    return brokenBy;
  }

  /**
   * Closes what the loop could not close at its end; after {@link #join}.
   *
   * @throws VerbsException if something is left
   */
  public void closeQueues() {
    queues.close();
  }

  /** Returns what an action at the loop's end threw, or null. */
  public @Nullable Throwable failure() {
    return failure;
  }

  /** Shuts all members and listeners down, whatever one of them throws. */
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

  /** The duty cycle where there is no thread. */
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
   * Runs a task so that its failure harms no other one: reports it as a thread's uncaught
   * exception. That holds for errors of the JVM too, such as a stack overflow in a subscriber.
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
    } catch (Throwable ofTheHandler) {
      // As the JVM does with what a handler of uncaught exceptions throws.
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

  /** Keeps those that wait on, and those that come meanwhile. */
  private static <T> void keepIf(List<T> waiting, Predicate<T> waitsOn) {
    int kept = 0;
    int told = waiting.size();
    for (int i = 0; i < told; i++) {
      T each = waiting.get(i);
      if (waitsOn.test(each)) {
        waiting.set(kept++, each);
      }
    }
    waiting.subList(kept, told).clear();
  }

  /**
   * Calls {@code listener.tick()}; returns false if it throws. It may have signalled a subscriber
   * that its time is over, and so waits no longer.
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
   * Arms the queues, polls once more, and sleeps. A thread that schedules a task either finds it
   * taken or finds the flag set, and wakes the loop.
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
      // The thread is the loop's own: stop() ends it, an interrupt only wakes it.
      idleStrategy.worked();
    } finally {
      sleeping = false;
      Runnable told = onWake;
      if (told != null) {
        told.run();
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
      // A thread that waits for the end tries again, by closeQueues().
    }
    failure = first;
    ended = true;
    runLeftTasks();
  }
}
