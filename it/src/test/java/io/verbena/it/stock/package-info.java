// SPDX-License-Identifier: Apache-2.0
/** Programs written against the public jar of DiSNI alone, on our native library. */
@NullMarked
package io.verbena.it.stock;

import org.jspecify.annotations.NullMarked;
