// SPDX-License-Identifier: Apache-2.0
/** Tests of the doctor on RNICs that exist only as profiles. */
@NullMarked
package io.verbena.tools.doctor;

import org.jspecify.annotations.NullMarked;
