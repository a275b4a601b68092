// SPDX-License-Identifier: Apache-2.0
/** Tests of features of the emulated HCA; the TCK tests what every provider must do. */
@NullMarked
package io.verbena.emulated;

import org.jspecify.annotations.NullMarked;
