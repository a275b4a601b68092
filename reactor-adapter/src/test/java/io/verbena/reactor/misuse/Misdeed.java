// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.misuse;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.reactor.testing.Ends;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Mono;

/** A kind of misbehaviour in a callback. */
enum Misdeed {
  THROWS_EXCEPTION,
  THROWS_ASSERTION_ERROR,
  THROWS_LINKAGE_ERROR,
  THROWS_OUT_OF_MEMORY,
  THROWS_STACK_OVERFLOW,
  /** Calls block(), which throws in a thread that must not block. */
  BLOCKS,
  /** Occupies the thread for a while. */
  DAWDLES,
  RELEASES_TWICE,
  /** Releases the buffer in another thread. */
  RELEASES_ELSEWHERE,
  /** Publishes more than was requested. */
  EXCEEDS_DEMAND,
  PUBLISHES_NULL,
  /** Completes, completes again, and fails. */
  ENDS_TWICE,
  SUBSCRIBES_TWICE,
  CANCELS,
  REQUESTS_ZERO,
  REQUESTS_NEGATIVE,
  SENDS,
  READS,
  RECEIVES,
  CLOSES,
  DISPOSES,
  DISPOSES_TRANSPORT,
  INTERRUPTS;

  private static final String THROWN = "thrown by a misdeed";
  private static final long A_WHILE = TimeUnit.MILLISECONDS.toNanos(2);

  /** Returns whether a misdeed threw this error. */
  static boolean isThrown(Throwable error) {
    return THROWN.equals(error.getMessage());
  }

  boolean isThrow() {
    return compareTo(THROWS_STACK_OVERFLOW) <= 0 || this == BLOCKS;
  }

  boolean isRelease() {
    return this == RELEASES_TWICE || this == RELEASES_ELSEWHERE;
  }

  /** Returns whether this misdeed breaks a rule for publishers. */
  boolean isOfPublishers() {
    return compareTo(EXCEEDS_DEMAND) >= 0 && compareTo(SUBSCRIBES_TWICE) <= 0;
  }

  boolean needsSubscription() {
    return this == CANCELS || this == REQUESTS_ZERO || this == REQUESTS_NEGATIVE;
  }

  boolean needsConnection() {
    return compareTo(SENDS) >= 0 && compareTo(DISPOSES) <= 0;
  }

  /** Releases a buffer that this code owns once, in the wrong way. */
  void release(ByteBuf buffer) {
    if (this == RELEASES_ELSEWHERE) {
      Thread elsewhere = new Thread(buffer::release, "elsewhere");
      elsewhere.start();
      join(elsewhere);
    } else {
      buffer.release();
      buffer.release();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join(Ends.LIMIT.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Commits this misdeed.
   *
   * @param subscription of the operation, or null
   */
  void commit(Scene scene, @Nullable Subscription subscription) {
    switch (this) {
      case THROWS_EXCEPTION, THROWS_LINKAGE_ERROR, THROWS_OUT_OF_MEMORY -> commitThrow();
      case THROWS_ASSERTION_ERROR -> throw new AssertionError(THROWN);
      case THROWS_STACK_OVERFLOW -> throw new StackOverflowError(THROWN);
      case BLOCKS -> Mono.never().block(Duration.ofNanos(A_WHILE));
      case DAWDLES -> LockSupport.parkNanos(A_WHILE);
      case CANCELS -> scene.cancel(subscription);
      case REQUESTS_ZERO -> request(subscription, 0);
      case REQUESTS_NEGATIVE -> request(subscription, -1);
      case DISPOSES_TRANSPORT -> scene.disposeTransport();
      case INTERRUPTS -> Thread.currentThread().interrupt();
      case SENDS, READS, RECEIVES, CLOSES, DISPOSES -> reenter(scene, scene.guilty());
      case RELEASES_TWICE,
          RELEASES_ELSEWHERE,
          EXCEEDS_DEMAND,
          PUBLISHES_NULL,
          ENDS_TWICE,
          SUBSCRIBES_TWICE ->
          throw new IllegalStateException(this + ": it needs a buffer or a subscriber");
    }
  }

  /** Throws, if this misdeed is one of those for which {@link #commit} calls this method. */
  void commitThrow() {
    switch (this) {
      case THROWS_EXCEPTION -> throw new IllegalStateException(THROWN);
      case THROWS_LINKAGE_ERROR -> throw new NoSuchMethodError(THROWN);
      case THROWS_OUT_OF_MEMORY -> throw new OutOfMemoryError(THROWN);
      default -> throw new AssertionError(this + ": it does not throw");
    }
  }

  private static void request(@Nullable Subscription subscription, long count) {
    if (subscription != null) {
      subscription.request(count);
    }
  }

  private void reenter(Scene scene, RdmaConnection connection) {
    switch (this) {
      case SENDS -> scene.watch("a send from within", connection.send(scene.messages(2)));
      case READS -> scene.watch("a read from within", connection.read(scene.peersMemory()));
      case RECEIVES -> scene.watch("a receive from within", connection.receive());
      case CLOSES -> scene.watch("a close from within", connection.close());
      default -> connection.dispose();
    }
  }
}
