// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

/**
 * Name, length and digest of a block.
 *
 * @param name its name
 * @param length its length in bytes
 * @param sha256 the digest of its bytes
 */
record BlockInfo(String name, long length, Sha256 sha256) {}
