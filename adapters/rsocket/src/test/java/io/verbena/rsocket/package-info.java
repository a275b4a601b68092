// SPDX-License-Identifier: Apache-2.0
/** Tests of the RSocket adapter, on the HCA that the reactive layer's tests run on. */
@NullMarked
package io.verbena.rsocket;

import org.jspecify.annotations.NullMarked;
