import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** The repository's root. */
export const repository = join(import.meta.dirname, '../..');

/** A repository file's text. */
export const readSource = (file: string): string => readFileSync(join(repository, file), 'utf8');

/** The files that match the patterns, as sorted paths within the repository. */
export const findSources = (...patterns: readonly string[]): string[] =>
  globSync(patterns, { cwd: repository, exclude: (name) => name === 'node_modules' })
    .map((file) => file.replaceAll('\\', '/'))
    .sort();

/** The specifiers that a source imports: static, dynamic and re-exported. */
export const specifiersIn = (source: string): string[] =>
  [...source.matchAll(/\b(?:from|import|import\()\s*'([^'\n]+)'/g)].map(([, specifier = '']) => specifier);

/** The repository files that a source imports by relative paths. */
export const filesImportedBy = (file: string): string[] =>
  specifiersIn(readSource(file))
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => relative(repository, join(repository, dirname(file), specifier)).replaceAll('\\', '/'));
