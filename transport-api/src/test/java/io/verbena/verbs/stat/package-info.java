@NullMarked
package io.verbena.verbs.stat;

import org.jspecify.annotations.NullMarked;
