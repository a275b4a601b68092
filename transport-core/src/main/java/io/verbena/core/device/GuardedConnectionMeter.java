// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.device;

import static java.util.Objects.requireNonNull;

import io.verbena.meters.ConnectionMeter;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.SendWorkRequest;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Catches the exceptions of a connection's meter, so that they do not reach the loop. Allocates
 * nothing on the data path.
 */
final class GuardedConnectionMeter extends ConnectionMeter {
  private final ConnectionMeter meter;
  private final AtomicBoolean reported;

  GuardedConnectionMeter(ConnectionMeter meter, AtomicBoolean reported) {
    this.meter = requireNonNull(meter, "meter");
    this.reported = reported;
  }

  @Override
  public void posted(int slot, SendWorkRequest request) {
    try {
      meter.posted(slot, request);
    } catch (Throwable thrown) {
      GuardedHcaMeter.report(reported, thrown);
    }
  }

  @Override
  public void forget(int slot) {
    try {
      meter.forget(slot);
    } catch (Throwable thrown) {
      GuardedHcaMeter.report(reported, thrown);
    }
  }

  @Override
  public void completed(int slot, CompletionStatus status) {
    try {
      meter.completed(slot, status);
    } catch (Throwable thrown) {
      GuardedHcaMeter.report(reported, thrown);
    }
  }

  @Override
  public void sent(int bytes) {
    try {
      meter.sent(bytes);
    } catch (Throwable thrown) {
      GuardedHcaMeter.report(reported, thrown);
    }
  }

  @Override
  public void received(int bytes) {
    try {
      meter.received(bytes);
    } catch (Throwable thrown) {
      GuardedHcaMeter.report(reported, thrown);
    }
  }

  @Override
  public void close() {
    try {
      meter.close();
    } catch (Throwable thrown) {
      GuardedHcaMeter.report(reported, thrown);
    }
  }
}
