// SPDX-License-Identifier: Apache-2.0
/** One-sided operations: READ, WRITE with its notices, and atomics, and how they wait for slots. */
@NullMarked
package io.verbena.reactor.onesided;

import org.jspecify.annotations.NullMarked;
