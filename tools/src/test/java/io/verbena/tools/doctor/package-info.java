// SPDX-License-Identifier: Apache-2.0
/** The doctor on RNICs that are only described. */
@NullMarked
package io.verbena.tools.doctor;

import org.jspecify.annotations.NullMarked;
