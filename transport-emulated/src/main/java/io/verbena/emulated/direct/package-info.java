// SPDX-License-Identifier: Apache-2.0
/**
 * The direct fabric: within one JVM the posting thread itself copies the bytes once, from memory to
 * memory. In the asynchronous mode another thread does so later.
 *
 * <pre>{@code
 * poster of A         A's DirectSendQueue                   B                       poller of B
 * postSend(wr) --------> own (one CAS) ---- keys, range --> ReceiveRing: take one
 *                        |                  domain, rights  MemoryRegion: one copy
 *                        |                                  CompletionQueue: claim, publish ---> poll
 *                        |  no receive? the request waits in A's send queue;
 *                        |  B's postReceive, or the RNR timer, goes on with it
 *                        +-> A's CompletionQueue, if signaled
 * }</pre>
 *
 * <p>A queue pair's {@link io.verbena.emulated.direct.DirectSendQueue} is owned by one thread at a
 * time, and only that thread accesses the peer's receives.
 *
 * <p>Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.direct;

import org.jspecify.annotations.NullMarked;
