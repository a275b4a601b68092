// SPDX-License-Identifier: Apache-2.0
/** A quick speed check for development; the published figures come from benchmarks/. */
@NullMarked
package io.verbena.reactor.probe;

import org.jspecify.annotations.NullMarked;
