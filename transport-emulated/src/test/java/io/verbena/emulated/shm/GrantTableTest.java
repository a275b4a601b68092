// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.hca.Ownership;
import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.emulated.mapped.ReadGrant;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class GrantTableTest {
  private static final Gid READER = new Gid(1, 77);
  private static final int KEY = 0x5501;
  private static final int QUEUE_PAIR = 9;
  private static final int READER_QUEUE_PAIR = 12;

  private final ByteBuffer memory = ByteBuffer.allocateDirect(GrantTable.LENGTH);
  private final HostReadGrants owner =
      new HostReadGrants(new Gid(1, 2), new GrantTable(memory), (high, low) -> null);
  private final GrantTable table = new GrantTable(memory.duplicate());

  private static ReadGrant grant(int queuePair, int key) {
    return new ReadGrant()
        .connection(queuePair, READER_QUEUE_PAIR)
        .range(key, 1000, 500)
        .place(3, 64);
  }

  private static ReadGrant wanted(long address, int length) {
    return new ReadGrant().connection(QUEUE_PAIR, READER_QUEUE_PAIR).range(KEY, address, length);
  }

  /** Grants a key twice, because the owner grants memory only from the second READ of a key on. */
  private void grant(int key) {
    owner.grant(READER, grant(QUEUE_PAIR, key));
    owner.grant(READER, grant(QUEUE_PAIR, key));
  }

  private boolean finds(ReadGrant wanted) {
    return table.find(READER.low(), wanted);
  }

  @Test
  void findsWhatWasGrantedAndNothingElse() {
    assertThat(finds(wanted(1000, 500))).isFalse();
    grant(KEY);

    assertThat(finds(wanted(1100, 400))).isTrue();
    assertThat(table.slab()).isEqualTo(3);
    assertThat(table.offset()).isEqualTo(164);
    assertThat(table.confirm()).isTrue();

    assertThat(finds(wanted(999, 10))).isFalse();
    assertThat(finds(wanted(1100, 401))).isFalse();
    assertThat(finds(wanted(1501, 1))).isFalse();
    assertThat(finds(wanted(Long.MIN_VALUE, 1))).isFalse();
    assertThat(finds(wanted(1000, Integer.MAX_VALUE))).isFalse();
    assertThat(table.find(READER.low() + 1, wanted(1000, 500))).isFalse();
    assertThat(finds(wanted(1000, 500).connection(QUEUE_PAIR, READER_QUEUE_PAIR + 1))).isFalse();
    assertThat(finds(wanted(1000, 500).connection(QUEUE_PAIR + 1, READER_QUEUE_PAIR))).isFalse();
    assertThat(finds(wanted(1000, 500).range(KEY + 1, 1000, 500))).isFalse();
  }

  @Test
  void revokesByQueuePairAndByKeyWithAllItsTags() {
    grant(KEY);
    owner.revoke(QUEUE_PAIR + 1);
    owner.revokeKey(KEY + 0x100);
    assertThat(finds(wanted(1000, 500))).isTrue();

    owner.revoke(QUEUE_PAIR);
    assertThat(table.confirm()).isFalse();
    assertThat(finds(wanted(1000, 500))).isFalse();

    grant(KEY);
    assertThat(finds(wanted(1000, 500))).isTrue();
    owner.revokeKey(KEY + 1);
    assertThat(table.confirm()).isFalse();
    assertThat(finds(wanted(1000, 500))).isFalse();
  }

  @Test
  void grantsNothingForTheFirstReadOfAKey() {
    owner.grant(READER, grant(QUEUE_PAIR, KEY));

    assertThat(finds(wanted(1000, 500))).isFalse();
  }

  @Test
  void aGrantThatIsRepeatedEndsNoCopyUnderWay() {
    grant(KEY);
    assertThat(finds(wanted(1000, 500))).isTrue();

    grant(KEY);

    assertThat(table.confirm()).isTrue();
  }

  @Test
  void theNewestGrantOfAPlaceEndsTheOneBefore() {
    grant(KEY);
    int other = sharesPlace(0);

    grant(other);

    assertThat(finds(wanted(1000, 500))).isFalse();
    assertThat(finds(wanted(1000, 500).range(other, 1000, 500))).isTrue();
    owner.revokeKey(KEY);
    assertThat(table.confirm()).isTrue();
  }

  /** Returns the next key after this one that shares the table entry of {@link #KEY}. */
  private static int sharesPlace(int before) {
    int other = before + 0x100;
    while (GrantTable.place(QUEUE_PAIR, other) != GrantTable.place(QUEUE_PAIR, KEY)
        || other >>> 8 == KEY >>> 8) {
      other += 0x100;
    }
    return other;
  }

  @Test
  void keysThatAreReadOnceLeaveTheGrantOfTheirPlace() {
    grant(KEY);
    assertThat(finds(wanted(1000, 500))).isTrue();

    int once = 0;
    for (int i = 0; i < 20; i++) {
      once = sharesPlace(once);
      owner.grant(READER, grant(QUEUE_PAIR, once));
    }

    assertThat(table.confirm()).isTrue();
    assertThat(finds(wanted(1000, 500))).isTrue();
    assertThat(finds(wanted(1000, 500).range(once, 1000, 500))).isFalse();
  }

  @Test
  void whatAPeerWritesToTheTableKeepsNoGrantAlive() {
    grant(KEY);
    for (int i = 0; i < GrantTable.LENGTH; i++) {
      memory.put(i, (byte) 0);
    }
    owner.revoke(QUEUE_PAIR);
    grant(KEY);

    assertThat(finds(wanted(1000, 500))).isTrue();
    owner.revoke(QUEUE_PAIR);
    assertThat(finds(wanted(1000, 500))).isFalse();
  }

  /** One thread revokes and changes memory while another copies it. */
  @Test
  void noConfirmedCopyHasBytesFromAfterTheGrant() throws Exception {
    int length = 500;
    ByteBuffer payload = ByteBuffer.allocateDirect(length);
    int rounds = 20_000;
    AtomicInteger round = new AtomicInteger();
    AtomicInteger confirmed = new AtomicInteger();
    AtomicInteger seen = new AtomicInteger();
    CompletableFuture<Void> copies =
        CompletableFuture.runAsync(
            () -> {
              byte[] copy = new byte[length];
              for (int spins = 0; round.get() < rounds; spins++) {
                if (!finds(wanted(1000, length))) {
                  Ownership.pause(spins);
                  continue;
                }
                int before = round.get();
                payload.get(0, copy);
                if (table.confirm()) {
                  confirmed.incrementAndGet();
                  for (byte each : copy) {
                    assertThat(each).as("round %s", before).isEqualTo(copy[0]).isPositive();
                  }
                  seen.set(before);
                }
              }
            });
    Random random = new Random(5);
    for (int i = 1; i <= rounds && !copies.isDone(); i++) {
      fill(payload, (byte) (1 + i % 100));
      round.set(i);
      grant(KEY);
      for (int spins = 0; i % 100 == 0 && i < rounds && seen.get() < i && !copies.isDone(); ) {
        Ownership.pause(spins++);
      }
      for (int spins = random.nextInt(400); spins > 0; spins--) {
        Thread.onSpinWait();
      }
      owner.revoke(QUEUE_PAIR);
      fill(payload, (byte) -1);
    }
    copies.get(60, TimeUnit.SECONDS);
    assertThat(confirmed.get()).isGreaterThanOrEqualTo(rounds / 100 - 1);
  }

  private static void fill(ByteBuffer payload, byte value) {
    for (int i = 0; i < payload.capacity(); i++) {
      payload.put(i, value);
    }
  }

  @Test
  void findsNoMemoryOfAHostWithoutALink() {
    assertThat(owner.find(READER, wanted(1000, 500), new PayloadReference())).isFalse();
  }
}
