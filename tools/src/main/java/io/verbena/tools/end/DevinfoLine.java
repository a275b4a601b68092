// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

/** A label and its value in the layout of {@code ibv_devinfo}: in columns, by tabs of 8. */
public final class DevinfoLine {
  private static final int DEVICE_COLUMN = 40;
  private static final int PORT_COLUMN = 48;

  private DevinfoLine() {}

  /** Returns a line of a device. */
  public static String ofDevice(String label, Object value) {
    return line("\t", 8, DEVICE_COLUMN, label, value);
  }

  /** Returns a line of a port. */
  public static String ofPort(String label, Object value) {
    return line("\t\t\t", 24, PORT_COLUMN, label, value);
  }

  /** Returns a line with a further value of the previous label. */
  public static String more(Object value) {
    return "\t".repeat(DEVICE_COLUMN / 8) + value;
  }

  private static String line(String indent, int at, int column, String label, Object value) {
    int end = at + label.length() + 1;
    int tabs = Math.max(1, (column - end + 7) / 8);
    return indent + label + ":" + "\t".repeat(tabs) + value;
  }
}
