// SPDX-License-Identifier: Apache-2.0
/** Tests of the command line, each command by what it prints. */
@NullMarked
package io.verbena.tools;

import org.jspecify.annotations.NullMarked;
