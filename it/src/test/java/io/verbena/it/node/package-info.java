// SPDX-License-Identifier: Apache-2.0
/** Utilities for the tests: one end of verbs, other processes, and the kernel's counts. */
@NullMarked
package io.verbena.it.node;

import org.jspecify.annotations.NullMarked;
