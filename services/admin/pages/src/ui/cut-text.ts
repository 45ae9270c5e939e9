/** How long a name or a line on screen may be by default. */
const longest = 1000;

/** Cuts a text for display. A line with a million characters would freeze the page. */
export const cutText = (text: string, maxLength = longest): string =>
  text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
