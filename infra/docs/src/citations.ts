/** A citation of a reference section (docs/reference), such as `records §7.5`. */
export interface Citation {
  /** The line number, from 1. */
  readonly line: number;
  /** The page and one section, as written. */
  readonly text: string;
  /** The name of the page's file, without its extension. */
  readonly page: string;
  readonly section: string;
}

/** Each page's sections. */
export type Sections = ReadonlyMap<string, ReadonlySet<string>>;

/** Words between a standard and its section, such as `RFC 9110 §8.6 to §8.8`. */
const joiningWords = new Set(['and', 'or', 'to', 'binding']);

const section = String.raw`§(\d+(?:\.\d+)*)`;
/** A line may end between a page and its section, also within a comment. */
const gap = String.raw`(?: |\r?\n[ \t]*(?:\*|\/\/)? *)`;
const cited = new RegExp(String.raw`(?:([\w.-]+)${gap})?${section}((?:(?:,| and|, and)${gap}${section})*)`, 'g');

/**
 * Finds the citations in a text that lead to no section: the reference lacks the page, or the page lacks the section. A
 * reference page (`own`) cites its own sections by `§` alone. Standards have a number (`RFC 9110 §8.6`) or a capital
 * (`Fetch §3.2`) before the section and are ignored.
 */
export function findDeadCitations(text: string, sections: Sections, own?: string): Citation[] {
  return [...text.matchAll(cited)]
    .flatMap((match) => readCitation(match, text.slice(0, match.index).split('\n').length))
    .flatMap((citation) => {
      const page = pageOf(citation.page, sections, own);
      return page !== undefined && !sections.get(page)?.has(citation.section) ? [{ ...citation, page }] : [];
    });
}

/** `page` is the word before the section. */
function readCitation([, word = '', first = '', others = '']: RegExpExecArray, line: number): Citation[] {
  const further = [...others.matchAll(new RegExp(section, 'g'))].map(([, found = '']) => found);
  return [first, ...further].map((found) => ({
    line,
    text: `${word} §${found}`.trim(),
    page: word,
    section: found,
  }));
}

/** Returns a citation's page; undefined for another document. */
function pageOf(word: string, sections: Sections, own: string | undefined): string | undefined {
  if (sections.has(word)) return word;
  if (/\d/.test(word)) return undefined;
  if (own !== undefined) return own;
  return word === '' || joiningWords.has(word) || /^[A-Z]/.test(word) ? undefined : word;
}

/** Returns a page's section numbers. Its headings are `## 4. Lists` and `### 4.2 Totals`. */
export const sectionsOf = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/^## (\d+)\. \S|^### (\d+\.\d+) \S/gm)].map(([, main, sub]) => main ?? sub ?? ''));

/** Returns the link fragments for a page's headings, as GitHub builds them. */
export const fragmentsOf = (text: string): ReadonlySet<string> =>
  new Set(
    [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
