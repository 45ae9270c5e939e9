import {
  composeWrite,
  newValue,
  nextRevision,
  nextUpdatedAt,
  nowSec,
  type Origin,
  type WriteStatement,
} from '@recordbus/journal';
import { createNamedParameters, type NamedParameters } from '@recordbus/query';
import {
  type Collection,
  type ColumnValues,
  type Field,
  fieldTypeOf,
  quoteIdentifier,
  tableOf,
} from '@recordbus/schema';
import { hasAccounts } from '../accounts/new-account.ts';
import { keepAnnouncedSql } from '../files/announced-files.ts';
import { fileFieldsOf } from '../files/file-changes.ts';
import { type CallerSql, openCaller, type SentNames } from '../record/caller-sql.ts';
import { type CompileContext, compileRule } from '../rules/compile-rule.ts';
import { ruleVerdict } from '../rules/rule-verdict.ts';
import { bodyOf, writtenJson } from '../shape/written-json.ts';
import { keptAnswer, type UnusedKeyValues, withKept } from './kept-answer-sql.ts';
import { lastVersions } from './last-versions-sql.ts';
import { conflictOf } from './record-key.ts';

interface CreateValues extends Origin, Partial<SentNames>, Partial<UnusedKeyValues> {
  readonly id: string;
  readonly fields: ColumnValues;
  /** Only of auth collections. */
  readonly passwordHash?: string | null;
  /** The announced files that the record keeps, or null; only for collections with file fields. */
  readonly announced?: readonly number[] | null;
}

interface CreateOptions {
  /** Whether the statement keeps its answer for an idempotency key. */
  readonly isKept?: boolean;
}

/**
 * The statement of a create. Rules are conditions on the row `draft`. If one does not hold, nothing is written, and no
 * row is returned. A statement that checks rules of fields then returns a row without a body, with the names in
 * `unwritable`.
 */
export const composeCreate = (
  collection: Collection,
  caller: CallerSql = openCaller,
  { isKept = false }: CreateOptions = {},
): WriteStatement<CreateValues> =>
  composeWrite((parameters) => {
    const columns = columnsOf(collection, parameters);
    const names = columns.map(({ name }) => name).join(', ');
    const { rule, unwritable } = caller.verdictOn({ row: 'draft' }, parameters);
    const shown = writtenJson(collection, caller.view, { ...caller.context, parameters });
    const kept = isKept ? keptAnswer(201, shown, parameters) : undefined;
    const from = kept ? withKept(shown) : shown.from;
    const answer = `${kept ? 'k.json' : bodyOf(shown)} as body, s.version${keptFiles(collection, parameters)}`;
    const draft = selectDraft(collection, columns);
    if (unwritable !== undefined) {
      const verdict = ruleVerdict({ rule, unwritable }, 'draft');
      const rows = `select ${columns.map(({ name }) => `draft.${name}`).join(', ')} from draft${verdict.join}`;
      return {
        before: [{ name: 'draft', sql: draft, isMaterialized: true }, verdict.cte],
        writes: [writeOf(collection, names, rows)],
        after: [kept],
        answer: `select ${answer}${verdict.columns} from verdict v left join ${from} on true`,
      };
    }
    const rows =
      rule === undefined
        ? `values (${columns.map(({ value }) => value).join(', ')})`
        : `select ${columns.map(({ name }) => `draft.${name}`).join(', ')}\n  from (${draft}) draft\n  where ${rule}`;
    return { writes: [writeOf(collection, names, rows)], after: [kept], answer: `select ${answer} from ${from}` };
  });

/** A column whose value keeps the files of an upload if the record is written. */
const keptFiles = (collection: Collection, parameters: NamedParameters<CreateValues>): string =>
  fileFieldsOf(collection).length === 0
    ? ''
    : `, case when s.id is not null then ${keepAnnouncedSql(parameters.named('announced', 'bigint[]'))} end as "isKept"`;

const writeOf = (collection: Collection, names: string, rows: string) =>
  ({
    collection,
    verb: 'create',
    write: `insert into ${tableOf(collection)} (${names})\n  ${rows}\n  returning *`,
  }) as const;

/** The query that checks the create rule for a new record. It writes nothing. */
export function composeCreateTrial(collection: Collection, context: CompileContext): WriteStatement<CreateValues> {
  const parameters = createNamedParameters<CreateValues>();
  const draft = selectDraft(collection, columnsOf(collection, parameters));
  const rule = compileRule(collection, 'create', context, { row: 'draft', parameters });
  return { text: `select (${rule}) is true as "isAllowed" from (${draft}) draft`, valuesFrom: parameters.valuesFrom };
}

/** The place of a record that is created unless it exists: an id of the client, or the values of unique fields. */
export type CreatePlace = 'id' | readonly Field[];

/**
 * The statement of a create at a place. It always returns one row, without a body if the record exists or a rule does
 * not hold. If an earlier record had the id, the new one gets the next version.
 */
export const composeCreateAt = (
  collection: Collection,
  place: CreatePlace,
  caller: CallerSql = openCaller,
  { isKept = false }: CreateOptions = {},
): WriteStatement<CreateValues> =>
  composeWrite((parameters) => {
    const isById = place === 'id';
    const columns = isById ? columnsOfKnown(collection, parameters) : columnsOf(collection, parameters);
    const names = columns.map(({ name }) => name).join(', ');
    const verdict = ruleVerdict(caller.verdictOn({ row: 'draft' }, parameters), 'draft');
    const shown = writtenJson(collection, caller.view, { ...caller.context, parameters });
    const kept = isKept ? keptAnswer(201, shown, parameters) : undefined;
    const draft = `${selectDraft(collection, columns)}${isById ? ' from last' : ''}`;
    const rows = `select ${columns.map(({ name }) => `draft.${name}`).join(', ')} from draft${verdict.join}${isById ? ' where not (select is_there from last)' : ''}
  on conflict ${isById ? '(id)' : conflictOf(place)} do nothing`;
    return {
      before: [
        isById ? lastVersions(collection, `array[${parameters.named('id', 'text')}]`) : undefined,
        { name: 'draft', sql: draft, isMaterialized: true },
        verdict.cte,
      ],
      writes: [writeOf(collection, names, rows)],
      after: [kept],
      answer: `select ${kept ? 'k.json' : bodyOf(shown)} as body, s.version${verdict.columns}
from (select) one${verdict.cte ? ' cross join verdict v' : ''} left join ${kept ? withKept(shown) : shown.from} on true`,
    };
  });

/** Unix seconds of 2020. Seconds since then fit an integer until 2088. */
const epoch2020 = 1_577_836_800;

/** SQL of the token version of an account with a chosen id. No token of an earlier account has it. */
export const accountVersion = `(${nowSec} - ${epoch2020})::integer`;

const times = new Set(['created_at', 'updated_at']);

/** The columns of a record whose id may have belonged to an earlier one. `last` has its version. */
const columnsOfKnown = (collection: Collection, parameters: NamedParameters<CreateValues>): Column[] => [
  ...columnsOf(collection, parameters).map((column) =>
    times.has(column.name) ? { ...column, value: nextUpdatedAt('last') } : column,
  ),
  { name: '_revision', value: `coalesce(${nextRevision('last')}, 0)` },
  ...(hasAccounts(collection) ? [{ name: 'token_version', value: accountVersion }] : []),
];

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
