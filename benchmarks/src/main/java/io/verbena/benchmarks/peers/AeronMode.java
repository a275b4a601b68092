// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

/** The threads that Aeron's media driver runs on. */
public enum AeronMode {
  /** In the participant's own threads: no third thread, best on few CPUs. */
  INVOKER,
  /** In a thread of its own that backs off when idle, as most programs run it. */
  BACKOFF
}
