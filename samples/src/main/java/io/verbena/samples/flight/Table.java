// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;

/**
 * A table of trades, whose values follow from the number of the row: each end can compute them, and
 * check the rows that the other sent.
 */
final class Table {
  /** The rows of a batch. */
  static final int BATCH = 1 << 14;

  static final Schema SCHEMA =
      new Schema(
          List.of(
              Field.notNullable("number", new ArrowType.Int(Long.SIZE, true)),
              Field.notNullable(
                  "price", new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE)),
              Field.nullable("symbol", ArrowType.Utf8.INSTANCE)));

  private static final long STEP = 7_919;
  private static final long PRICES = 1_000_003;
  private static final int NO_SYMBOL = 11;

  private static final byte[][] SYMBOLS =
      IntStream.range(0, 1_000)
          .mapToObj(number -> ("VRBN-" + number).getBytes(StandardCharsets.UTF_8))
          .toArray(byte[][]::new);

  private Table() {}

  /** Returns the rows of the next batch, with {@code left} rows to go. */
  static int batch(long left) {
    return (int) Math.min(left, BATCH);
  }

  /** Replaces the rows of a batch. */
  static void fill(VectorSchemaRoot batch, long first, int rows) {
    BigIntVector numbers = numbers(batch);
    Float8Vector prices = prices(batch);
    VarCharVector symbols = symbols(batch);
    for (int i = 0; i < rows; i++) {
      long row = first + i;
      numbers.setSafe(i, row);
      prices.setSafe(i, price(row));
      if (hasSymbol(row)) {
        symbols.setSafe(i, symbol(row));
      } else {
        symbols.setNull(i);
      }
    }
    batch.setRowCount(rows);
  }

  /**
   * Counts the rows of a batch in which a value is wrong.
   *
   * @param first the number of its first row
   */
  static int countWrong(VectorSchemaRoot batch, long first) {
    int wrong = 0;
    for (int i = 0; i < batch.getRowCount(); i++) {
      if (!isRight(batch, i, first + i)) {
        wrong++;
      }
    }
    return wrong;
  }

  private static boolean isRight(VectorSchemaRoot batch, int at, long row) {
    byte[] expected = hasSymbol(row) ? symbol(row) : null;
    return numbers(batch).get(at) == row
        && Double.compare(prices(batch).get(at), price(row)) == 0
        && Arrays.equals(symbols(batch).get(at), expected);
  }

  private static double price(long row) {
    return row * STEP % PRICES / 100.0;
  }

  private static boolean hasSymbol(long row) {
    return row % NO_SYMBOL != 0;
  }

  private static byte[] symbol(long row) {
    return SYMBOLS[(int) (row % SYMBOLS.length)];
  }

  private static BigIntVector numbers(VectorSchemaRoot batch) {
    return (BigIntVector) batch.getVector(0);
  }

  private static Float8Vector prices(VectorSchemaRoot batch) {
    return (Float8Vector) batch.getVector(1);
  }

  private static VarCharVector symbols(VectorSchemaRoot batch) {
    return (VarCharVector) batch.getVector(2);
  }
}
