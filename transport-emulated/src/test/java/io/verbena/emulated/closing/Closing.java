// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import static io.verbena.verbs.CompletionStatus.LOC_PROT_ERR;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.CompletionStatus.REM_OP_ERR;
import static io.verbena.verbs.CompletionStatus.SUCCESS;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;

import io.verbena.verbs.CompletionStatus;
import java.util.Set;

/** The object closed meanwhile; the near end posts the operations, the far end is its peer. */
enum Closing {
  DEREGISTER_NEAR(true, false),
  DEREGISTER_FAR(false, true),
  REREGISTER_NEAR(true, false),
  REREGISTER_FAR(false, true),
  CLOSE_WINDOW(false, true),
  UNBIND_WINDOW(false, true),
  RESET_NEAR(true, true),
  RESET_FAR(true, true),
  CLOSE_NEAR(true, true),
  CLOSE_FAR(true, true),
  FAIL_NEAR(true, true),
  FAIL_FAR(true, true);

  /** Whether the memory of the near end must stay untouched afterwards. */
  final boolean closesNear;

  /** Whether the memory of the far end must stay untouched afterwards. */
  final boolean closesFar;

  Closing(boolean closesNear, boolean closesFar) {
    this.closesNear = closesNear;
    this.closesFar = closesFar;
  }

  /** Returns the allowed statuses; after a queue pair is closed, its memory is closed, too. */
  Set<CompletionStatus> statuses() {
    return switch (this) {
      case DEREGISTER_NEAR, REREGISTER_NEAR -> Set.of(SUCCESS, WR_FLUSH_ERR, LOC_PROT_ERR);
      case CLOSE_WINDOW, UNBIND_WINDOW -> Set.of(SUCCESS, WR_FLUSH_ERR, REM_ACCESS_ERR);
      default -> Set.of(SUCCESS, WR_FLUSH_ERR, REM_ACCESS_ERR, REM_OP_ERR, LOC_PROT_ERR);
    };
  }

  boolean needsWindow() {
    return this == CLOSE_WINDOW || this == UNBIND_WINDOW;
  }

  /** Returns whether everything posted at the near end completes. */
  boolean completesSends() {
    return this != RESET_NEAR && this != CLOSE_NEAR;
  }

  /** Returns whether everything posted at the far end completes. */
  boolean completesReceives() {
    return this != RESET_FAR && this != CLOSE_FAR;
  }
}
