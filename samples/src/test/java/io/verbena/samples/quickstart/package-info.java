// SPDX-License-Identifier: Apache-2.0
/** Tests of the quickstart, a project to copy, which is not a module of our build. */
@NullMarked
package io.verbena.samples.quickstart;

import org.jspecify.annotations.NullMarked;
