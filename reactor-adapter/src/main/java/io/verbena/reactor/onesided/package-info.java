// SPDX-License-Identifier: Apache-2.0
/** One-sided operations: READ, WRITE with notices, and atomics, and their queues for slots. */
@NullMarked
package io.verbena.reactor.onesided;

import org.jspecify.annotations.NullMarked;
