// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.verbs.Device;
import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsProviders;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LinkedPostsTest {
  private static final URI ASYNCHRONOUS = URI.create("emulated://linked?mode=async&seed=1");

  private final Device device = VerbsProviders.find(ASYNCHRONOUS).open(ASYNCHRONOUS);
  private final LinkedPosts posts = requireNonNull(LinkedPosts.of(device));

  /** Sequences of the requests in each posted list, in posting order. */
  private final List<List<Integer>> lists = new ArrayList<>();

  private final Sender sender = new Sender(1L << 44, false);

  @AfterEach
  void close() {
    device.close();
  }

  /** A sender with a queue pair that records each posted list. */
  private final class Sender implements LinkedPosts.Poster {
    final long prefix;
    final boolean rethrows;
    final List<Integer> refused = new ArrayList<>();
    RuntimeException throwing;
    int sequence;
    Runnable receives = () -> {};

    final QueuePair pair =
        (QueuePair)
            Proxy.newProxyInstance(
                LinkedPostsTest.class.getClassLoader(),
                new Class<?>[] {QueuePair.class},
                (proxy, method, arguments) -> {
                  assertThat(method.getName()).isEqualTo("postSend");
                  note((SendWorkRequest) arguments[0]);
                  return null;
                });

    Sender(long prefix, boolean rethrows) {
      this.prefix = prefix;
      this.rethrows = rethrows;
    }

    private void note(SendWorkRequest first) {
      if (throwing != null) {
        throw throwing;
      }
      List<Integer> list = new ArrayList<>();
      for (SendWorkRequest each = first; each != null; each = each.next()) {
        assertThat(each.id() >>> 44).as("whose").isEqualTo(prefix >>> 44);
        list.add(WorkRequestId.sequence(each.id()));
      }
      lists.add(list);
    }

    void add(int count) {
      for (int i = 0; i < count; i++) {
        posts.next(this).send().signaled().id(WorkRequestId.send(prefix, sequence++));
        posts.add(pair, this);
      }
    }

    void refuseFrom(int first) {
      throwing =
          new PostException(VerbsError.NO_MEMORY, WorkRequestId.send(prefix, first), "refused");
    }

    @Override
    public void postReceives() {
      receives.run();
    }

    @Override
    public boolean refused(int first, Throwable why) {
      assertThat(why).isSameAs(throwing);
      refused.add(first);
      return rethrows;
    }
  }

  private static List<Integer> sequences(int from, int to) {
    return IntStream.range(from, to).boxed().toList();
  }

  @Test
  void linksNothingWhereAPostCostsNothing() {
    URI address = URI.create("emulated://not-linked");
    try (Device direct = VerbsProviders.find(address).open(address)) {
      assertThat(LinkedPosts.of(direct)).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 15, 16})
  void postsWhatWasAddedAsOneList(int count) {
    sender.add(count);
    assertThat(lists).isEmpty();

    posts.post();

    assertThat(lists).containsExactly(sequences(0, count));
  }

  @Test
  void postsAFullListAsTheNextRequestComes() {
    sender.add(17);
    assertThat(lists).containsExactly(sequences(0, 16));

    posts.post();

    assertThat(lists).containsExactly(sequences(0, 16), sequences(16, 17));
  }

  @Test
  void linksNothingToAListThatIsShorterThanTheOneBefore() {
    sender.add(5);
    posts.post();
    sender.add(2);
    posts.post();

    assertThat(lists).containsExactly(sequences(0, 5), sequences(5, 7));
  }

  @Test
  void postsTheListOfAnotherQueuePairFirst() {
    Sender other = new Sender(2L << 44, false);
    sender.add(3);
    other.add(1);
    assertThat(lists).containsExactly(sequences(0, 3));

    posts.post();

    assertThat(lists).containsExactly(sequences(0, 3), sequences(0, 1));
  }

  @Test
  void postsNothingWhereNothingWasAdded() {
    posts.post();
    sender.add(1);
    posts.post();
    posts.post();

    assertThat(lists).containsExactly(sequences(0, 1));
  }

  @Test
  void postsTheReceivesOfAPosterAheadOfItsListAlone() {
    Sender other = new Sender(2L << 44, false);
    List<Sender> received = new ArrayList<>();
    other.receives = () -> received.add(other);
    sender.receives =
        () -> {
          assertThat(lists).isEmpty();
          received.add(sender);
        };
    sender.add(1);

    other.add(1);

    assertThat(received).containsExactly(sender);
    assertThat(lists).containsExactly(sequences(0, 1));
  }

  @Test
  void postsAllReceivesForTheLoopThoughNobodySends() {
    List<String> received = new ArrayList<>();
    posts.beginWith(() -> received.add("all"));

    posts.post();

    assertThat(received).containsExactly("all");
  }

  /** A refused post of receives may make its owner send something by another queue pair. */
  @Test
  void keepsApartWhatIsAddedWhileReceivesArePosted() {
    Sender third = new Sender(3L << 44, false);
    sender.receives =
        () -> {
          sender.receives = () -> {};
          third.add(2);
        };
    sender.add(3);
    Sender other = new Sender(2L << 44, false);

    other.add(1);
    posts.post();

    assertThat(lists).containsExactly(sequences(0, 3), sequences(0, 2), sequences(0, 1));
  }

  @Test
  void tellsWhoseRequestsWereRefusedFromWhichOn() {
    Sender other = new Sender(2L << 44, false);
    sender.add(4);
    sender.refuseFrom(2);

    other.add(1);
    posts.post();

    assertThat(sender.refused).containsExactly(2);
    assertThat(other.refused).isEmpty();
    assertThat(lists).containsExactly(sequences(0, 1));
  }

  @Test
  void takesAllForRefusedWhereTheProviderThrowsSomethingElse() {
    sender.add(4);
    sender.throwing = new IllegalStateException("no provider should");

    posts.post();

    assertThat(sender.refused).containsExactly(0);
  }

  @Test
  void takesAllForRefusedWhereTheProviderNamesARequestOfNoList() {
    sender.add(4);
    sender.refuseFrom(1000);

    posts.post();

    assertThat(sender.refused).containsExactly(0);
  }

  @Test
  void throwsToNobodyElse() {
    Sender strict = new Sender(2L << 44, true);
    strict.add(4);
    strict.refuseFrom(2);

    sender.add(1);
    posts.post(strict);
    posts.post(sender);

    assertThat(strict.refused).containsExactly(2);
    assertThat(lists).containsExactly(sequences(0, 1));
    strict.add(1);
    posts.post();
    assertThat(strict.refused).as("for the loop").containsExactly(2, 4);
  }

  @Test
  void postsTheListOfWhoAsksAlone() {
    sender.add(2);

    posts.post(new Sender(2L << 44, false));
    assertThat(lists).isEmpty();
    posts.post(sender);

    assertThat(lists).containsExactly(sequences(0, 2));
  }

  @Test
  void throwsToThePosterThatSaysSo() {
    Sender strict = new Sender(3L << 44, true);
    strict.add(16);
    strict.refuseFrom(7);

    assertThatThrownBy(() -> posts.next(strict)).isSameAs(strict.throwing);

    assertThat(strict.refused).containsExactly(7);
    strict.throwing = null;
    strict.add(1);
    posts.post();
    assertThat(lists).containsExactly(sequences(16, 17));
  }
}
