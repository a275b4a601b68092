// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** A member with completions in the queues of a loop, and perhaps a peer to probe. */
public interface QueueMember extends CompletionTarget, KeepAliveMember {}
