// SPDX-License-Identifier: Apache-2.0
/** Ratis's own suites with this RPC type. */
@NullMarked
package io.verbena.ratis.suite;

import org.jspecify.annotations.NullMarked;
