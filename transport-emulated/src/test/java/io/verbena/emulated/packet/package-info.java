// SPDX-License-Identifier: Apache-2.0
/** Tests of fabrics over wires. */
@NullMarked
package io.verbena.emulated.packet;

import org.jspecify.annotations.NullMarked;
