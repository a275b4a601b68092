// SPDX-License-Identifier: Apache-2.0
/** Fabrics over wires. */
@NullMarked
package io.verbena.emulated.packet;

import org.jspecify.annotations.NullMarked;
