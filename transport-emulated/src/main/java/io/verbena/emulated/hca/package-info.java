// SPDX-License-Identifier: Apache-2.0
/**
 * The objects of an emulated HCA, independent of the medium: device, protection domain, memory
 * region and window with their keys, completion queue, shared receive queue, and the common part of
 * queue pairs. A {@link io.verbena.emulated.hca.Fabric} carries the requests, and creates the queue
 * pairs.
 *
 * <p>A thread that takes something away from the HCA (closes a region, destroys a queue pair, moves
 * one to ERR) first makes that visible and then waits until the owners that may not have seen it
 * are done, see {@link io.verbena.emulated.hca.Ownership}. So the data path needs no locks for
 * that.
 *
 * <p>Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.hca;

import org.jspecify.annotations.NullMarked;
