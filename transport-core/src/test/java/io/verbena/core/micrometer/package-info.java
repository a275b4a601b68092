// SPDX-License-Identifier: Apache-2.0
/** Tests of what the meters in a Micrometer registry promise. */
@NullMarked
package io.verbena.core.micrometer;

import org.jspecify.annotations.NullMarked;
