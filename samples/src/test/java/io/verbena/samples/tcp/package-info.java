// SPDX-License-Identifier: Apache-2.0
/** What messages over TCP promise. */
@NullMarked
package io.verbena.samples.tcp;

import org.jspecify.annotations.NullMarked;
