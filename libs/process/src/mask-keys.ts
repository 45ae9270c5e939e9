/** How a service key begins, and a character in its id; in a URL any of them may be encoded. */
const beginning = '(?:r|%72)(?:b|%62)(?:k|%6b)(?:_|%5f)';
const idCharacter = '(?:[a-z0-9]|%[3-7][0-9a-f])';

/** The first group is public. */
const keys = new RegExp(`(${beginning}${idCharacter}{16})(?:_|%5f)[\\w%-]{1,200}`, 'gi');

/** Finds service keys in a URL: a key's beginning, a whole key, and its id. */
export const keysInUrls = {
  beginning: new RegExp(beginning, 'i'),
  whole: new RegExp(`${beginning}${idCharacter}{16}(?:_|%5f)`, 'i'),
  id: new RegExp(`${beginning}(${idCharacter}{16})(?!${idCharacter})`, 'i'),
} as const;

/** Removes service keys' secrets from a text (keys §1.4). The part of a key that lists show remains. */
export const maskKeys = (text: string): string => (mayHaveKey(text) ? text.replace(keys, '$1_***') : text);

/** Whether the text may contain a service key. Cheap enough for every line and every URL. */
const mayHaveKey = (text: string): boolean => text.includes('rbk') || text.includes('RBK') || text.includes('%');
