import { malformedParameter as refused } from '@recordbus/errors';
import { isHidden, type Parameters } from '@recordbus/query';
import { type Collection, type Field, quoteIdentifier, quoteLiteral } from '@recordbus/schema';
import { type CompileContext, compileCondition } from '../rules/compile-rule.ts';
import { viewOf } from '../rules/field-rules.ts';

/** A search's facets: how many matches have which value of a field (search §4). */
export interface Facets {
  /** Table expressions, which read the counted records. */
  readonly tables: readonly string[];
  /** Adds `facets` and `more` to the answer's text, as SQL. */
  readonly members: string;
}

const maxFields = 10;
/** How many values a facet has, and how long one may be. */
const maxValues = 100;
const maxLength = 200;

/** The types with values that repeat. */
const countedTypes: ReadonlySet<string> = new Set(['text', 'select', 'bool', 'number', 'relation', 'email', 'url']);

interface FacetPlace extends CompileContext {
  readonly parameters: Parameters;
  /** Joins the record `t` to an id. */
  readonly joinRecord: (id: string) => string;
  /** The table expression with the counted records. */
  readonly counted: string;
  /** How many records are counted. There may be more. */
  readonly maxCounted: number;
}

/**
 * Composes the facets that a client asks for. Values that the caller may not see count nowhere. Throws 400 for a field that
 * has no facets, or that the caller never sees.
 */
export function composeFacets(collection: Collection, given: string, place: FacetPlace): Facets {
  const names = [...new Set(given.split(',').map((name) => name.trim()))];
  if (names.length > maxFields) throw refused('facets', `must name at most ${maxFields} fields`);
  const fields = names.map((name) => readField(collection, name, place));
  const shown = fields.map(
    (field, index) => `${quoteLiteral(`${JSON.stringify(field.name)}:`)} || ${countsJson(table(index))}`,
  );
  const more = fields.map(
    (field, index) =>
      `case when n.total > ${place.maxCounted} or (select count(*) from ${table(index)}) > ${maxValues} then ${quoteLiteral(JSON.stringify(field.name))} end`,
  );
  return {
    tables: fields.map((field, index) => `${table(index)} as materialized (${countValues(collection, field, place)})`),
    members: ` || ',"facets":{' || ${shown.join(` || ',' || `)} || '},"more":[' || concat_ws(',', ${more.join(', ')}) || ']'`,
  };
}

const table = (index: number): string => `facet${index}`;

function readField(collection: Collection, name: string, place: CompileContext): Field {
  const field = collection.fields.find((one) => one.name === name);
  if (!field || isHidden(field) || viewOf(collection, place).closed.has(name))
    throw refused('facets', `${collection.name} has no field ${JSON.stringify(name)}`);
  if (!countedTypes.has(field.type))
    throw refused('facets', `a ${field.type} field has no facets: ${JSON.stringify(name)}`);
  return field;
}

/** Counts a field's values in the matches, the most frequent first, and one more than are shown. */
function countValues(collection: Collection, field: Field, place: FacetPlace): string {
  const column = `t.${quoteIdentifier(field.name)}`;
  const rule = viewOf(collection, place).conditional.get(field.name);
  const visible =
    rule === undefined
      ? ''
      : ` and (${compileCondition(rule, collection, place, { row: 't', parameters: place.parameters, isTable: true })})`;
  const values = field.options.multiple
    ? `jsonb_array_elements_text(${column}) v(value)`
    : `(select ${column}::text) v(value)`;
  return `select v.value, count(*) as n from ${place.counted} m${place.joinRecord('m.id')} cross join lateral ${values}
  where v.value <> '' and length(v.value) <= ${maxLength}${visible}
  group by v.value order by n desc, v.value collate "C" limit ${maxValues + 1}`;
}

const countsJson = (name: string): string =>
  `'{' || coalesce((select string_agg(to_json(c.value)::text || ':' || c.n, ',') from (select * from ${name} limit ${maxValues}) c), '') || '}'`;
