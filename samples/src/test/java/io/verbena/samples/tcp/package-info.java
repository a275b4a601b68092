// SPDX-License-Identifier: Apache-2.0
/** Tests of what messages over TCP promise. */
@NullMarked
package io.verbena.samples.tcp;

import org.jspecify.annotations.NullMarked;
