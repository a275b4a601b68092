// SPDX-License-Identifier: Apache-2.0
/** Programs in containers: the block store, and what starts and builds all that. */
@NullMarked
package io.verbena.it.containers;

import org.jspecify.annotations.NullMarked;
