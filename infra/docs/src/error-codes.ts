import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { meanings } from './error-meanings.ts';
import type { Section } from './section.ts';
import { code, table } from './table.ts';

/** The patterns that find an error's code in a source file: with its status, or in a call to a status's factory. */
const patterns: readonly { readonly expression: RegExp; readonly status?: string }[] = [
  { expression: /new AppError\(\s*(?<status>\d{3}),\s*'(?<code>[a-z0-9_]+)'/g },
  { expression: /new HostRefusal\(\{ status: (?<status>\d{3}), code: '(?<code>[a-z0-9_]+)'/g },
  { expression: /\bconflict\(\s*'(?<code>[a-z0-9_]+)'/g, status: '409' },
  { expression: /\bforbidden\([^;(]*?, '(?<code>[a-z0-9_]+)'\)/g, status: '403' },
  { expression: /forbidden = \(message: string, code = '(?<code>[a-z0-9_]+)'\)/g, status: '403' },
];

/** Finds every code with which the sources refuse a request, and its statuses. */
function findErrorCodes(root: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of globSync(['services/*/src/**/*.ts', 'libs/*/src/**/*.ts'], { cwd: root })) {
    if (/\.(test|testing)\.ts$/.test(file) || file.includes('/testing/')) continue;
    const source = readFileSync(join(root, file), 'utf8');
    for (const { expression, status } of patterns) {
      for (const { groups } of source.matchAll(expression)) {
        const name = groups?.code ?? '';
        found.set(name, (found.get(name) ?? new Set()).add(groups?.status ?? status ?? ''));
      }
    }
  }
  return found;
}

/** Builds the error code table. Throws for a code without a meaning, and for a meaning without a code. */
export const errorsSection = (root: string): Section => ({
  page: 'api.md',
  name: 'errors',
  text() {
    const codes = findErrorCodes(root);
    const unknown = [...codes.keys()].filter((name) => !Object.hasOwn(meanings, name));
    if (unknown.length > 0) throw new Error(`say in infra/docs/src/error-meanings.ts what ${unknown.join(', ')} means`);
    const gone = Object.keys(meanings).filter((name) => !codes.has(name));
    if (gone.length > 0)
      throw new Error(`infra/docs/src/error-meanings.ts has ${gone.join(', ')}, which the sources no longer use`);
    const rows = [...codes].map(([name, statuses]) => [
      [...statuses].sort().join(', '),
      code(name),
      meanings[name] ?? '',
    ]);
    return table(
      ['status', 'code', 'when'],
      // The files have no order, so the rows are sorted by both: a moved file changes nothing.
      rows.sort((a, b) => (a.join(' ') < b.join(' ') ? -1 : 1)),
    );
  },
});
