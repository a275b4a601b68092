// SPDX-License-Identifier: Apache-2.0
/** DiSNI's own programs, and others written against its public jar, on our native library. */
@NullMarked
package io.verbena.it.stock;

import org.jspecify.annotations.NullMarked;
