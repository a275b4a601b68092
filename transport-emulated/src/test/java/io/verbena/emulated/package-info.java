// SPDX-License-Identifier: Apache-2.0
/** Tests of the emulated HCA's own ideas; what every provider must do is the TCK's. */
@NullMarked
package io.verbena.emulated;

import org.jspecify.annotations.NullMarked;
