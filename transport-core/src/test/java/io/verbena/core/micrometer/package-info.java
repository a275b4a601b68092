// SPDX-License-Identifier: Apache-2.0
/** Tests of the meters in a Micrometer registry. */
@NullMarked
package io.verbena.core.micrometer;

import org.jspecify.annotations.NullMarked;
