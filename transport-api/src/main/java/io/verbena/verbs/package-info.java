// SPDX-License-Identifier: Apache-2.0
/**
 * The verbs SPI: rdma-core's objects and rules in Java's spelling, for those who write a provider
 * or build a transport on one. Nothing here knows Reactor, Netty or any particular HCA.
 *
 * <p>Ownership: whoever creates an object closes it, children before parents; closing twice does
 * nothing, and any other verb on a closed object fails with {@link
 * io.verbena.verbs.VerbsError#CLOSED}. Threading: every method may be called from any thread unless
 * it says otherwise; posting to one queue pair, or polling one completion queue, from several
 * threads at once is safe but not fast.
 */
@NullMarked
package io.verbena.verbs;

import org.jspecify.annotations.NullMarked;
