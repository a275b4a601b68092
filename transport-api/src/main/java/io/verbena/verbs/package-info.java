// SPDX-License-Identifier: Apache-2.0
/**
 * The verbs SPI: rdma-core's objects and rules in Java's spelling, for authors of providers and of
 * transports. Independent of Reactor, Netty and any particular HCA.
 *
 * <p>Ownership: the creator of an object closes it, children before parents. Closing twice does
 * nothing; any other verb on a closed object fails with {@link io.verbena.verbs.VerbsError#CLOSED}.
 * Threading: any thread may call any method unless the method says otherwise. Posting to one queue
 * pair, or polling one completion queue, from several threads at once is safe but slow.
 */
@NullMarked
package io.verbena.verbs;

import org.jspecify.annotations.NullMarked;
