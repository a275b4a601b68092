// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.device;

import static java.util.Objects.requireNonNull;

import io.verbena.meters.ConnectionMeter;
import io.verbena.meters.ConnectionState;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.meters.Meters;
import io.verbena.verbs.CompletionStatus;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Catches the exceptions of a meter, so that they do not reach the loops that call it. The failed
 * measurement is left out, and the first exception for each device is logged.
 */
final class GuardedHcaMeter extends HcaMeter {
  private static final Logger LOG = System.getLogger(HcaMeter.class.getName());

  private final HcaMeter meter;
  private final AtomicBoolean reported;

  private GuardedHcaMeter(HcaMeter meter, AtomicBoolean reported) {
    this.meter = requireNonNull(meter, "meter");
    this.reported = reported;
  }

  /**
   * Returns the guarded meter of a device; {@link HcaMeter#OFF} if {@code meters} returns that or
   * throws.
   */
  static HcaMeter of(Meters meters, MeteredHca hca) {
    AtomicBoolean reported = new AtomicBoolean();
    try {
      HcaMeter made = meters.hca(hca);
      return made == HcaMeter.OFF ? made : new GuardedHcaMeter(made, reported);
    } catch (Throwable thrown) {
      report(reported, thrown);
      return HcaMeter.OFF;
    }
  }

  /** Logs a meter's exception, unless a meter of the same device has thrown before. */
  static void report(AtomicBoolean reported, Throwable thrown) {
    if (!reported.getAndSet(true)) {
      LOG.log(
          Level.WARNING,
          "a meter threw an exception, and its count is left out; see RdmaOptions.meters",
          thrown);
    }
  }

  private void guarded(Runnable call) {
    try {
      call.run();
    } catch (Throwable thrown) {
      report(reported, thrown);
    }
  }

  @Override
  public ConnectionMeter connection(ConnectionState state, int slots) {
    try {
      ConnectionMeter made = meter.connection(state, slots);
      return made == ConnectionMeter.OFF ? made : new GuardedConnectionMeter(made, reported);
    } catch (Throwable thrown) {
      report(reported, thrown);
      return ConnectionMeter.OFF;
    }
  }

  @Override
  public void completionQueues(long entries) {
    guarded(() -> meter.completionQueues(entries));
  }

  @Override
  public void completionsReserved(long entries) {
    guarded(() -> meter.completionsReserved(entries));
  }

  @Override
  public void receivePool(long size, long promised) {
    guarded(() -> meter.receivePool(size, promised));
  }

  @Override
  public void polled(int completions) {
    try {
      meter.polled(completions);
    } catch (Throwable thrown) {
      report(reported, thrown);
    }
  }

  @Override
  public void failed(String operation, @Nullable CompletionStatus status, Throwable why) {
    guarded(() -> meter.failed(operation, status, why));
  }

  @Override
  public void loopStalled(long nanos) {
    guarded(() -> meter.loopStalled(nanos));
  }

  @Override
  public void refused(int code) {
    guarded(() -> meter.refused(code));
  }

  @Override
  public void mediumChosen(String medium) {
    guarded(() -> meter.mediumChosen(medium));
  }

  @Override
  public void peerAsked() {
    guarded(meter::peerAsked);
  }

  @Override
  public void peerFoundDead() {
    guarded(meter::peerFoundDead);
  }

  @Override
  public void close() {
    guarded(meter::close);
  }
}
