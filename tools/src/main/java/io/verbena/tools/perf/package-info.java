// SPDX-License-Identifier: Apache-2.0
/** Bandwidth and latency, with perftest's own protocol. */
@NullMarked
package io.verbena.tools.perf;

import org.jspecify.annotations.NullMarked;
