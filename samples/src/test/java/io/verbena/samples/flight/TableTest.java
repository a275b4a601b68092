// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TableTest {
  private static final long FIRST = 1_000;
  private static final int ROWS = 100;

  private final BufferAllocator memory = new RootAllocator();
  private final VectorSchemaRoot batch = VectorSchemaRoot.create(Table.SCHEMA, memory);

  @BeforeEach
  void fill() {
    Table.fill(batch, FIRST, ROWS);
  }

  @AfterEach
  void close() {
    batch.close();
    memory.close();
  }

  @Test
  void allRowsAreRightAsTheyWereFilled() {
    assertThat(batch.getRowCount()).isEqualTo(ROWS);
    assertThat(Table.countWrong(batch, FIRST)).isZero();
  }

  @Test
  void allRowsAreWrongWhereOthersWereExpected() {
    assertThat(Table.countWrong(batch, FIRST + 1)).isEqualTo(ROWS);
  }

  @Test
  void countsARowForEachWrongValue() {
    ((BigIntVector) batch.getVector("number")).set(3, 0);
    ((Float8Vector) batch.getVector("price")).set(5, Math.nextUp(0.0));
    ((VarCharVector) batch.getVector("symbol")).setNull(7);
    ((VarCharVector) batch.getVector("symbol")).setSafe(ROWS - 1, new byte[] {'V'});

    assertThat(Table.countWrong(batch, FIRST)).isEqualTo(4);
  }
}
