// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** The end that checks each message and answers with one of its own. For one thread. */
public final class Pong {
  private final MessageSource source;
  private final MessageCheck check;

  public Pong(int size) {
    this.source = new MessageSource(size);
    this.check = new MessageCheck(size);
  }

  /** Returns the size of every message in bytes. */
  public int size() {
    return source.size();
  }

  /** Writes a buffer once, before its first {@link #send}. */
  public void prepare(MessageView out) {
    source.prepare(out);
  }

  /** Checks a message. */
  public void receive(MessageView in, int length) {
    check.accept(in, length);
  }

  /** Writes the reply. */
  public void send(MessageView out) {
    source.next(out);
  }

  /** Checks a sequence number without a message and returns the answer. */
  public long reply(long in) {
    check.accept(in);
    return source.next();
  }
}
