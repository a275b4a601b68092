// SPDX-License-Identifier: Apache-2.0
/**
 * Tests of programs in containers: the block store, and the support that builds and starts
 * containers.
 */
@NullMarked
package io.verbena.it.containers;

import org.jspecify.annotations.NullMarked;
