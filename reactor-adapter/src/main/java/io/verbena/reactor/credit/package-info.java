// SPDX-License-Identifier: Apache-2.0
/**
 * Credits, of frames, messages and immediates: those that the peer gave this end, those that this
 * end gives the peer, and how sends share them. Counts alone, without a queue or a subscriber.
 */
@NullMarked
package io.verbena.reactor.credit;

import org.jspecify.annotations.NullMarked;
