// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.micrometer;

import io.micrometer.core.instrument.DistributionSummary;
import io.verbena.meters.ConnectionMeter;
import io.verbena.meters.ConnectionState;
import io.verbena.meters.HcaMeter;
import io.verbena.meters.MeteredHca;
import io.verbena.verbs.CompletionStatus;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The meter of one device that a transport uses. */
final class MicrometerHca extends HcaMeter {
  private final AdapterMeters adapter;
  private final DeviceMeters counters;
  private final DistributionSummary polls;
  private final AtomicLong entries = new AtomicLong();
  private final AtomicLong reserved = new AtomicLong();
  private final AtomicLong receives = new AtomicLong();
  private final AtomicLong promised = new AtomicLong();

  final MeteredHca hca;

  /** Creates the meter, and adds the device's own counters to {@code counters}. */
  MicrometerHca(
      AdapterMeters adapter, DeviceMeters counters, DistributionSummary polls, MeteredHca hca) {
    this.adapter = adapter;
    this.counters = counters;
    this.polls = polls;
    this.hca = hca;
    counters.opened(this, hca.device().counters());
  }

  @Override
  public ConnectionMeter connection(ConnectionState state, int slots) {
    return adapter.connection(state, slots);
  }

  @Override
  public void completionQueues(long more) {
    entries.addAndGet(more);
  }

  @Override
  public void completionsReserved(long more) {
    reserved.addAndGet(more);
  }

  @Override
  public void receivePool(long size, long morePromised) {
    receives.addAndGet(size);
    promised.addAndGet(morePromised);
  }

  long receives() {
    return receives.get();
  }

  long receivesPromised() {
    return promised.get();
  }

  long completionEntries() {
    return entries.get();
  }

  long completionsReserved() {
    return reserved.get();
  }

  @Override
  public void polled(int completions) {
    polls.record(completions);
  }

  @Override
  public void failed(String operation, @Nullable CompletionStatus status, Throwable why) {
    adapter.failed(operation, status, why);
  }

  @Override
  public void loopStalled(long nanos) {
    adapter.loopStalled();
  }

  @Override
  public void refused(int code) {
    adapter.refused(code);
  }

  @Override
  public void mediumChosen(String medium) {
    adapter.mediumChosen(medium);
  }

  @Override
  public void peerAsked() {
    adapter.peerAsked();
  }

  @Override
  public void peerFoundDead() {
    adapter.peerFoundDead();
  }

  @Override
  public void close() {
    adapter.closed(this);
    counters.closed(this);
  }
}
