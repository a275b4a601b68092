// SPDX-License-Identifier: Apache-2.0
/** Tests of architecture rules for all modules, such as the layers of their dependencies. */
@NullMarked
package io.verbena.architecture;

import org.jspecify.annotations.NullMarked;
