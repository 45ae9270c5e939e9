/** A word, or several in this order, that a record must have. */
export interface SearchTerm {
  readonly text: string;
  readonly isPhrase: boolean;
  /** Whether words that begin with it are found too. */
  readonly isPrefix: boolean;
}

/** A search's text as its author means it (search §2.2). */
export interface ParsedSearch {
  /** Each with alternatives: `sea or lake`. */
  readonly wanted: readonly (readonly SearchTerm[])[];
  readonly unwanted: readonly SearchTerm[];
  /** How many words it has. */
  readonly words: number;
}

/** A phrase in quotes, whose last one may be missing, or a word; each may have a minus. */
const token = /(-?)(?:"([^"]*)"?|([^\s"]+))/gu;

const letterOrDigit = /[\p{L}\p{N}]/u;
/** A prefix has no punctuation, and at least two letters. */
const prefixWord = /^[\p{L}\p{N}][\p{L}\p{N}\p{M}]+$/u;

/** Reads a search's text. It never refuses one. */
export function parseSearch(text: string, hasPrefix: boolean): ParsedSearch {
  const wanted: SearchTerm[][] = [];
  const unwanted: SearchTerm[] = [];
  let words = 0;
  let isAlternative = false;
  for (const [whole, minus, phrase, word = ''] of text.matchAll(token)) {
    if (whole.toLowerCase() === 'or') {
      isAlternative = wanted.length > 0;
      continue;
    }
    const term = { text: phrase ?? word, isPhrase: phrase !== undefined, isPrefix: false };
    if (!letterOrDigit.test(term.text)) continue;
    words += term.text.trim().split(/\s+/u).length;
    if (minus) unwanted.push(term);
    else if (isAlternative) wanted.at(-1)?.push(term);
    else wanted.push([term]);
    isAlternative = false;
  }
  return { wanted: hasPrefix ? withPrefix(wanted, text) : wanted, unwanted, words };
}

/** The last word may be incomplete, if the text ends with it. */
function withPrefix(wanted: readonly (readonly SearchTerm[])[], text: string): readonly (readonly SearchTerm[])[] {
  const group = wanted.at(-1);
  const last = group?.at(-1);
  if (!group || !last || last.isPhrase || !prefixWord.test(last.text) || !text.trimEnd().endsWith(last.text))
    return wanted;
  return [...wanted.slice(0, -1), [...group.slice(0, -1), { ...last, isPrefix: true }]];
}
