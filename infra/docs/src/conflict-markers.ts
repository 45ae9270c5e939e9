/**
 * The first and last lines of a merge conflict, and the line before the common version. A line of `=======` alone may
 * underline a Markdown heading, and never comes without the others.
 */
const marker = /^(?:<{7}|\|{7}|>{7})(?: .*)?\r?$/;

/** Returns the numbers of the lines that a merge with conflicts left in a text, from 1. */
export const findConflictMarkers = (text: string): number[] =>
  text.split('\n').flatMap((line, index) => (marker.test(line) ? [index + 1] : []));
