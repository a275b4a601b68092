/**
 * The emulated HCA: verbs without hardware, root or native code. Over the direct fabric, in one
 * JVM, the posting thread moves the bytes itself, memory to memory, once.
 *
 * <pre>{@code
 * poster of A            A's SendQueue                      B                       poller of B
 * postSend(wr) --------> own (one CAS) ---- keys, range --> ReceiveQueue: take one
 *                        |                  domain, rights  MemoryRegion: one copy
 *                        |                                  CompletionQueue: claim, publish ---> poll
 *                        |  no receive? the request waits in A's send queue;
 *                        |  B's postReceive, or the RNR timer, goes on with it
 *                        +-> A's CompletionQueue, if signaled
 * }</pre>
 *
 * <p>A queue pair's {@link io.verbena.emulated.SendQueue} is owned by one thread at a time, which
 * alone touches the peer's receive queue. Whoever takes something away from the HCA (closes a
 * region, destroys a queue pair, moves one to ERR) first makes that visible and then waits until
 * the owners that may not have seen it are done; so nothing on the data path locks.
 */
@NullMarked
package io.verbena.emulated;

import org.jspecify.annotations.NullMarked;
