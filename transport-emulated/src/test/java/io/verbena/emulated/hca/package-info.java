// SPDX-License-Identifier: Apache-2.0
/** Tests of the HCA's objects apart from the transport of requests. */
@NullMarked
package io.verbena.emulated.hca;

import org.jspecify.annotations.NullMarked;
