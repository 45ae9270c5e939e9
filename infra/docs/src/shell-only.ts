/** A document's line. */
interface Line {
  readonly line: number;
  readonly text: string;
}

/** What a command line leaves open for the next one. */
interface Scan {
  /** An unfinished text's quote, or nothing. */
  readonly quote: string;
  /** The line that ends a here-document; undefined outside one. */
  readonly documentEnd: string | undefined;
}

const nothingOpen: Scan = { quote: '', documentEnd: undefined };

/**
 * Returns the lines in the document's shell blocks that zsh reads otherwise than sh, when a reader pastes them into a
 * terminal: with a comment, whose words are arguments or a command there, or with an unquoted `?` or `*` in an address,
 * which zsh takes for a pattern and refuses.
 */
export function findShellOnly(document: string): readonly Line[] {
  const found: Line[] = [];
  let scan: Scan | undefined;
  for (const [index, text] of document.split('\n').entries()) {
    if (scan === undefined) {
      if (/^ {0,8}```(sh|bash|zsh|shell|console)\b/.test(text)) scan = nothingOpen;
    } else if (text.trim() === '```') {
      scan = undefined;
    } else {
      const { isShellOnly, ...next } = scanLine(text, scan);
      if (isShellOnly) found.push({ line: index + 1, text });
      scan = next;
    }
  }
  return found;
}

function scanLine(text: string, { quote, documentEnd }: Scan): Scan & { readonly isShellOnly: boolean } {
  if (documentEnd !== undefined)
    return { quote, documentEnd: text.trim() === documentEnd ? undefined : documentEnd, isShellOnly: false };
  let open = quote;
  let word = '';
  for (let index = 0; index < text.length; index += 1) {
    const sign = text.charAt(index);
    if (sign === '\\' && open !== "'") index += 1;
    else if (open !== '') open = sign === open ? '' : open;
    else if (sign === "'" || sign === '"') open = sign;
    else if (sign === '#' && beginsWord(text, index)) return { ...nothingOpen, isShellOnly: true };
    else if ((sign === '?' || sign === '*') && isAddress.test(word)) return { ...nothingOpen, isShellOnly: true };
    word = sign === ' ' ? '' : word + sign;
  }
  const named = open === '' ? /(?<!<)<<-?['"]?(\w{1,40})/.exec(text)?.[1] : undefined;
  return { quote: open, documentEnd: named, isShellOnly: false };
}

const isAddress = /^(https?:|\$\{?[A-Z_]+\}?\/|localhost:)/;

const beginsWord = (text: string, index: number): boolean => index === 0 || ' \t;&|()'.includes(text.charAt(index - 1));
