// SPDX-License-Identifier: Apache-2.0
/** Tests of the reactive SPI's own logic: tokens and options. */
@NullMarked
package io.verbena;

import org.jspecify.annotations.NullMarked;
