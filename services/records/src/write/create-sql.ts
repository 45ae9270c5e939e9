import { hasAccounts, tokenVersionAt } from '@recordbus/accounts';
import { keptAnswer, type UnusedKeyValues, withKept } from '@recordbus/idempotency';
import {
  type ColumnSql,
  composeWrite,
  newValue,
  nextRevision,
  nextUpdatedAt,
  nowSec,
  type Origin,
  type WriteStatement,
} from '@recordbus/journal';
import { createNamedParameters, type NamedParameters } from '@recordbus/query';
import { type Collection, type ColumnValues, type Field, fieldTypeOf, quoteIdentifier } from '@recordbus/schema';
import { keepAnnouncedSql } from '../files/announced-files.ts';
import { fileFieldsOf } from '../files/file-changes.ts';
import { type CallerSql, openCaller, type SentNames } from '../record/caller-sql.ts';
import { type CompileContext, compileRule } from '../rules/compile-rule.ts';
import { ruleVerdict } from '../rules/rule-verdict.ts';
import { bodyOf, keptForm, writtenJson } from '../shape/written-json.ts';
import { lastVersions } from './last-versions-sql.ts';
import { conflictOf } from './record-key.ts';

interface CreateValues extends Origin, Partial<SentNames>, Partial<UnusedKeyValues> {
  readonly id: string;
  readonly fields: ColumnValues;
  /** Only for auth collections. */
  readonly passwordHash?: string | null;
  /** The announced files that the record keeps in JSON, or null; only for collections with file fields. */
  readonly announced?: string | null;
}

interface CreateOptions {
  /** Whether the statement keeps its answer for an idempotency key. */
  readonly isKept?: boolean;
}

/**
 * The create statement. Rules are conditions on the row `draft`. If one does not hold, nothing is written, and no row
 * is returned. A statement that checks field rules then returns a row without a body, with the names in `unwritable`.
 */
export const composeCreate = (
  collection: Collection,
  caller: CallerSql = openCaller,
  { isKept = false }: CreateOptions = {},
): WriteStatement<CreateValues> =>
  composeWrite((parameters) => {
    const columns = columnsOf(collection, parameters);
    const { rule, unwritable } = caller.verdictOn({ row: 'draft' }, parameters);
    const shown = writtenJson(collection, caller.view, { ...caller.context, parameters });
    const kept = isKept ? keptAnswer(keptForm(201, shown), parameters) : undefined;
    const from = kept ? withKept(shown) : shown.from;
    const answer = `${kept ? 'k.json' : bodyOf(shown)} as body, s.version${keptFiles(collection, parameters)}`;
    if (unwritable === undefined) {
      const check = rule === undefined ? undefined : { where: rule, columns: checkedColumns(collection) };
      const rows = { columns, check };
      return { writes: [{ collection, verb: 'create', rows }], after: [kept], answer: `select ${answer} from ${from}` };
    }
    const verdict = ruleVerdict({ rule, unwritable }, 'draft');
    const check = { cte: verdict.cte, join: verdict.join, columns: checkedColumns(collection) };
    return {
      writes: [{ collection, verb: 'create', rows: { columns, check } }],
      after: [kept],
      answer: `select ${answer}${verdict.columns} from verdict v left join ${from} on true`,
    };
  });

/** A column whose value keeps an upload's files if the record is written. */
const keptFiles = (collection: Collection, parameters: NamedParameters<CreateValues>): string =>
  fileFieldsOf(collection).length === 0
    ? ''
    : `, case when s.id is not null then ${keepAnnouncedSql(parameters.named('announced', 'jsonb'))} end as "isKept"`;

/** The query that checks the create rule for a new record. It writes nothing. */
export function composeCreateTrial(collection: Collection, context: CompileContext): WriteStatement<CreateValues> {
  const parameters = createNamedParameters<CreateValues>();
  const columns = [...columnsOf(collection, parameters), ...checkedColumns(collection)];
  const draft = `select ${columns.map(({ name, value }) => `${value} as ${name}`).join(', ')}`;
  const rule = compileRule(collection, 'create', context, { row: 'draft', parameters });
  return { text: `select (${rule}) is true as "isAllowed" from (${draft}) draft`, valuesFrom: parameters.valuesFrom };
}

/** The place for a record that is created unless it exists: the client's id, or values in unique fields. */
export type CreatePlace = 'id' | readonly Field[];

/**
 * The statement for a create at a place. It always returns one row, without a body if the record exists or a rule does
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
    const verdict = ruleVerdict(caller.verdictOn({ row: 'draft' }, parameters), 'draft');
    const shown = writtenJson(collection, caller.view, { ...caller.context, parameters });
    const kept = isKept ? keptAnswer(keptForm(201, shown), parameters) : undefined;
    const rows = {
      columns,
      from: isById ? 'last' : undefined,
      check: {
        cte: verdict.cte,
        join: verdict.join,
        where: isById ? 'not (select is_there from last)' : undefined,
        columns: checkedColumns(collection),
      },
      skips: isById ? '(id)' : conflictOf(place),
    };
    return {
      before: [isById ? lastVersions(collection, `array[${parameters.named('id', 'text')}]`) : undefined],
      writes: [{ collection, verb: 'create', rows }],
      after: [kept],
      answer: `select ${kept ? 'k.json' : bodyOf(shown)} as body, s.version${verdict.columns}
from (select) one${verdict.cte ? ' cross join verdict v' : ''} left join ${kept ? withKept(shown) : shown.from} on true`,
    };
  });

const times = new Set(['created_at', 'updated_at']);

/** The columns if the id may have belonged to an earlier record. `last` has its version. */
const columnsOfKnown = (collection: Collection, parameters: NamedParameters<CreateValues>): ColumnSql[] => [
  ...columnsOf(collection, parameters).map((column) =>
    times.has(column.name) ? { ...column, value: nextUpdatedAt('last') } : column,
  ),
  { name: '_revision', value: `coalesce(${nextRevision('last')}, 0)` },
  ...(hasAccounts(collection) ? [{ name: 'token_version', value: tokenVersionAt() }] : []),
];

const columnsOf = (collection: Collection, parameters: NamedParameters<CreateValues>): ColumnSql[] => [
  { name: 'id', value: parameters.named('id', 'text') },
  { name: 'created_at', value: nowSec },
  { name: 'updated_at', value: nowSec },
  ...collection.fields.map((field) => ({
    name: quoteIdentifier(field.name),
    value: newValue(field, parameters.member('fields', field.name, fieldTypeOf(field).columnType(field))),
  })),
  ...(hasAccounts(collection) ? [{ name: 'password_hash', value: parameters.named('passwordHash', 'text') }] : []),
];

/** A rule may name `anonymous`, which the insert leaves to its default. */
const checkedColumns = (collection: Collection): ColumnSql[] =>
  hasAccounts(collection) ? [{ name: 'is_anonymous', value: 'false' }] : [];
