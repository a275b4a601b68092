package io.verbena.simulation.verbs;

/** A key by which peers reach memory, from what gives it to what ends it. */
final class KeyLifetime {
  final int key;

  /** Of the first byte that it leads to. */
  final long address;

  /** Whether it lets peers read only. */
  final boolean readOnly;

  /** Accesses by it that were posted, and of which the outcome is not known. */
  int uses;

  private boolean born;
  private boolean ending;
  private boolean over;

  KeyLifetime(int key, long address, boolean readOnly) {
    this.key = key;
    this.address = address;
    this.readOnly = readOnly;
  }

  /** What gives it is known to be done. */
  void begin() {
    born = true;
  }

  /** Something that ends it was posted: from now on nobody knows, until that is done. */
  void end() {
    ending = true;
  }

  /** What ends it is known to be done. */
  void over() {
    ending = true;
    over = true;
  }

  /** Whether it opens what it is the key of, for sure. */
  boolean isSure() {
    return born && !ending;
  }

  boolean isEnding() {
    return ending;
  }

  /** Whether it opens nothing any more, for sure. */
  boolean isOver() {
    return over;
  }

  @Override
  public String toString() {
    return Integer.toHexString(key) + (over ? " dead" : ending ? " ending" : born ? "" : " unborn");
  }
}
