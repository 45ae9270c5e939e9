import type { Parameters, QuerySchema } from '@recordbus/query';
import { type Collection, quoteLiteral, type RecordColumn, selectList, tableOf } from '@recordbus/schema';
import { compileRule } from '../rules/compile-rule.ts';
import type { Expansion } from './expansion.ts';
import { type Projection, project } from './projection.ts';

/** Which part of a record an answer shows, and what it shows with it. */
export interface Shown {
  readonly collection: Collection;
  readonly projection: Projection;
  /** Undefined when nothing was asked to be expanded: then there is no `expand` either. */
  readonly expansions: readonly Expansion[] | undefined;
}

/** The statement in which it stands. */
interface Surroundings {
  readonly parameters: Parameters;
  readonly schema: QuerySchema;
}

/** The JSON text of a record in SQL. */
interface RecordJson {
  /** What it reads of the table: the columns' names, quoted. */
  readonly columns: readonly string[];
  /** A lateral item of FROM, which belongs behind the row. */
  readonly from: string;
  readonly text: string;
}

/**
 * Composes the JSON of the record in the given row. What is expanded are sub-selects within the text, each of one row
 * by its primary key, so they run for the rows of the page and no others.
 */
export function recordJson(shown: Shown, row: string, surroundings: Surroundings): RecordJson {
  const columns = project(shown.collection, shown.projection);
  const expansions = wantedOf(shown);
  return {
    columns: [...new Set([...columns, ...(expansions ?? [])].map(({ column }) => column))],
    from: `cross join lateral (select ${selectList(columns, row)}) r`,
    text: withExpand(shown, row, surroundings),
  };
}

/** The expansions that `fields` has a place for; undefined when it has none for `expand`. */
function wantedOf({ projection, expansions }: Shown): readonly Expansion[] | undefined {
  const expand = projection.into('expand');
  return expand && expansions?.filter(({ name }) => expand.into(name));
}

function withExpand(shown: Shown, row: string, surroundings: Surroundings): string {
  const expansions = wantedOf(shown);
  if (!expansions) return 'row_to_json(r.*)::text';
  const members = expansions.map((expansion) => {
    const projection = shown.projection.into('expand')?.into(expansion.name);
    if (!projection) throw new Error(`the expansion ${expansion.name} is not wanted`);
    return selectTarget(expansion, projection, row, surroundings);
  });
  // concat_ws leaves out what is null: no target, or one that the caller may not view.
  const expand = members.length > 0 ? `concat_ws(',', ${members.join(', ')})` : "''";
  return `left(row_to_json(r.*)::text, -1) || ',"expand":{' || ${expand} || '}}'`;
}

/** A sub-select of `"name":record`. */
function selectTarget(
  { name, column, target, isAsked, inner }: Expansion,
  projection: Projection,
  from: string,
  surroundings: Surroundings,
): string {
  const { parameters, schema } = surroundings;
  const row = parameters.alias();
  const shown = { collection: target, projection, expansions: inner };
  const { from: lateral, text } = recordJson(shown, row, surroundings);
  const rule = isAsked ? ` and ${compileRule(target, 'view', schema, { row, parameters })}` : '';
  return `(select ${quoteLiteral(`"${name}":`)} || ${text} from ${tableOf(target)} ${row} ${lateral} where ${row}.id = ${from}.${column}${rule})`;
}

/** Columns of a row as a select list under their own names. */
export const columnList = (columns: readonly RecordColumn['column'][], row: string): string =>
  columns.map((column) => `${row}.${column}`).join(', ');
