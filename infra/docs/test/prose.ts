const block = /(?<![^\s{])\/\*([\s\S]*?)\*\//;
const slashes = /(?<=^|\s)\/\/ (.*)$/;
const dashes = /(?<=^|\s)-- (.*)$/;
const hash = /(?<=^|\s)# (.*)$/;
const tag = /<!--([\s\S]*?)-->/;

/** The comment forms in each kind of file, by the file's ending. */
const commentForms: Readonly<Record<string, readonly RegExp[]>> = {
  ts: [block, slashes],
  mjs: [block, slashes],
  cjs: [block, slashes],
  svelte: [block, slashes, tag],
  css: [block],
  sql: [block, dashes],
  yaml: [block, hash],
  yml: [hash],
  tpl: [block, hash],
};

export const commentedEndings: readonly string[] = Object.keys(commentForms);

/** Returns the words in a file's comments, without code. */
export function commentsOf(file: string, text: string): string {
  const forms = commentForms[file.slice(file.lastIndexOf('.') + 1)] ?? [];
  const comment = new RegExp(forms.map(({ source }) => source).join('|'), 'gm');
  const found = Array.from(text.matchAll(comment), (match) => match.slice(1).join(''));
  return withoutCode(found.join('\n').replace(/^[ \t]*\*/gm, ''));
}

/** Returns the words that a Markdown page shows, without code. */
export const proseOf = (page: string): string => withoutCode(page).replace(/\]\([^()\s]*\)|<[^<>]+>/g, ' ');

const withoutCode = (text: string): string =>
  text
    .replace(/^[ \t]*```[\s\S]*?^[ \t]*```/gm, ' ')
    .replace(/`[^`]*`/g, ' ')
    .replace(/https?:\/\/\S+/g, ' ');

export interface WordCount {
  readonly words: number;
  /** How many words are "of". */
  readonly ofs: number;
}

export function countWords(text: string): WordCount {
  const words = text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? [];
  return { words: words.length, ofs: words.filter((word) => word.toLowerCase() === 'of').length };
}
