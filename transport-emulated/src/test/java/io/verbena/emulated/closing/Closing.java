// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.closing;

import static io.verbena.verbs.CompletionStatus.LOC_PROT_ERR;
import static io.verbena.verbs.CompletionStatus.REM_ACCESS_ERR;
import static io.verbena.verbs.CompletionStatus.REM_OP_ERR;
import static io.verbena.verbs.CompletionStatus.SUCCESS;
import static io.verbena.verbs.CompletionStatus.WR_FLUSH_ERR;

import io.verbena.verbs.CompletionStatus;
import java.util.Set;

/** What is closed meanwhile; near is the end that posts the operations, far the other one. */
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

  /** Whether nothing may touch the memory of the near end afterwards. */
  final boolean closesNear;

  /** The same of the far end. */
  final boolean closesFar;

  Closing(boolean closesNear, boolean closesFar) {
    this.closesNear = closesNear;
    this.closesFar = closesFar;
  }

  /** How requests and receives may end: where a queue pair goes, the memory goes after it. */
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

  /** Whether all that the near end has posted completes. */
  boolean completesSends() {
    return this != RESET_NEAR && this != CLOSE_NEAR;
  }

  /** Whether all that the far end has posted completes. */
  boolean completesReceives() {
    return this != RESET_FAR && this != CLOSE_FAR;
  }
}
