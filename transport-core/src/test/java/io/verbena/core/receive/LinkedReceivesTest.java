// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaOptions;
import io.verbena.core.loop.CloseSteps;
import io.verbena.core.loop.CompletionQueues;
import io.verbena.core.loop.LinkedPosts;
import io.verbena.core.loop.LoopMember;
import io.verbena.core.loop.WorkRequestId;
import io.verbena.core.memory.RegisteredMemory;
import io.verbena.meters.HcaMeter;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.Device;
import io.verbena.verbs.PostException;
import io.verbena.verbs.ProtectionDomain;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsProviders;
import io.verbena.verbs.WorkCompletion;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how a pool posts receives on a device where each post call is expensive. */
@Tag("once")
class LinkedReceivesTest {
  private static final URI ADDRESS = URI.create("emulated://linked-receives?mode=async&seed=1");
  private static final int FIRST = 4;
  private static final int FRAME = 1024;
  private static final int NUMBER = 7;
  private static final int OTHER = 8;

  private final Device device = VerbsProviders.find(ADDRESS).open(ADDRESS);
  private final ProtectionDomain domain = device.allocateProtectionDomain();
  private final RegisteredMemory memory =
      new RegisteredMemory(domain, RdmaOptions.builder().build());
  private final CompletionQueues<LoopMember> completions =
      new CompletionQueues<>(device, null, HcaMeter.OFF);
  private final LinkedPosts posts = requireNonNull(LinkedPosts.of(device));

  /** The length of each posted list, and "send" for a list of sends. */
  private final List<String> lists = new ArrayList<>();

  /** The ids of the posted receives, in order. */
  private final List<Long> posted = new ArrayList<>();

  /** Index in the next list of the first receive that is refused. */
  private int refusedAt = Integer.MAX_VALUE;

  private final ReceivePool pool =
      new ReceivePool(
          completions,
          watched(),
          new ReceiveFrames(memory, FRAME),
          64,
          FIRST,
          () -> 0,
          posts,
          HcaMeter.OFF,
          new CloseSteps());
  private final Connection one = new Connection(NUMBER);
  private final Connection other = new Connection(OTHER);

  private final class Connection implements ReceivePool.User {
    final ReceiveShare share = pool.join();
    final List<Throwable> refusals = new ArrayList<>();
    final List<ByteBuf> frames = new ArrayList<>();

    Connection(int number) {
      share.serve(number, this);
    }

    @Override
    public void received(ByteBuf frame, WorkCompletion completion) {
      frames.add(frame);
    }

    @Override
    public void receiveRefused(Throwable why) {
      refusals.add(why);
    }

    void take(int count) {
      for (int i = 0; i < count; i++) {
        WorkCompletion completion = new WorkCompletion();
        completion.setError(
            posted.remove(0), CompletionStatus.WR_FLUSH_ERR, 0, this == one ? NUMBER : OTHER);
        pool.completed(completion);
      }
    }

    void giveBack(int count) {
      for (int i = 0; i < count; i++) {
        share.giveBack(frames.remove(0));
      }
    }
  }

  private ProtectionDomain watched() {
    return proxy(
        ProtectionDomain.class,
        (method, arguments) -> {
          SharedReceiveQueue real =
              domain.createSharedReceiveQueue((Integer) arguments[0], (Integer) arguments[1]);
          return proxy(
              SharedReceiveQueue.class,
              (called, its) -> {
                if (called.equals("close")) {
                  real.close();
                } else {
                  note((ReceiveWorkRequest) its[0]);
                }
                return null;
              });
        });
  }

  private interface Answer {
    Object to(String method, Object[] arguments);
  }

  private static <T> T proxy(Class<T> type, Answer answer) {
    return type.cast(
        Proxy.newProxyInstance(
            LinkedReceivesTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> answer.to(method.getName(), arguments)));
  }

  private void note(ReceiveWorkRequest first) {
    int length = 0;
    int refused = refusedAt;
    refusedAt = Integer.MAX_VALUE;
    for (ReceiveWorkRequest each = first; each != null; each = each.next()) {
      if (length == refused) {
        lists.add(length + " of more");
        throw new PostException(VerbsError.NO_MEMORY, each.id(), "refused by a test");
      }
      posted.add(each.id());
      length++;
    }
    lists.add(Integer.toString(length));
  }

  @AfterEach
  void close() {
    for (Connection each : List.of(one, other)) {
      each.frames.forEach(ByteBuf::release);
      each.share.release();
    }
    completions.close();
    memory.close();
    domain.close();
    device.close();
  }

  @Test
  void postsWhatAConnectionIsPromisedAtOnce() {
    assertThat(lists).containsExactly("4", "4");
  }

  @Test
  void postsWhatIsGrantedAtOnceAndLinked() {
    assertThat(one.share.grow(20)).isEqualTo(20);

    assertThat(lists).endsWith("16", "4");
  }

  @Test
  void postsWhatADutyCycleGivesBackAsOneList() {
    one.take(3);
    other.take(2);
    lists.clear();

    one.giveBack(3);
    other.giveBack(2);
    assertThat(lists).isEmpty();
    posts.post();
    posts.post();

    assertThat(lists).containsExactly("5");
    assertThat(posted).hasSize(2 * FIRST).doesNotHaveDuplicates();
  }

  /** The sends may give the peer credits for these receives. */
  @Test
  void postsReceivesAheadOfSends() {
    one.take(1);
    one.giveBack(1);
    lists.clear();
    LinkedPosts.Poster sender =
        new LinkedPosts.Poster() {
          @Override
          public void postReceives() {
            one.share.post();
          }

          @Override
          public boolean refused(int sequence, Throwable why) {
            return true;
          }
        };
    QueuePair pair =
        proxy(
            QueuePair.class,
            (method, arguments) -> {
              assertThat(arguments[0]).isInstanceOf(SendWorkRequest.class);
              lists.add("send");
              return null;
            });
    posts.next(sender).send().signaled().id(WorkRequestId.send(1L << 44, 0));
    posts.add(pair, sender);

    posts.post(sender);

    assertThat(lists).containsExactly("1", "send");
  }

  @Test
  void tellsWhoGaveBackWhatIsRefusedAndGoesOn() {
    for (Connection each : List.of(one, other, other, one)) {
      each.take(1);
      each.giveBack(1);
    }
    refusedAt = 1;

    posts.post();

    assertThat(posted).hasSize(2 * FIRST - 3);
    assertThat(one.refusals).hasSize(1);
    assertThat(other.refusals).hasSize(1).first().isInstanceOf(PostException.class);
    one.take(1);
    one.giveBack(1);
    posts.post();
    assertThat(posted).as("one in its place, and one for what was lost").hasSize(2 * FIRST - 2);
    assertThat(one.refusals).hasSize(1);
  }

  @Test
  void tellsNobodyWhoseReceivesWerePosted() {
    one.take(1);
    one.giveBack(1);
    other.take(1);
    other.giveBack(1);
    refusedAt = 1;

    posts.post();

    assertThat(one.refusals).isEmpty();
    assertThat(other.refusals).hasSize(1);
  }

  @Test
  void throwsWhereWhatIsGrantedIsRefused() {
    one.take(2);
    one.giveBack(2);
    lists.clear();
    posts.post();
    refusedAt = 1;

    assertThatThrownBy(() -> other.share.grow(8)).isInstanceOf(PostException.class);

    assertThat(lists).containsExactly("2", "1 of more");
    assertThat(one.refusals).isEmpty();
    assertThat(other.refusals).isEmpty();
  }

  /** The receives given back by a released share belong to nobody. */
  @Test
  void tellsNoConnectionThatIsGone() {
    one.take(4);
    one.giveBack(4);
    one.share.release();
    refusedAt = 0;

    posts.post();

    assertThat(one.refusals).isEmpty();
  }

  @Test
  void dropsWhatWaitsWithItsLastConnection() {
    one.take(2);
    one.giveBack(2);
    lists.clear();
    one.share.release();
    other.share.release();

    posts.post();

    assertThat(lists).isEmpty();
  }
}
