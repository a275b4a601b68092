// SPDX-License-Identifier: Apache-2.0
/** Tests of the verbs SPI's own logic: flyweights, codes and the search for a provider. */
@NullMarked
package io.verbena.verbs;

import org.jspecify.annotations.NullMarked;
