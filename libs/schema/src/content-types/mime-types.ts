import { binaryTypes } from './binary-types.ts';
import { textTypes } from './text-types.ts';

/** Other type names that a list may have. */
const aliases: Readonly<Record<string, string>> = {
  'application/csv': 'text/csv',
  'application/javascript': 'text/javascript',
  'application/x-javascript': 'text/javascript',
  'application/x-rar-compressed': 'application/vnd.rar',
  'application/x-sqlite3': 'application/vnd.sqlite3',
  'application/x-yaml': 'application/yaml',
  'application/x-zip-compressed': 'application/zip',
  'application/xml': 'text/xml',
  'audio/aacp': 'audio/aac',
  'audio/m4a': 'audio/mp4',
  'audio/mp3': 'audio/mpeg',
  'audio/vnd.wave': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/x-aac': 'audio/aac',
  'audio/x-flac': 'audio/flac',
  'audio/x-m4a': 'audio/mp4',
  'audio/x-wav': 'audio/wav',
  'image/jpg': 'image/jpeg',
  'image/vnd.microsoft.icon': 'image/x-icon',
  'image/x-ms-bmp': 'image/bmp',
  'text/vcard': 'text/x-vcard',
  'text/x-markdown': 'text/markdown',
  'text/yaml': 'application/yaml',
  'video/avi': 'video/x-msvideo',
  'video/matroska': 'video/x-matroska',
  'video/vnd.avi': 'video/x-msvideo',
};

/** All names for a type. */
const namesOf = (type: string): readonly string[] => [
  type,
  ...Object.keys(aliases).filter((alias) => aliases[alias] === type),
];

const names = new Map<string, readonly string[]>();

function namesOfKnown(type: string): readonly string[] {
  const found = names.get(type) ?? namesOf(type);
  // A zip archive may state any type, and only the usual ones are kept.
  if (names.size < 1000) names.set(type, found);
  return found;
}

/** Whether a file type matches a pattern. An empty list takes every type. */
export const matchesMimeTypes = (types: readonly string[], patterns: readonly string[]): boolean =>
  patterns.length === 0 ||
  patterns.some((pattern) => types.some((type) => namesOfKnown(type).some((name) => fits(name, pattern))));

const fits = (name: string, pattern: string): boolean =>
  pattern === '*/*' || pattern === name || (pattern.endsWith('/*') && name.startsWith(pattern.slice(0, -1)));

/** Types that a zip archive states about itself: OpenDocument, its predecessor, EPUB and others. */
const statedByArchives = /^application\/(vnd\.|epub\+zip$|x-krita$)/;

const known = [...new Set([...binaryTypes, ...textTypes].flatMap(namesOf))];

/** Returns the patterns that no file matches, since no content is recognised as that type (files §2.2). */
export const findUnmatched = (patterns: readonly string[]): readonly string[] =>
  patterns.filter((pattern) => !statedByArchives.test(pattern) && !known.some((name) => fits(name, pattern)));
