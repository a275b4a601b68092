// SPDX-License-Identifier: Apache-2.0
/** Ratis's own suites over this RPC type. */
@NullMarked
package io.verbena.ratis.suite;

import org.jspecify.annotations.NullMarked;
