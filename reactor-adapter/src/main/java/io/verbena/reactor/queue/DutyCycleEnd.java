// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.queue;

import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.LoopMember;

/** Asks the loop to call a connection's {@code endDutyCycle}, once per turn. Only on the loop. */
public final class DutyCycleEnd {
  private final CompletionLoop loop;
  private final LoopMember member;
  private boolean asked;
  private boolean closed;

  /** For the connection {@code member} of {@code loop}. */
  public DutyCycleEnd(CompletionLoop loop, LoopMember member) {
    this.loop = loop;
    this.member = member;
  }

  /**
   * Asks the loop to call {@code endDutyCycle} at the end of this duty cycle, unless it will
   * anyway.
   */
  public void ask() {
    if (!asked && !closed) {
      asked = true;
      loop.endDutyCycleWith(member);
    }
  }

  /** The end of the turn is here: from now on another may be asked for. */
  public void come() {
    asked = false;
  }

  /** The connection has ended: asks for nothing any more. */
  public void close() {
    closed = true;
  }
}
