// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.aeron.Aeron;
import io.aeron.ChannelUri;
import io.aeron.CommonContext;
import io.aeron.ExclusivePublication;
import io.aeron.Image;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.Spin;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.jspecify.annotations.Nullable;

/** A media driver and a client in this JVM, over files in the folder {@code aeron.dir}. */
final class EmbeddedAeron implements AutoCloseable {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int LARGEST_MTU = 65_504;

  private final MediaDriver driver;
  private final Aeron aeron;
  private final @Nullable AgentInvoker driverInvoker;
  private final @Nullable AgentInvoker clientInvoker;

  EmbeddedAeron(AeronMode mode) {
    this(mode, CommonContext.getAeronDirectoryName());
  }

  /**
   * @param folder the folder of its files, if another process uses the default one
   */
  EmbeddedAeron(AeronMode mode, String folder) {
    boolean invoked = mode == AeronMode.INVOKER;
    MediaDriver.Context context =
        new MediaDriver.Context()
            .aeronDirectoryName(folder)
            .dirDeleteOnStart(true)
            .dirDeleteOnShutdown(true)
            .termBufferSparseFile(false)
            .ipcMtuLength(LARGEST_MTU)
            .threadingMode(invoked ? ThreadingMode.INVOKER : ThreadingMode.SHARED)
            .sharedIdleStrategy(new BackoffIdleStrategy());
    driver = MediaDriver.launch(context);
    driverInvoker = driver.sharedAgentInvoker();
    aeron =
        Aeron.connect(
            new Aeron.Context()
                .aeronDirectoryName(driver.aeronDirectoryName())
                .useConductorAgentInvoker(invoked)
                .driverAgentInvoker(driverInvoker));
    clientInvoker = aeron.conductorAgentInvoker();
  }

  ExclusivePublication publication(int stream, int termLength) {
    return aeron.addExclusivePublication("aeron:ipc?term-length=" + termLength, stream);
  }

  /** Returns a publication to a UDP port of this machine. */
  ExclusivePublication publication(int stream, int termLength, int port) {
    return aeron.addExclusivePublication(
        "aeron:udp?endpoint=127.0.0.1:" + port + "|term-length=" + termLength, stream);
  }

  /** Returns a subscription on any free UDP port of this machine. */
  Subscription udpSubscription(int stream) {
    return aeron.addSubscription("aeron:udp?endpoint=127.0.0.1:0", stream);
  }

  /** Returns the UDP port of a subscription. */
  int port(Subscription subscription) throws TimeoutException {
    Spin spin = Deadline.in(LIMIT).spin();
    String channel = subscription.tryResolveChannelEndpointPort();
    while (channel == null) {
      invoke();
      spin.yield();
      channel = subscription.tryResolveChannelEndpointPort();
    }
    String endpoint = ChannelUri.parse(channel).get(CommonContext.ENDPOINT_PARAM_NAME);
    return Integer.parseInt(endpoint.substring(endpoint.lastIndexOf(':') + 1));
  }

  Subscription subscription(int stream) {
    return aeron.addSubscription("aeron:ipc", stream);
  }

  /** Waits until the two ends of a stream see each other; returns the subscriber's image. */
  Image connected(ExclusivePublication publication, Subscription subscription)
      throws TimeoutException {
    Spin spin = Deadline.in(LIMIT).spin();
    while (!publication.isConnected() || !subscription.isConnected()) {
      invoke();
      spin.yield();
    }
    return subscription.imageAtIndex(0);
  }

  /** Runs a duty cycle of a driver without a thread. Called by one thread at a time. */
  void invoke() {
    if (driverInvoker != null && clientInvoker != null) {
      driverInvoker.invoke();
      clientInvoker.invoke();
    }
  }

  @Override
  public void close() {
    aeron.close();
    driver.close();
  }
}
