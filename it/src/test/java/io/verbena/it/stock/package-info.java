// SPDX-License-Identifier: Apache-2.0
/** Tests of DiSNI's own programs, and others for its public jar, on our native library. */
@NullMarked
package io.verbena.it.stock;

import org.jspecify.annotations.NullMarked;
