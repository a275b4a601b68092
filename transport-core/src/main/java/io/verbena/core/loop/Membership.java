// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.CompletionQueue;

/**
 * A member's place in a loop: its completion queue and the prefix of its work request ids.
 *
 * @param queue the completion queue of the member's work requests
 * @param prefix the prefix from which {@link WorkRequestId} builds the member's ids
 */
public record Membership(CompletionQueue queue, long prefix) {}
