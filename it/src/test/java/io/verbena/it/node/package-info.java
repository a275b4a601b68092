// SPDX-License-Identifier: Apache-2.0
/**
 * What the tests' programs stand on: one end of verbs, other processes, and what the kernel counts.
 */
@NullMarked
package io.verbena.it.node;

import org.jspecify.annotations.NullMarked;
