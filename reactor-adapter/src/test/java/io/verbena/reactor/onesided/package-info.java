// SPDX-License-Identifier: Apache-2.0
/** Tests of reads, writes, immediates and atomics. */
@NullMarked
package io.verbena.reactor.onesided;

import org.jspecify.annotations.NullMarked;
