// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.mapped;

/**
 * The place of registered memory within memory that peers can map.
 *
 * @param slab the number of a slab that peers can map
 * @param offset the index of the first byte in the slab
 */
public record SharedPlace(int slab, int offset) {}
