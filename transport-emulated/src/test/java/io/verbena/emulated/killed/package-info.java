// SPDX-License-Identifier: Apache-2.0
/** Tests that kill processes on shared memory at any instant and check their peers. */
@NullMarked
package io.verbena.emulated.killed;

import org.jspecify.annotations.NullMarked;
