import { answerOf, composeWrite, newValue, nowSec, type Origin, type WriteStatement } from '@recordbus/journal';
import type { NamedParameters } from '@recordbus/query';
import { type Collection, type ColumnValues, fieldTypeOf, quoteIdentifier, tableOf } from '@recordbus/schema';
import { hasAccounts } from '../accounts/new-account.ts';
import type { CompileRule } from '../rules/rule-verdict.ts';

interface CreateValues extends Origin {
  readonly id: string;
  readonly fields: ColumnValues;
  /** Only of auth collections. */
  readonly passwordHash?: string | null;
}

/** The statement of a create. The rule is a condition on the row `draft`; where it does not hold, no row is returned. */
export const composeCreate = (collection: Collection, compileRule?: CompileRule): WriteStatement<CreateValues> =>
  composeWrite((parameters) => {
    const columns = columnsOf(collection, parameters);
    const names = columns.map(({ name }) => name).join(', ');
    const rows = compileRule
      ? selectDraft(collection, columns, compileRule(parameters))
      : `values (${columns.map(({ value }) => value).join(', ')})`;
    return {
      writes: [
        {
          collection,
          verb: 'create',
          write: `insert into ${tableOf(collection)} (${names})\n  ${rows}\n  returning *`,
        },
      ],
      answer: `select '{"data":' || ${answerOf(collection, 's')} || '}' as body, s.version from shown s`,
    };
  });

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

/** Selects the row to write if the rule holds for it. */
function selectDraft(collection: Collection, columns: readonly Column[], rule: string): string {
  // A rule may name `anonymous`, which the insert leaves to its default.
  const defaults = hasAccounts(collection) ? ', false as is_anonymous' : '';
  return `select ${columns.map(({ name }) => `draft.${name}`).join(', ')}
  from (select ${columns.map(({ name, value }) => `${value} as ${name}`).join(', ')}${defaults}) draft
  where ${rule}`;
}
