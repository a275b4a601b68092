// SPDX-License-Identifier: Apache-2.0
/** Tests of the RSocket adapter, on the same HCA as the tests of the reactive layer. */
@NullMarked
package io.verbena.rsocket;

import org.jspecify.annotations.NullMarked;
