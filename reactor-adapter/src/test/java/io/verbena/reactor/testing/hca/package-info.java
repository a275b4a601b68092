// SPDX-License-Identifier: Apache-2.0
/**
 * An HCA that can do less than the emulated one it wraps, and whose completions a test can hold
 * back.
 */
@NullMarked
package io.verbena.reactor.testing.hca;

import org.jspecify.annotations.NullMarked;
