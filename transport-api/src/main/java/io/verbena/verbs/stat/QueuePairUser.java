package io.verbena.verbs.stat;

import java.util.Map;

/**
 * Who has a queue pair, as far as a person wants to know. Asked on any thread, while it works: it
 * answers at once, from fields as they are, and what it answers may be a moment old.
 */
public interface QueuePairUser {

  /** What it is, in a word: {@code reactor}, {@code netty}. */
  String name();

  /** Credits of the peer that are not used, by the kind of credit; empty without any. */
  Map<String, Integer> credits();
}
