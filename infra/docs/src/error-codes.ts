import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { meanings } from './error-meanings.ts';
import type { Section } from './section.ts';
import { code, table } from './table.ts';

/** Where the code of an error stands in a source file: with its status, or behind the factory of a status. */
const patterns: readonly { readonly expression: RegExp; readonly status?: string }[] = [
  { expression: /new AppError\(\s*(?<status>\d{3}),\s*'(?<code>[a-z0-9_]+)'/g },
  { expression: /\bconflict\(\s*'(?<code>[a-z0-9_]+)'/g, status: '409' },
  { expression: /\bforbidden\([^;]*?, '(?<code>[a-z0-9_]+)'\)/g, status: '403' },
  { expression: /forbidden = \(message: string, code = '(?<code>[a-z0-9_]+)'\)/g, status: '403' },
];

/** Every code that the sources refuse a request with, and the statuses that it comes with. */
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

/** The codes of errors. Throws for a code whose meaning nobody wrote down, and for one that is no more. */
export const errorsSection = (root: string): Section => ({
  page: 'api.md',
  name: 'errors',
  text() {
    const codes = findErrorCodes(root);
    const unknown = [...codes.keys()].filter((name) => !Object.hasOwn(meanings, name));
    if (unknown.length > 0) throw new Error(`say in infra/docs/src/error-meanings.ts what ${unknown.join(', ')} means`);
    const gone = Object.keys(meanings).filter((name) => !codes.has(name));
    if (gone.length > 0) throw new Error(`infra/docs/src/error-meanings.ts knows ${gone.join(', ')}, which is no more`);
    const rows = [...codes].map(([name, statuses]) => [
      [...statuses].sort().join(', '),
      code(name),
      meanings[name] ?? '',
    ]);
    return table(
      ['status', 'code', 'when'],
      rows.sort(([a = ''], [b = '']) => (a < b ? -1 : a > b ? 1 : 0)),
    );
  },
});
