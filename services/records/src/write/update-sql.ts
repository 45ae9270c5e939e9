import { type AccountValues, accountUpdateSql, hasAccounts } from '@recordbus/accounts';
import { keptAnswer, type UnusedKeyValues, withKept } from '@recordbus/idempotency';
import {
  type ColumnSql,
  type Cte,
  composeWrite,
  lockedRow,
  lockedWhere,
  nextValue,
  type Origin,
  versionOf,
  type WriteStatement,
} from '@recordbus/journal';
import type { NamedParameters } from '@recordbus/query';
import { type Collection, type Field, fieldTypeOf, quoteIdentifier, quoteLiteral } from '@recordbus/schema';
import { changedFiles, fileFieldsOf, refusedFiles } from '../files/file-changes.ts';
import { type CallerSql, openCaller, type SentNames } from '../record/caller-sql.ts';
import { ruleVerdict } from '../rules/rule-verdict.ts';
import { bodyOf, keptForm, writtenJson } from '../shape/written-json.ts';
import { composeOperators, type OperatorsSql, type OperatorValues } from './operators-sql.ts';
import { hasKey, type KeyValues } from './record-key.ts';

interface UpdateValues
  extends Origin,
    Partial<AccountValues>,
    OperatorValues,
    KeyValues,
    Partial<SentNames>,
    Partial<UnusedKeyValues> {
  /** Empty if the record is found by its key. */
  readonly id: string;
  /** The versions that may be changed; null for any. */
  readonly versions: readonly string[] | null;
  /** The fields to set, by name. */
  readonly names: readonly string[];
  /** These fields' values. A file field's value is a change to its files. */
  readonly fields: ReadonlyMap<string, unknown>;
}

type UpdateParameters = NamedParameters<UpdateValues>;

/** What an update has in addition to the fields. */
interface UpdateOptions {
  /** The caller's rights; everything by default. */
  readonly caller?: CallerSql;
  /** Whether fields may have operators. Such a statement is longer, so it is only used if needed. */
  readonly takesOperators: boolean;
  /** The fields by which the record is found; by default the id. */
  readonly key?: readonly Field[] | undefined;
  /** Whether the statement keeps its answer for an idempotency key. */
  readonly isKept?: boolean;
}

/**
 * An update's statement. One text serves every set of fields: a column that is set to itself costs no index entry. It
 * returns no row if the record does not exist, and a row without a body if the record has another version. The rule is
 * a condition on the row `old`; if it does not hold, `isAllowed` is false and nothing changes. If operators' results
 * are refused, nothing changes either, and `refused` has them.
 */
export const composeUpdate = (
  collection: Collection,
  { caller = openCaller, takesOperators, key, isKept = false }: UpdateOptions,
): WriteStatement<UpdateValues> =>
  composeWrite((parameters) => {
    const old = key
      ? lockedWhere(collection, hasKey(key, parameters))
      : lockedRow(collection, parameters.named('id', 'text'));
    const versions = parameters.named('versions', 'text[]');
    const verdict = ruleVerdict(caller.verdictOn({ row: 'old', stored: 'old' }, parameters));
    const shown = writtenJson(collection, caller.view, { ...caller.context, parameters });
    const kept = isKept ? keptAnswer(keptForm(200, shown), parameters) : undefined;
    const files = filesSql(collection, parameters);
    const account = accountUpdateSql(collection, parameters);
    const operators = takesOperators ? composeOperators(collection, parameters) : undefined;
    const rows = {
      set: [...fieldsToSet(collection, parameters, { files, account, operators }), ...account.set],
      joins: `${verdict.join}${files.join}${operators ? " join refusal on refusal.results = '{}' cross join applied" : ''}`,
      // The row is locked before its version is compared, so when several writes have the same version, only one
      // succeeds.
      conditions: ` and (${versions} is null or ${versionOf('old')} = any(${versions}))${account.condition}`,
    };
    return {
      before: [old, verdict.cte, files.cte, ...(operators?.ctes ?? [])],
      writes: [{ collection, verb: 'update', rows }],
      after: [account.audited, kept],
      answer: `select ${kept ? 'k.json' : bodyOf(shown)} as body, coalesce(s.version, ${versionOf('o')}) as version${verdict.columns}${files.column}${operators ? ', r.results as refused' : ''}
from old o${verdict.cte ? ' cross join verdict v' : ''}${files.source}${operators ? ' cross join refusal r' : ''} left join ${kept ? withKept(shown) : shown.from} on true`,
    };
  });

function fieldsToSet(
  collection: Collection,
  parameters: UpdateParameters,
  {
    files,
    account,
    operators,
  }: { readonly files: FilesSql; readonly account: AccountSql; readonly operators: OperatorsSql | undefined },
): ColumnSql[] {
  return collection.fields.map((field) => {
    const written =
      files.values.get(field) ?? parameters.member('fields', field.name, fieldTypeOf(field).columnType(field));
    const value = operators?.valueOf(field, written) ?? written;
    const isNamed = `${quoteLiteral(field.name)} = any(${parameters.named('names', 'text[]')})`;
    const isCleared = hasAccounts(collection) && field.name === 'verified' ? account.clearIfNewEmail : '';
    return {
      name: quoteIdentifier(field.name),
      value: `case ${isCleared}when ${isNamed} then ${value} else ${nextValue(field, 't')} end`,
    };
  });
}

type FilesSql = ReturnType<typeof filesSql>;

/** What an update adds for file fields; empty without them. */
function filesSql(collection: Collection, parameters: UpdateParameters) {
  const changes = fileFieldsOf(collection).map((field) => ({
    field,
    change: parameters.member('fields', field.name, 'jsonb'),
  }));
  const values = new Map(changes.map(({ field, change }) => [field, changedFiles(field, change, 't')]));
  if (changes.length === 0) return { values, cte: undefined, join: '', column: '', source: '' };
  const cte: Cte = {
    name: 'files',
    sql: `select ${refusedFiles(changes, parameters.named('names', 'text[]'), 'old')} as refused from old`,
    isMaterialized: true,
  };
  return {
    values,
    cte,
    join: ` join files on files.refused = '{}'`,
    column: ', f.refused as "refusedFiles"',
    source: ' cross join files f',
  };
}

type AccountSql = ReturnType<typeof accountUpdateSql>;
