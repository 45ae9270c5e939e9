/**
 * A merge conflict's first and last lines, and the line before the common version. A line with `=======` alone may
 * underline a Markdown heading, and never comes without the others.
 */
const marker = /^(?:<{7}|\|{7}|>{7})(?: .*)?\r?$/;

/** Returns the line numbers, from 1, that a merge with conflicts left in a text. */
export const findConflictMarkers = (text: string): number[] =>
  text.split('\n').flatMap((line, index) => (marker.test(line) ? [index + 1] : []));
