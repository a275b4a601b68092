// SPDX-License-Identifier: Apache-2.0
/**
 * The objects of an emulated HCA, apart from how requests travel: device, protection domain, memory
 * region and window with their keys, completion queue, shared receive queue, and what all queue
 * pairs have in common. How requests travel is a {@link io.verbena.emulated.hca.Fabric}'s, which
 * makes the queue pairs.
 *
 * <p>Whoever takes something away from the HCA (closes a region, destroys a queue pair, moves one
 * to ERR) first makes that visible and then waits until the owners that may not have seen it are
 * done, see {@link io.verbena.emulated.hca.Ownership}; so nothing on the data path locks.
 *
 * <p>Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.hca;

import org.jspecify.annotations.NullMarked;
