// SPDX-License-Identifier: Apache-2.0
/** The Reactive Streams TCK, run on the transport's publishers and subscribers. */
@NullMarked
package io.verbena.reactor.streams;

import org.jspecify.annotations.NullMarked;
