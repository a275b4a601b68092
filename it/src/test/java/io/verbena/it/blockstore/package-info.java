// SPDX-License-Identifier: Apache-2.0
/** The block store as programs on two nodes. */
@NullMarked
package io.verbena.it.blockstore;

import org.jspecify.annotations.NullMarked;
