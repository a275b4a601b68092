// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/**
 * Where registered memory lies in memory that peers can map.
 *
 * @param slab the number of a piece of such memory
 * @param offset the index in it of the first byte
 */
public record SharedPlace(int slab, int offset) {}
