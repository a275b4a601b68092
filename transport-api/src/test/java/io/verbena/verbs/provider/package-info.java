/** What providers of verbs share. */
@NullMarked
package io.verbena.verbs.provider;

import org.jspecify.annotations.NullMarked;
