// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Access;
import io.verbena.verbs.AddressHandle;
import io.verbena.verbs.AddressVector;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.MemoryRegion;
import io.verbena.verbs.MemoryWindow;
import io.verbena.verbs.MemoryWindowType;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import io.verbena.verbs.WorkCompletion;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Driver calls that fail, or during which another thread closes an object that they use. */
final class FailingCallsTest extends ScriptedFaults {
  @Test
  void losesNoCompletionWhenALaterOneCannotBePolled() throws Exception {
    int count = 70;
    try (FakeConnection link =
        new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false, count, 0)) {
      link.client.postSend(writes(count));
      // The driver is polled for 64 completions at a time.
      FakeRdmaCore.script("fail ibv_poll_cq " + Errno.EIO + " 1");

      assertThat(link.completions.poll(WorkCompletion.array(count))).isEqualTo(64);
      assertThat(link.completions.poll(WorkCompletion.array(count))).isEqualTo(count - 64);

      FakeRdmaCore.script("fail ibv_poll_cq " + Errno.EIO);
      assertThatThrownBy(() -> link.completions.poll(WorkCompletion.array(1)))
          .isInstanceOfSatisfying(
              VerbsException.class, e -> assertThat(e.error()).isEqualTo(VerbsError.IO));
    }
  }

  /** As in libsiw, the failing call sets no errno. */
  @Test
  void takesNoReasonOfAnEarlierCallForThatOfOneThatTellsNone() {
    try (DisniDevice device = FakeRdmaCore.open(FakeRdmaCore.uri("10.0.7.1:0"));
        DisniProtectionDomain domain = device.allocateProtectionDomain()) {
      FakeRdmaCore.script("fail ibv_alloc_pd " + Errno.ENOMEM);
      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> device.allocateProtectionDomain().close())
          .returns(VerbsError.NO_MEMORY, VerbsException::error);

      FakeRdmaCore.script("fail ibv_create_srq -1");
      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> domain.createSharedReceiveQueue(4, 1).close())
          .returns(VerbsError.IO, VerbsException::error);
    }
  }

  @Test
  void losesNoCompletionWhenTheFlushOfSoftRoceFails() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.9.1:0"), "", false)) {
      FakeRdmaCore.script("fail ibv_modify_qp " + Errno.EIO);

      assertThat(writeToNowhere(link).status()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
    }
  }

  @Test
  void modifiesNoQueuePairThatFailedByItself() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false)) {
      FakeRdmaCore.script("fail ibv_modify_qp " + Errno.EIO);

      assertThat(writeToNowhere(link).status()).isEqualTo(CompletionStatus.REM_ACCESS_ERR);
      // The scripted failure has not been consumed, so an explicit modify still fails.
      assertThatThrownBy(
              () -> link.client.modify(new QueuePairAttributes().state(QueuePairState.ERR)))
          .isInstanceOf(VerbsException.class)
          .hasMessageContaining("errno " + Errno.EIO);
    }
  }

  @Test
  void knowsWhatWasPostedThoughTheDriverDoesNotSayWhatItRefused() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.20.1:0"), "", false)) {
      FakeRdmaCore.script("fail ibv_post_recv " + Errno.EOPNOTSUPP);
      FakeRdmaCore.script("fail ibv_post_send " + Errno.EOPNOTSUPP);

      assertThatThrownBy(
              () ->
                  link.server.postReceive(
                      new ReceiveWorkRequest().id(1).next(new ReceiveWorkRequest().id(2))))
          .isInstanceOf(PostException.class)
          .hasMessageContaining("work request 1");
      assertThatThrownBy(
              () -> link.client.postSend(nothing().id(3).next(nothing().id(4).signaled())))
          .isInstanceOf(PostException.class)
          .hasMessageContaining("work request 3");

      for (int id = 0; id < link.client.capabilities().maxSend(); id++) {
        link.client.postSend(nothing().id(id).signaled());
        assertThat(link.complete().workRequestId()).isEqualTo(id);
      }
      for (int id = 0; id < link.server.capabilities().maxReceive(); id++) {
        link.server.postReceive(new ReceiveWorkRequest().id(id));
      }
    }
  }

  @Test
  void knowsWhatWasPostedOfAListThatTheDriverTookInPart() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false, 4, 0);
        SharedReceiveQueue shared = link.domain.createSharedReceiveQueue(4, 1)) {
      FakeRdmaCore.script("fail ibv_post_send/request " + Errno.EIO + " 2");
      assertThatThrownBy(() -> link.client.postSend(writes(4)))
          .isInstanceOf(PostException.class)
          .hasMessageContaining("work request 3");
      FakeRdmaCore.script("fail ibv_post_recv/request " + Errno.EIO + " 2");
      assertThatThrownBy(() -> link.server.postReceive(receives(4)))
          .isInstanceOf(PostException.class)
          .hasMessageContaining("work request 3");
      FakeRdmaCore.script("fail ibv_post_recv/request " + Errno.EIO + " 2");
      assertThatThrownBy(() -> shared.postReceive(receives(4)))
          .isInstanceOf(PostException.class)
          .hasMessageContaining("work request 3");

      // Only requests that were posted hold a slot.
      link.client.postSend(writes(2));
      for (int id : new int[] {1, 2, 1, 2}) {
        assertThat(link.complete().workRequestId()).isEqualTo(id);
      }
      link.server.postReceive(receives(2));
      shared.postReceive(receives(2));
      assertThatThrownBy(() -> link.server.postReceive(receives(1)))
          .hasMessageContaining("receives outstanding: 4");
      assertThatThrownBy(() -> shared.postReceive(receives(1)))
          .hasMessageContaining("receives outstanding: ");
    }
  }

  private static SendWorkRequest writes(int count) {
    SendWorkRequest first = null;
    for (int id = count; id > 0; id--) {
      first = nothing().id(id).signaled().next(first);
    }
    return first;
  }

  private static ReceiveWorkRequest receives(int count) {
    ReceiveWorkRequest first = null;
    for (int id = count; id > 0; id--) {
      first = new ReceiveWorkRequest().id(id).next(first);
    }
    return first;
  }

  /** Returns a WRITE of no bytes, which needs no key. */
  private static SendWorkRequest nothing() {
    return new SendWorkRequest().write(0, 0);
  }

  @Test
  void asksForOneGidToCheckAnAddress() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", false)) {
      QueuePair pair =
          link.domain.createQueuePair(
              QueuePairOptions.reliable(link.completions, link.completions, 1, 1));
      pair.modify(toInit());
      AddressVector self = AddressVector.to(link.device.port().gids().get(0));
      QueuePairAttributes ready =
          new QueuePairAttributes()
              .state(QueuePairState.RTR)
              .addressVector(self)
              .pathMtu(link.device.port().activeMtu())
              .destinationQueuePair(pair.number())
              .receivePsn(1)
              .maxDestinationReadAtomic(1)
              .minRnrTimer(1);
      FakeRdmaCore.script("fail _ibv_query_gid_ex " + Errno.EIO + " 1");

      pair.modify(ready);

      assertThat(pair.state()).isEqualTo(QueuePairState.RTR);
      pair.close();
    }
  }

  private static QueuePairAttributes toInit() {
    return new QueuePairAttributes()
        .state(QueuePairState.INIT)
        .pkeyIndex(0)
        .port(1)
        .access(Set.of());
  }

  private static WorkCompletion writeToNowhere(FakeConnection link) {
    try (MemoryRegion from = link.domain.register(ByteBuffer.allocateDirect(8), Set.of())) {
      link.client.postSend(
          new SendWorkRequest().id(1).write(8, 1).buffer(from.address(), 8, from.lkey()));
      return link.complete();
    }
  }

  /** Objects that the driver reaches through a request. */
  private enum LedTo {
    ADDRESS_HANDLE,
    MEMORY_WINDOW,
    MEMORY_REGION
  }

  @ParameterizedTest
  @EnumSource(LedTo.class)
  void destroysNothingToWhichARequestLeadsThatIsBeingPosted(LedTo kind) throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.11.1:0"), "", false);
        QueuePair datagrams = readyForDatagrams(link);
        AddressHandle handle =
            link.domain.createAddressHandle(AddressVector.to(link.device.port().gids().get(0)));
        MemoryWindow window = link.domain.allocateMemoryWindow(MemoryWindowType.TYPE_2B);
        MemoryRegion region =
            link.domain.register(ByteBuffer.allocateDirect(8), Set.of(Access.MW_BIND))) {
      QueuePair pair = kind == LedTo.ADDRESS_HANDLE ? datagrams : link.client;
      SendWorkRequest request =
          kind == LedTo.ADDRESS_HANDLE
              ? new SendWorkRequest().send().to(handle, datagrams.number(), 1).signaled()
              : new SendWorkRequest()
                  .bind(window, region, Access.REMOTE_READ.bit())
                  .buffer(region.address(), 8, region.lkey());
      Runnable close =
          switch (kind) {
            case ADDRESS_HANDLE -> handle::close;
            case MEMORY_WINDOW -> window::close;
            case MEMORY_REGION -> region::close;
          };
      int objects = FakeRdmaCore.objects();
      FakeRdmaCore.script("pause ibv_post_send");
      CompletableFuture<Void> posted =
          CompletableFuture.runAsync(() -> postOrBeRefused(pair, request));
      Awaitility.await().until(() -> FakeRdmaCore.tells("is-paused ibv_post_send"));

      Thread closer = new Thread(close);
      closer.start();
      Awaitility.await()
          .until(
              () -> closer.getState() == Thread.State.BLOCKED || FakeRdmaCore.objects() != objects);
      int meanwhile = FakeRdmaCore.objects();
      FakeRdmaCore.script("resume ibv_post_send");
      posted.get(10, TimeUnit.SECONDS);
      closer.join();

      assertThat(meanwhile).isEqualTo(objects);
      assertThat(FakeRdmaCore.objects()).isEqualTo(objects - 1);
      assertThatThrownBy(() -> pair.postSend(request)).isInstanceOf(PostException.class);
    }
  }

  /** Posts; the fake refuses to bind memory windows. */
  private static void postOrBeRefused(QueuePair pair, SendWorkRequest request) {
    try {
      pair.postSend(request);
    } catch (PostException refused) {
      assertThat(refused.error()).isEqualTo(VerbsError.INVALID);
    }
  }

  private static QueuePair readyForDatagrams(FakeConnection link) {
    QueuePair pair =
        link.domain.createQueuePair(
            QueuePairOptions.reliable(link.completions, link.completions, 1, 1)
                .withType(QueuePairType.UD));
    pair.modify(
        new QueuePairAttributes().state(QueuePairState.INIT).pkeyIndex(0).port(1).queueKey(1));
    pair.modify(new QueuePairAttributes().state(QueuePairState.RTR));
    pair.modify(new QueuePairAttributes().state(QueuePairState.RTS).sendPsn(1));
    return pair;
  }

  @Test
  void closesAQueueWhoseEventIsBeingTaken() throws Exception {
    try (FakeConnection link = new FakeConnection(FakeRdmaCore.uri("10.0.1.1:0"), "", true)) {
      CompletableFuture<Void> done = new CompletableFuture<>();
      Thread taker =
          new Thread(
              () -> {
                try {
                  while (!done.isDone()) {
                    CompletionQueue queue = link.channel.await(TimeUnit.MILLISECONDS.toNanos(10));
                    if (queue != null) {
                      queue.acknowledgeEvents(1);
                    }
                  }
                } catch (InterruptedException | RuntimeException e) {
                  done.completeExceptionally(e);
                }
              });
      taker.start();
      Thread closer =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < 3000; i++) {
                    closeWithAnEvent(link, i);
                  }
                  done.complete(null);
                } catch (RuntimeException e) {
                  done.completeExceptionally(e);
                }
              });
      closer.start();

      done.get(60, TimeUnit.SECONDS);
      taker.join();
      closer.join();
    }
  }

  @Test
  void handsNoClosedDomainToTheHca() {
    ByteBuffer memory = ByteBuffer.allocateDirect(64);
    try (DisniDevice device = FakeRdmaCore.open(FakeRdmaCore.uri("10.0.1.1:0"));
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region = domain.register(memory, Set.of())) {
      DisniProtectionDomain closed = device.allocateProtectionDomain();
      closed.close();
      FakeRdmaCore.script("fail ibv_rereg_mr " + Errno.EIO);

      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> region.reregister(closed, null, null))
          .extracting(VerbsException::error)
          .isEqualTo(VerbsError.CLOSED);
      assertThat(region.protectionDomain()).isSameAs(domain);
    }
  }

  @Test
  void leavesARegionWhereItWasWhenTheHcaRefusesToMoveIt() {
    ByteBuffer memory = ByteBuffer.allocateDirect(64);
    try (DisniDevice device = FakeRdmaCore.open(FakeRdmaCore.uri("10.0.1.1:0"));
        DisniProtectionDomain domain = device.allocateProtectionDomain();
        MemoryRegion region = domain.register(memory, Set.of())) {
      DisniProtectionDomain other = device.allocateProtectionDomain();
      FakeRdmaCore.script("fail ibv_rereg_mr " + Errno.EIO);

      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> region.reregister(other, null, null));
      assertThat(region.protectionDomain()).isSameAs(domain);
      other.close();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "12, NO_MEMORY", // ENOMEM
    "95, NOT_SUPPORTED" // EOPNOTSUPP
  })
  void leavesNoCompletionQueueThatCannotBeModerated(int errno, VerbsError error) {
    URI address = FakeRdmaCore.uri("10.0.1.1:0?cq-count=16&cq-period=20");
    try (DisniDevice device = FakeRdmaCore.open(address);
        DisniCompletionChannel channel = device.createCompletionChannel()) {
      int objects = FakeRdmaCore.objects();
      FakeRdmaCore.script("fail ibv_modify_cq " + errno);

      assertThatExceptionOfType(VerbsException.class)
          .isThrownBy(() -> device.createCompletionQueue(4, channel, false).close())
          .withMessageContaining("mlx5_0, cq-count: 16, cq-period: 20")
          .extracting(VerbsException::error)
          .isEqualTo(error);
      assertThat(FakeRdmaCore.objects()).isEqualTo(objects);
      device.createCompletionQueue(4, channel, false).close();
    }
  }

  @Test
  void opensNoDeviceThatDoesNotTellHowItModerates() {
    URI address = FakeRdmaCore.uri("10.0.1.1:0?cq-count=16&cq-period=20");
    FakeRdmaCore.script("fail ibv_query_device_ex " + Errno.EIO);

    assertThatExceptionOfType(VerbsException.class)
        .isThrownBy(() -> FakeRdmaCore.open(address).close())
        .extracting(VerbsException::error)
        .isEqualTo(VerbsError.IO);
    FakeRdmaCore.open(address).close();
  }

  /**
   * Creates a queue, raises an event, and closes the queue at about the time the event is taken.
   */
  private static void closeWithAnEvent(FakeConnection link, int round) {
    CompletionQueue queue = link.device.createCompletionQueue(4, link.channel);
    QueuePair pair = link.domain.createQueuePair(QueuePairOptions.reliable(queue, queue, 1, 1));
    queue.arm(false);
    pair.modify(toInit());
    pair.postReceive(new ReceiveWorkRequest().id(1));
    pair.modify(new QueuePairAttributes().state(QueuePairState.ERR));
    pair.close();
    for (int i = 0; i < round % 400; i++) {
      Thread.onSpinWait();
    }
    while (true) {
      try {
        queue.close();
        return;
      } catch (VerbsException e) {
        if (e.error() != VerbsError.BUSY) {
          throw e;
        }
        Thread.onSpinWait();
      }
    }
  }
}
