package io.verbena.benchmarks.peers;

/** How Aeron's media driver gets its turns. */
public enum AeronMode {
  /** In the participant's own threads: no third thread, best where CPUs are few. */
  INVOKER,
  /** In a thread of its own that backs off when idle, as most programs run it. */
  BACKOFF
}
