// SPDX-License-Identifier: Apache-2.0
/** The TCK of Reactive Streams, on what the transport publishes and subscribes with. */
@NullMarked
package io.verbena.reactor.streams;

import org.jspecify.annotations.NullMarked;
