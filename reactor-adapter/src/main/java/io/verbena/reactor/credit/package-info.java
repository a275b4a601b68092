// SPDX-License-Identifier: Apache-2.0
/**
 * Credits of frames, messages and immediates: those from the peer, those for the peer, and how
 * sends share them. Counts alone, without a queue or a subscriber.
 */
@NullMarked
package io.verbena.reactor.credit;

import org.jspecify.annotations.NullMarked;
