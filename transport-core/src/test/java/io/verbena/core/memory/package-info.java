// SPDX-License-Identifier: Apache-2.0
/** Tests of registered memory on a recording implementation of the verbs SPI. */
@NullMarked
package io.verbena.core.memory;

import org.jspecify.annotations.NullMarked;
