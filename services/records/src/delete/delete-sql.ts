import {
  autodateAssignments,
  insertEvents,
  nextUpdatedAt,
  selectChange,
  selectRecord,
  withHistory,
} from '@recordbus/journal';
import { type Collection, quoteIdentifier, tableOf } from '@recordbus/schema';
import { ruleVerdict } from '../rules/rule-verdict.ts';
import type { Referrer } from './referrers.ts';

/**
 * Deletes one record that nothing refers to; its values are the origin, the id and the versions that may be deleted.
 * It gives no row when there is no record, and one that says `deleted: false` when it is of another version.
 * With a rule, a condition on the row `old`, it says whether that holds, and deletes nothing where it does not.
 */
export const composeDeleteOne = (collection: Collection, rule?: string): string => `with old as materialized (
  select t.* from ${tableOf(collection)} t where t.id = $5::text for update
), ${ruleVerdict(rule)}gone as (
  delete from ${tableOf(collection)} t using old${rule === undefined ? '' : ' join verdict on verdict.allowed'}
  where t.id = old.id and ($6::bigint[] is null or old.updated_at = any($6::bigint[]))
  returning t.*
), shown as materialized (
  ${selectRecord(collection, 'gone')}
), event as (
  ${insertEvents({ collection, verb: 'delete', source: 'shown' })}
)${withHistory({ collection, verb: 'delete', source: 'gone' })}
select o.updated_at as "updatedAtSec", s.id is not null as deleted${
  rule === undefined ? '' : ', v.allowed as "isAllowed"'
} from old o${rule === undefined ? '' : ' cross join verdict v'} left join shown s on true`;

/** Locks the records that refer to one of the given ids; in the order of ids, so that two deletes do not cross. */
export const composeLockReferring = ({ collection, field }: Referrer): string =>
  `select t.id from ${tableOf(collection)} t
where t.${quoteIdentifier(field.name)} = any($1::text[]) order by t.id for update`;

/** Lists and counts the records that refer to one of the ids in $1 and are not themselves among those in $2. */
export const composeFindBlockers = ({ collection, field }: Referrer): string =>
  `select t.id, count(*) over () as total from ${tableOf(collection)} t
where t.${quoteIdentifier(field.name)} = any($1::text[]) and t.id <> all($2::text[])
order by t.id limit $3::bigint`;

/**
 * Locks the records of which one of the fields refers to something that goes; its values are the ids that go themselves,
 * and for each field those of its target collection.
 */
export const composeLockCleared = (collection: Collection, fields: readonly string[]): string =>
  `select t.id from ${tableOf(collection)} t
where (${fields.map((name, index) => isHit(name, 2 + index)).join(' or ')}) and t.id <> all($1::text[])
order by t.id for update`;

const isHit = (name: string, at: number): string => `t.${quoteIdentifier(name)} = any($${at}::text[])`;

/**
 * Clears the relation fields of one collection where they point at deleted records; one write and one event for each
 * record, however many of its fields are cleared. Its values are the origin, the ids that are deleted with the
 * target, and for each field the deleted ids of its target collection.
 */
export function composeSetNull(collection: Collection, fields: readonly string[]): string {
  const hits = fields.map((name, index) => ({
    name: quoteIdentifier(name),
    isHit: isHit(name, 6 + index),
  }));
  const assignments = hits.map(({ name, isHit }) => `${name} = case when ${isHit} then null else t.${name} end, `);
  return `with old as materialized (
  select t.* from ${tableOf(collection)} t
  where (${hits.map(({ isHit }) => isHit).join(' or ')}) and t.id <> all($5::text[])
  order by t.id for update
), new as (
  update ${tableOf(collection)} t set ${assignments.join('')}${autodateAssignments(collection)}updated_at = ${nextUpdatedAt('t')}
  from old where t.id = old.id
  returning t.*
), shown as materialized (
  ${selectChange(collection, 'new', 'old')}
)${withHistory({ collection, verb: 'update', source: 'new' })}
${insertEvents({ collection, verb: 'update', source: 'shown' })}`;
}

/**
 * Deletes records of several collections at once, since they may refer to each other in a circle and foreign keys are
 * asked at the end of a statement. Its values are the origin and for each collection the ids.
 */
export function composeDeleteMany(collections: readonly Collection[]): string {
  const parts = collections.map(
    (collection, index) => `gone${index} as (
  delete from ${tableOf(collection)} t where t.id = any($${5 + index}::text[]) returning t.*
), shown${index} as materialized (
  ${selectRecord(collection, `gone${index}`)}
), event${index} as (
  ${insertEvents({ collection, verb: 'delete', source: `shown${index}` })}
)${withHistory({ collection, verb: 'delete', source: `gone${index}`, name: `history${index}` })}`,
  );
  return `with ${parts.join(', ')}
select`;
}
