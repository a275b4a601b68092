// SPDX-License-Identifier: Apache-2.0
/** Tests of the block store as programs on two nodes. */
@NullMarked
package io.verbena.it.blockstore;

import org.jspecify.annotations.NullMarked;
