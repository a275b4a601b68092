// SPDX-License-Identifier: Apache-2.0
/** Tests of the claims in the documentation. */
@NullMarked
package io.verbena.samples;

import org.jspecify.annotations.NullMarked;
