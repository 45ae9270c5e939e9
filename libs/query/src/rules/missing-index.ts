import { type Collection, fieldTypeOf, quoteIdentifier } from '@recordbus/schema';
import { parse } from '../language/parser.ts';
import { QueryError } from '../query-error.ts';
import { resolve } from '../resolve/resolve.ts';
import {
  type Column,
  passesSeveral,
  type Resolved,
  type ResolvedComparison,
  type ResolvedExists,
  type Source,
} from '../resolve/resolved.ts';
import type { QuerySchema } from '../resolve/scope.ts';
import { visitResolved } from '../resolve/visit-resolved.ts';

/** An index that would serve an expression. */
export interface WantedIndex {
  readonly collection: Collection;
  /** Its column's name. */
  readonly column: string;
  readonly type: 'btree' | 'trigram';
}

/** The scope when searching for missing indexes. */
interface SearchScope {
  readonly collection: Collection;
  readonly schema: QuerySchema;
  /** The callers' collection. */
  readonly caller: Collection | undefined;
  /** Whether reading all the collection's records costs too much. */
  isLarge(collection: Collection): boolean;
  /** Whether the record is already found, for example by its id. Then only related collections are searched. */
  readonly isFound: boolean;
}

/** How matching records are found: by an index, or by reading all records, with the indexes that would help. */
type Verdict = 'served' | readonly WantedIndex[];

/**
 * Finds a missing index: one without which a rule reads every record in a large collection. Undefined if the rule has
 * an index to begin with, or no index would help (rules §6.3).
 */
export function findMissingIndex(rule: string, scope: SearchScope): WantedIndex | undefined {
  const { collection, schema, caller } = scope;
  try {
    const verdict = search(resolve(parse(rule), { collection, schema, audience: 'rule', caller }), scope);
    return verdict === 'served' ? undefined : verdict[0];
  } catch (error) {
    // A rule that cannot be compiled admits nobody.
    if (error instanceof QueryError) return undefined;
    throw error;
  }
}

const search = (expression: Resolved, scope: SearchScope): Verdict =>
  visitResolved(expression, {
    all(items) {
      const verdicts = items.map((item) => search(item, scope));
      // One index is enough. For a record that is already found, each part is searched separately.
      return scope.isFound ? everyOf(verdicts) : someOf(verdicts);
    },
    any: (items) => everyOf(items.map((item) => search(item, scope))),
    decided: ({ holds }) => (holds ? readsAll(scope) : 'served'),
    nullTest: () => readsAll(scope),
    comparison: (test) => searchComparison(test, scope),
    exists: (test) => searchExists(test, scope),
  });

/** No index would help. */
const readsAll = ({ isFound, collection, isLarge }: SearchScope): Verdict =>
  isFound || !isLarge(collection) ? 'served' : [];

const someOf = (verdicts: readonly Verdict[]): Verdict =>
  verdicts.includes('served') ? 'served' : verdicts.flatMap((verdict) => (verdict === 'served' ? [] : verdict));

/** If one part must read all records, an index for another part does not help. */
function everyOf(verdicts: readonly Verdict[]): Verdict {
  const unserved = verdicts.filter((verdict) => verdict !== 'served');
  if (unserved.length === 0) return 'served';
  return unserved.some((wanted) => wanted.length === 0) ? [] : unserved.flat();
}

function searchComparison(comparison: ResolvedComparison, scope: SearchScope): Verdict {
  const { operator, left, right, isNegated, negatesValue } = comparison;
  if (scope.isFound) return 'served';
  if (isNegated || negatesValue) return readsAll(scope);
  const column = [left, right].find((side): side is Column => side.source === 'column' && side.up === 0);
  const other = column === left ? right : left;
  if (!column || dependsOnRecord(other)) return readsAll(scope);
  return searchColumn(column, operator === '~' ? 'trigram' : 'btree', scope);
}

const dependsOnRecord = (source: Source): boolean =>
  (source.source === 'column' && source.up === 0) || (source.source === 'count' && !source.account);

/** A path's relations have indexes in both directions; its end may have none. */
function searchColumn(column: Column, type: WantedIndex['type'], scope: SearchScope): Verdict {
  const collection = column.hops.at(-1)?.target ?? scope.collection;
  if (!scope.isLarge(collection) || collection.type === 'view') return 'served';
  if (column.relation || isIndexed(collection, column, type)) return 'served';
  const name = nameOf(column, collection);
  const isPlain =
    column.keys.length === 0 && !column.transform && ['text', 'number', 'date', 'bool'].includes(column.kind);
  return isPlain && name !== undefined ? [{ collection, column: name, type }] : readsAll(scope);
}

const nameOf = ({ column }: Column, { fields }: Collection): string | undefined =>
  column === 'updated_at' ? 'updated' : fields.find(({ name }) => quoteIdentifier(name) === column)?.name;

function isIndexed(collection: Collection, { column, isSearchable, transform, keys }: Column, type: string): boolean {
  if (type === 'trigram') return isSearchable;
  if (transform || keys.length > 0) return false;
  if (column === 'id' || column === 'target' || column === 'created_at') return true;
  const field = collection.fields.find(({ name }) => quoteIdentifier(name) === column);
  const isFirst = collection.indexes?.some(
    (index) => index.type === 'btree' && index.columns[0] === (field?.id ?? column),
  );
  if (isFirst || !field) return isFirst === true;
  return field.options.unique === true && fieldTypeOf(field).uniqueSql === undefined;
}

/** Searches the related collection by values of the outer record, or the outer one by values of related records. */
function searchExists({ from, condition, isNegated }: ResolvedExists, scope: SearchScope): Verdict {
  if (!('target' in from)) return scope.isFound || !isNegated ? 'served' : readsAll(scope);
  const inner = condition ? search(condition, { ...scope, collection: from.target, isFound: false }) : 'served';
  if (scope.isFound) return inner;
  if (isNegated) return inner === 'served' ? readsAll(scope) : inner;
  const outer = condition ? searchOuter(condition, scope) : readsAll(scope);
  return inner === 'served' ? outer : [...inner, ...(outer === 'served' ? [] : outer)];
}

/** Searches the outer records by the equations of the condition with them. */
const searchOuter = (condition: Resolved, scope: SearchScope): Verdict =>
  visitResolved(condition, {
    all: (items) => someOf(items.map((item) => searchOuter(item, scope))),
    any: (items) => everyOf(items.map((item) => searchOuter(item, scope))),
    decided: () => readsAll(scope),
    nullTest: () => readsAll(scope),
    comparison({ left, right, isNegated, operator }) {
      const column = [left, right].find((side): side is Column => side.source === 'column' && side.up === 1);
      if (!column || isNegated || passesSeveral(column)) return readsAll(scope);
      return searchColumn(column, operator === '~' ? 'trigram' : 'btree', scope);
    },
    exists: () => readsAll(scope),
  });
