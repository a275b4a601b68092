@NullMarked
package io.verbena.core.stat;

import org.jspecify.annotations.NullMarked;
