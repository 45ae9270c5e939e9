import { autodates, composeWrite, lockedRow, type Origin, versionOf, type WriteStatement } from '@recordbus/journal';
import { createNamedParameters, type NamedParameters } from '@recordbus/query';
import { type Collection, type Field, quoteIdentifier, tableOf } from '@recordbus/schema';
import { type CallerSql, openCaller, type SentNames } from '../record/caller-sql.ts';
import { ruleVerdict } from '../rules/rule-verdict.ts';
import type { Referrer } from './referrers.ts';
import { clearedSql, refersToAny } from './referring-sql.ts';

interface DeleteOneValues extends Origin, Partial<SentNames> {
  readonly id: string;
  /** The versions that may be deleted; null for any. */
  readonly versions: readonly string[] | null;
}

/**
 * The statement that deletes one record without references to it, whatever its version is. It returns no row when the
 * record does not exist. It locks and finds the record once, where `composeDeleteOne` does so twice.
 */
export const composeDeleteAny = (collection: Collection): WriteStatement<DeleteOneValues> =>
  composeWrite((parameters) => ({
    writes: [{ collection, verb: 'delete', rows: { where: `t.id = ${parameters.named('id', 'text')}` } }],
    answer: 'select s.version, true as deleted from shown s',
  }));

/**
 * The statement that deletes one record without references to it. It returns no row when the record does not exist, and
 * `deleted: false` when it has another version. The rule is a condition on the row `old`; where it does not hold,
 * `isAllowed` is false and nothing is deleted.
 */
export const composeDeleteOne = (
  collection: Collection,
  caller: CallerSql = openCaller,
): WriteStatement<DeleteOneValues> =>
  composeWrite((parameters) => {
    const versions = parameters.named('versions', 'text[]');
    const verdict = ruleVerdict(caller.verdictOn({ row: 'old', stored: 'old' }, parameters));
    const rows = {
      using: `old${verdict.join}`,
      where: `t.id = old.id and (${versions} is null or ${versionOf('old')} = any(${versions}))`,
    };
    return {
      before: [lockedRow(collection, parameters.named('id', 'text')), verdict.cte],
      writes: [{ collection, verb: 'delete', rows }],
      answer: `select ${versionOf('o')} as version, s.id is not null as deleted${verdict.columns} from old o${
        verdict.cte ? ' cross join verdict v' : ''
      } left join shown s on true`,
    };
  });

/** Locks the records that refer to one of the given ids, in id order, so two deletes do not deadlock. */
export const composeLockReferring = ({ collection, field }: Referrer): string =>
  `select t.id from ${tableOf(collection)} t
where ${refersToAny(collection, [{ field, ids: '$1::text[]' }])} order by t.id for update`;

/**
 * Lists and counts the records that refer to one of the ids in $1 and are not themselves among those in $2; with
 * `restrictLast` only those whose lists have no other id.
 */
export function composeFindBlockers({ collection, field, cascade }: Referrer): string {
  const reference = { field, ids: '$1::text[]' };
  const isLast = cascade === 'restrictLast' ? ` and ${clearedSql(reference)} = '[]'` : '';
  return `select t.id, count(*) over () as total from ${tableOf(collection)} t
where ${refersToAny(collection, [reference])}${isLast} and t.id <> all($2::text[])
order by t.id limit $3::bigint`;
}

interface ClearedValues {
  /** The collection's own deleted ids. */
  readonly deleted: readonly string[];
  /** The target collection's deleted ids, by field. */
  readonly targets: ReadonlyMap<string, readonly string[]>;
}

type ClearedParameters = Pick<NamedParameters<ClearedValues>, 'named' | 'member'>;

/** Selects and locks the records outside the cascade set that refer to it by one of the fields. */
function selectCleared(
  collection: Collection,
  fields: readonly Field[],
  columns: string,
  parameters: ClearedParameters,
): string {
  const references = fields.map((field) => referenceOf(field, parameters));
  return `select ${columns} from ${tableOf(collection)} t
where (${refersToAny(collection, references)}) and t.id <> all(${parameters.named('deleted', 'text[]')})
order by t.id for update`;
}

const referenceOf = (field: Field, parameters: ClearedParameters) => ({
  field,
  ids: parameters.member('targets', field.name, 'text[]'),
});

/** Locks the records that refer to a deleted record by one of the fields, and returns their ids. */
export function composeLockCleared(collection: Collection, fields: readonly Field[]): WriteStatement<ClearedValues> {
  const parameters = createNamedParameters<ClearedValues>();
  return { text: selectCleared(collection, fields, 't.id', parameters), valuesFrom: parameters.valuesFrom };
}

/**
 * The statement that clears one collection's relation fields where they refer to deleted records: one write and one
 * event for each record, however many of its fields are cleared.
 */
export const composeSetNull = (
  collection: Collection,
  fields: readonly Field[],
): WriteStatement<Origin & ClearedValues> =>
  composeWrite((parameters) => {
    const cleared = fields.map((field) => ({
      name: quoteIdentifier(field.name),
      value: clearedSql(referenceOf(field, parameters)),
    }));
    return {
      before: [{ name: 'old', sql: selectCleared(collection, fields, 't.*', parameters), isMaterialized: true }],
      writes: [{ collection, verb: 'update', rows: { set: [...cleared, ...autodates(collection)] } }],
      answer: 'select',
    };
  });

interface DeleteManyValues extends Origin {
  /** The ids to delete, by their collection's id. */
  readonly ids: ReadonlyMap<string, readonly string[]>;
}

/**
 * The statement that deletes records in several collections at once: they may refer to each other in a circle, and
 * foreign keys are checked when a statement ends.
 */
export const composeDeleteMany = (collections: readonly Collection[]): WriteStatement<DeleteManyValues> =>
  composeWrite((parameters) => ({
    writes: collections.map((collection, index) => {
      const where = `t.id = any(${parameters.member('ids', collection.id, 'text[]')})`;
      return { collection, verb: 'delete', rows: { where }, suffix: `${index}` };
    }),
    answer: 'select',
  }));
