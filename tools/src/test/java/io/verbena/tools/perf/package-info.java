/** Tests of what bandwidth tests tell. */
@NullMarked
package io.verbena.tools.perf;

import org.jspecify.annotations.NullMarked;
