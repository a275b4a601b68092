// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.CompletionQueue;

/**
 * A member's place in a loop: its completion queue and the prefix of its work request ids.
 *
 * @param queue where the member's work requests complete
 * @param prefix what {@link WorkRequestId} builds its ids from
 */
public record Membership(CompletionQueue queue, long prefix) {}
