// SPDX-License-Identifier: Apache-2.0
/**
 * The cryptography of a locked wire: derives keys from a secret that both ends of a connection
 * have, computes the proofs by which the ends authenticate each other while they connect, and seals
 * each packet, or each record of a stream. It handles only bytes; the callers define messages and
 * packets. Internal: not exported.
 */
@NullMarked
package io.verbena.emulated.crypto;

import org.jspecify.annotations.NullMarked;
