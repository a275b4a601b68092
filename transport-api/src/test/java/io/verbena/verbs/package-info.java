// SPDX-License-Identifier: Apache-2.0
/** Tests of code in the verbs SPI itself: flyweights, codes and provider lookup. */
@NullMarked
package io.verbena.verbs;

import org.jspecify.annotations.NullMarked;
