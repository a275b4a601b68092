// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import io.verbena.emulated.driven.DrivenFabric;
import io.verbena.emulated.driven.Driver;
import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.emulated.hca.EmulatedProtectionDomain;
import io.verbena.emulated.hca.EmulatedQueuePair;
import io.verbena.emulated.hca.Secrets;
import io.verbena.emulated.iwarp.capture.TcpCapture;
import io.verbena.emulated.wire.ClockTime;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.Gid;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.io.IOException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An HCA on TCP sockets. All devices of this JVM share the HCA, its sockets and its thread. One
 * thread at a time drives the HCA, see {@link Driver}.
 */
public final class IwarpFabric extends DrivenFabric {
  /** The name of the HCA and of its devices. */
  public static final String NAME = "iwarp0";

  /** The most alarms to run in a turn. */
  private static final int BATCH = 32;

  private final ClockTime time = new ClockTime();
  private final SocketSelector selector = new SocketSelector();
  private final TcpSockets sockets;
  private final Object opening;
  private final Runnable ended;
  private final Driver driver = new Driver(this, new Work());
  private int plugged;
  private volatile boolean inUse;
  private volatile boolean over;

  /**
   * Creates an HCA whose thread starts with the first device.
   *
   * @param opening the lock that a thread holds while it opens or closes a device
   * @param ended called under {@code opening} when the HCA ends; no device can be opened on it any
   *     more
   * @param mostHalfOpen the most accepted connections whose request has not come or waits for a
   *     program
   * @param capture the capture that all bytes are written to, or null; the caller closes it
   * @throws IOException if no selector can be opened
   */
  public IwarpFabric(Object opening, Runnable ended, int mostHalfOpen, @Nullable TcpCapture capture)
      throws IOException {
    super(Secrets.STRONG);
    this.opening = opening;
    this.ended = ended;
    sockets = new TcpSockets(this, time, selector, mostHalfOpen, capture);
  }

  public TcpSockets sockets() {
    return sockets;
  }

  @Override
  public Set<Counter> counted() {
    return Set.of();
  }

  @Override
  public String deviceName() {
    return NAME;
  }

  /** {@inheritDoc} The GID has no meaning on the wire; that of a real RNIC is a MAC address. */
  @Override
  public Gid nextGid() {
    return new Gid(secrets().nextLong(), 0);
  }

  @Override
  public void check(String verb, AddressVector vector) {
    throw new VerbsException(
        VerbsError.NOT_SUPPORTED,
        verb + " (expected: none, iWARP is connected by its connection manager)");
  }

  @Override
  public EmulatedQueuePair createQueuePair(
      EmulatedProtectionDomain domain, int number, QueuePairOptions options) {
    return new IwarpQueuePair(this, domain, number, options);
  }

  @Override
  public void plug(EmulatedDevice device) {
    synchronized (opening) {
      plugged++;
      inUse = true;
      driver.start(NAME + "-engine");
    }
  }

  @Override
  public void unplug(EmulatedDevice device) {
    synchronized (opening) {
      plugged--;
      if (plugged == 0) {
        inUse = false;
        driver.rouse();
      }
    }
  }

  /** Returns whether a device is open; called under {@code opening}. */
  public boolean isInUse() {
    return inUse;
  }

  @Override
  public void wake() {
    driver.wake();
  }

  /** {@inheritDoc} True: the requests of one post go to the socket in one write. */
  @Override
  public boolean hasCostlyPosts() {
    return true;
  }

  @Override
  public boolean isDrivenByPolling() {
    return true;
  }

  @Override
  public boolean progress() {
    return driver.progress();
  }

  @Override
  public void pollingEnds(boolean awaits) {
    if (!awaits) {
      driver.pollingEnds();
    }
  }

  @Override
  public boolean await(Waiter waiter, long nanos) {
    return driver.await(waiter, nanos);
  }

  @Override
  public void rouse(@Nullable Thread waiting) {
    driver.rouse(waiting);
  }

  /** The work of the driver. */
  private final class Work implements Driver.Duties {
    /**
     * {@inheritDoc}
     *
     * <p>Posted requests go out before received bytes are handled. Alarms come last, so that none
     * fires for an answer that has come.
     */
    @Override
    public boolean work() {
      boolean served = serve();
      boolean came = sockets.receive();
      boolean busy = served || came;
      boolean ran = time.runDue(BATCH, busy ? 1 : 0) > 0;
      return busy || ran;
    }

    @Override
    public long untilNextAlarm() {
      return time.untilNext();
    }

    @Override
    public boolean hasWork() {
      return over || hasRung();
    }

    @Override
    public boolean isInUse() {
      return inUse || sockets.hasStreams();
    }

    @Override
    public void await(long nanos) {
      selector.await(nanos);
    }

    @Override
    public void wakeup() {
      selector.wakeup();
    }

    @Override
    public boolean isOver() {
      if (!inUse && isQuiet()) {
        end();
      }
      return over;
    }
  }

  private boolean isQuiet() {
    enter();
    try {
      return !sockets.hasStreams();
    } finally {
      leave();
    }
  }

  /** Ends the HCA, once, unless a device was opened meanwhile. */
  private void end() {
    synchronized (opening) {
      if (over || plugged > 0) {
        return;
      }
      over = true;
      ended.run();
      try {
        selector.close();
      } catch (IOException e) {
        report(e);
      }
    }
  }
}
