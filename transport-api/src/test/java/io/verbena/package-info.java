// SPDX-License-Identifier: Apache-2.0
/** Tests of code in the reactive SPI itself: tokens and options. */
@NullMarked
package io.verbena;

import org.jspecify.annotations.NullMarked;
