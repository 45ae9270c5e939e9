import { lockedRows, type TableRow, translatedRows } from '@recordbus/pocketbase/rules';
import type { Section } from './section.ts';
import { code, table } from './table.ts';

/** Builds the tables with rules from PocketBase, from the table that tests the translation. */
export const pocketBaseSection: Section = {
  page: 'coming-from-pocketbase.md',
  name: 'rules',
  text: () =>
    [
      table(
        ['PocketBase', 'Recordbus', 'note'],
        translatedRows.map((row) => [code(row.from), code(row.to), noteOf(row)]),
      ),
      'These have no equivalent. An import locks a rule that has one of them:',
      table(
        ['PocketBase', 'note'],
        lockedRows.map((row) => [code(row.from), row.note ?? '']),
      ),
    ].join('\n\n'),
};

const noteOf = ({ result, note = '' }: TableRow): string =>
  result === 'narrower' ? ['*narrower*', note].filter(Boolean).join('; ') : note;
