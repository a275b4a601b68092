// SPDX-License-Identifier: Apache-2.0
/**
 * Processes on shared memory are killed at any instant, and those that they talked to are asked.
 */
@NullMarked
package io.verbena.emulated.killed;

import org.jspecify.annotations.NullMarked;
