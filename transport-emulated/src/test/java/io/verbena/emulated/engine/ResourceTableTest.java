// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.ResourceTable.Resource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResourceTableTest {
  private final ResourceTable table = new ResourceTable();

  @BeforeEach
  void makeRoomForThree() {
    table.reset(3);
  }

  private void addAtomic(int psn, long original) {
    table.nextResult().original(original);
    table.addAtomic(psn);
  }

  @Test
  void findsAnAtomicByItsPsn() {
    addAtomic(5, 50);
    addAtomic(6, 60);

    assertThat(table.find(true, 5)).extracting(found -> found.result.original()).isEqualTo(50L);
    assertThat(table.find(true, 6)).extracting(found -> found.result.original()).isEqualTo(60L);
    assertThat(table.find(true, 7)).isNull();
    assertThat(table.find(false, 5)).isNull();
  }

  @Test
  void findsTheLaterOfTwoThatHadThePsnBeforeAndAfterAllOthers() {
    for (int i = 0; i < 10; i++) {
      addAtomic(5, i);
      assertThat(table.find(true, 5))
          .extracting(found -> found.result.original())
          .isEqualTo((long) i);
    }
  }

  @Test
  void forgetsTheOldest() {
    for (int psn = 1; psn <= 4; psn++) {
      addAtomic(psn, psn);
    }

    assertThat(table.find(true, 1)).isNull();
    assertThat(table.find(true, 2)).isNotNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5})
  void keepsTheLastOnesWithAnotherCapacity(int capacity) {
    for (int psn = 1; psn <= 4; psn++) {
      addAtomic(psn, psn);
    }

    table.resize(capacity);

    assertThat(table.capacity()).isEqualTo(capacity);
    for (int psn = 1; psn <= 4; psn++) {
      assertThat(table.find(true, psn) != null)
          .as("keeps %d", psn)
          .isEqualTo(psn > 4 - Math.min(3, capacity));
    }
  }

  @Test
  void goesOnWithTheOldestAfterAnotherCapacity() {
    for (int psn = 1; psn <= 4; psn++) {
      addAtomic(psn, psn);
    }

    table.resize(4);
    addAtomic(5, 5);
    assertThat(table.find(true, 2)).isNotNull();
    addAtomic(6, 6);
    assertThat(table.find(true, 2)).isNull();
    table.resize(2);
    addAtomic(7, 7);

    assertThat(table.find(true, 5)).isNull();
    assertThat(table.find(true, 6)).isNotNull();
    assertThat(table.find(true, 7)).isNotNull();
  }

  @Test
  void findsAReadByAnyOfItsPsnsAlsoOverTheirEnd() {
    table.addRead(0xff_ffff, 3, 1_000, 7, 3_000);

    for (int psn : new int[] {0xff_ffff, 0, 1}) {
      Resource read = table.find(false, psn);
      assertThat(read).isNotNull();
    }
    assertThat(table.find(false, 2)).isNull();
    assertThat(table.find(false, 0xff_fffe)).isNull();
  }

  @Test
  void knowsWhetherAReadAsksForPartOfWhatItAskedFor() {
    table.addRead(0, 3, 1_000, 7, 3_000);
    Resource read = table.find(false, 0);

    assertThat(read).isNotNull();
    assertThat(read.covers(1_000, 7, 3_000)).isTrue();
    assertThat(read.covers(2_024, 7, 1_976)).isTrue();
    assertThat(read.covers(999, 7, 10)).isFalse();
    assertThat(read.covers(1_001, 7, 3_000)).isFalse();
    assertThat(read.covers(1_000, 8, 3_000)).isFalse();
    assertThat(read.covers(2_024, 7, 0xffff_ffffL)).isFalse();
  }
}
