/** A name or a line that is longer than this is cut where it is shown. */
const longest = 1000;

/** Returns a text as it is shown: a million characters in a line would freeze the page. */
export const cutText = (text: string, most = longest): string =>
  text.length > most ? `${text.slice(0, most)}…` : text;
