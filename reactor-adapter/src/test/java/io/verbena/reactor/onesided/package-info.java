// SPDX-License-Identifier: Apache-2.0
/** Claims about reads, writes, immediates and atomics. */
@NullMarked
package io.verbena.reactor.onesided;

import org.jspecify.annotations.NullMarked;
