import { composeWrite, newValue, nowSec, type Origin, type WriteStatement } from '@recordbus/journal';
import type { NamedParameters } from '@recordbus/query';
import { type Collection, type ColumnValues, fieldTypeOf, quoteIdentifier, tableOf } from '@recordbus/schema';
import { hasAccounts } from '../accounts/new-account.ts';
import { writtenJson } from '../read/written-json.ts';
import { type CallerSql, openCaller, type SentNames } from '../record/caller-sql.ts';
import { ruleVerdict } from '../rules/rule-verdict.ts';

interface CreateValues extends Origin, Partial<SentNames> {
  readonly id: string;
  readonly fields: ColumnValues;
  /** Only of auth collections. */
  readonly passwordHash?: string | null;
}

/**
 * The statement of a create. Rules are conditions on the row `draft`; where one does not hold, nothing is written. It then
 * returns no row; a statement that checks rules of fields returns one without a body, and the names in `unwritable`.
 */
export const composeCreate = (collection: Collection, caller: CallerSql = openCaller): WriteStatement<CreateValues> =>
  composeWrite((parameters) => {
    const columns = columnsOf(collection, parameters);
    const names = columns.map(({ name }) => name).join(', ');
    const { rule, unwritable } = caller.verdictOn({ row: 'draft' }, parameters);
    const shown = writtenJson(collection, caller.view, { ...caller.context, parameters });
    const answer = `'{"data":' || ${shown.text} || '}' as body, s.version`;
    const draft = selectDraft(collection, columns);
    if (unwritable !== undefined) {
      const verdict = ruleVerdict({ rule, unwritable }, 'draft');
      const rows = `select ${columns.map(({ name }) => `draft.${name}`).join(', ')} from draft${verdict.join}`;
      return {
        before: [{ name: 'draft', sql: draft, isMaterialized: true }, verdict.cte],
        writes: [writeOf(collection, names, rows)],
        answer: `select ${answer}${verdict.columns} from verdict v left join ${shown.from} on true`,
      };
    }
    const rows =
      rule === undefined
        ? `values (${columns.map(({ value }) => value).join(', ')})`
        : `select ${columns.map(({ name }) => `draft.${name}`).join(', ')}\n  from (${draft}) draft\n  where ${rule}`;
    return { writes: [writeOf(collection, names, rows)], answer: `select ${answer} from ${shown.from}` };
  });

const writeOf = (collection: Collection, names: string, rows: string) =>
  ({
    collection,
    verb: 'create',
    write: `insert into ${tableOf(collection)} (${names})\n  ${rows}\n  returning *`,
  }) as const;

interface Column {
  readonly name: string;
  /** SQL. */
  readonly value: string;
}

const columnsOf = (collection: Collection, parameters: NamedParameters<CreateValues>): Column[] => [
  { name: 'id', value: parameters.named('id', 'text') },
  { name: 'created_at', value: nowSec },
  { name: 'updated_at', value: nowSec },
  ...collection.fields.map((field) => ({
    name: quoteIdentifier(field.name),
    value: newValue(field, parameters.member('fields', field.name, fieldTypeOf(field).columnType(field))),
  })),
  ...(hasAccounts(collection) ? [{ name: 'password_hash', value: parameters.named('passwordHash', 'text') }] : []),
];

/** Selects the row to write. A rule may name `anonymous`, which the insert leaves to its default. */
const selectDraft = (collection: Collection, columns: readonly Column[]): string =>
  `select ${columns.map(({ name, value }) => `${value} as ${name}`).join(', ')}${hasAccounts(collection) ? ', false as is_anonymous' : ''}`;
