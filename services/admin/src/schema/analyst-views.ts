import { type Database, locks, type Query, takeLock } from '@recordbus/database';
import {
  type Collection,
  type Field,
  fieldTypeOf,
  isEncrypted,
  loadCollections,
  quoteIdentifier,
  quoteLiteral,
  recordColumns,
  tableOf,
} from '@recordbus/schema';

/** The schema with a view for each collection, for people who read the database with SQL (operation §8.9). */
const analystSchema = 'analyst';

/** The years that every PostgreSQL client can show, 1 to 9999, in unix seconds. */
const [firstSec, lastSec] = [-62_135_596_800, 253_402_300_799];

/**
 * Drops the views, since a column in use by a view can be neither dropped nor changed. Returns whether the schema
 * exists.
 */
export async function dropAnalystViews(query: Query): Promise<boolean> {
  const [found] = await query<{ readonly views: readonly string[]; readonly functions: readonly string[] }>({
    text: `select
        array(select oid::regclass::text from pg_class where relnamespace = n.oid and relkind = 'v') as views,
        array(select oid::regprocedure::text from pg_proc where pronamespace = n.oid) as functions
      from pg_namespace n where n.nspname = $1`,
    values: [analystSchema],
  });
  if (!found) return false;
  const { views, functions } = found;
  if (views.length > 0) await query({ text: `drop view ${views.join(', ')}`, values: [] });
  if (functions.length > 0) await query({ text: `drop function ${functions.join(', ')}`, values: [] });
  return true;
}

/**
 * Creates the schema with its views and lets a role read them, later collections' views too. Never runs during a schema
 * change.
 */
export async function openAnalystSchema({ transaction }: Pick<Database, 'transaction'>, reader: string): Promise<void> {
  const role = quoteIdentifier(reader);
  await transaction(async (query) => {
    await takeLock(query, locks.schema);
    for (const text of [
      `create schema if not exists ${analystSchema}`,
      `comment on schema ${analystSchema} is 'One view for each collection, to read with SQL.'`,
      `grant usage on schema ${analystSchema} to ${role}`,
      `alter default privileges in schema ${analystSchema} grant select on tables to ${role}`,
    ])
      await query({ text, values: [] });
    await rebuild(query);
  });
}

/** Creates the views again if the schema exists, such as after a restore. */
export const rebuildAnalystViews = ({ transaction }: Pick<Database, 'transaction'>): Promise<void> =>
  transaction(rebuild);

async function rebuild(query: Query): Promise<void> {
  if (await dropAnalystViews(query)) await createAnalystViews(query, (await loadCollections(query)).collections);
}

/** Creates each collection's view. The schema's default privileges let analysts read it. */
export async function createAnalystViews(query: Query, collections: readonly Collection[]): Promise<void> {
  for (const collection of collections)
    for (const text of planAnalystView(collection)) await query({ text, values: [] });
}

const viewOf = ({ name }: Pick<Collection, 'name'>): string => `${analystSchema}.${quoteIdentifier(name)}`;

/** Plans a view with times as timestamps, and without fields that are secret, encrypted or not visible to everyone. */
function planAnalystView(collection: Collection): string[] {
  const left = collection.fields.filter(isLeftOut);
  const leftNames = new Set(left.map(({ name }) => name));
  const dates = new Set(collection.fields.filter(isDate).map(({ name }) => name)).add('created').add('updated');
  const columns = recordColumns(collection).filter(({ name }) => !leftNames.has(name));
  const shown = columns.map(
    ({ name, column }) => `${dates.has(name) ? timeOf(column) : column} as ${quoteIdentifier(name)}`,
  );
  const view = viewOf(collection);
  return [
    ...(collection.type === 'view' ? [planReader(collection)] : []),
    `create view ${view} as select ${shown.join(', ')} from ${sourceOf(collection)}`,
    `comment on view ${view} is ${quoteLiteral(aboutView(collection, left))}`,
    ...collection.fields
      .filter((field) => field.collection !== undefined && !leftNames.has(field.name))
      .map(
        (field) => `comment on column ${view}.${quoteIdentifier(field.name)} is ${quoteLiteral(aboutRelation(field))}`,
      ),
  ];
}

/** The collection's table, or its view's rows. */
const sourceOf = (collection: Collection): string =>
  collection.type === 'view' ? `${viewOf(collection)}()` : tableOf(collection);

/**
 * Plans the function that reads a collection's view. Such a view has the asking role's rights, even within another
 * view; in a function it has the owner's.
 */
const planReader = (collection: Collection): string =>
  `create function ${viewOf(collection)}() returns setof ${tableOf(collection)} language sql stable security definer
    set search_path = pg_catalog as ${quoteLiteral(`select * from ${tableOf(collection)}`)}`;

const isLeftOut = (field: Field): boolean => isEncrypted(field) || field.viewRule !== undefined;

const isDate = (field: Field): boolean => fieldTypeOf(field).filterKind(field) === 'date';

/** A time outside the range is null. It would fail the whole query. */
const timeOf = (column: string): string =>
  `case when ${column} between ${firstSec} and ${lastSec} then to_timestamp(${column}) end`;

function aboutView({ name, type }: Collection, left: readonly Field[]): string {
  const kind = { base: 'Records', auth: 'Accounts', view: 'Rows' }[type];
  const names = left.map((field) => field.name);
  return `${kind} in the collection ${name}.${names.length > 0 ? ` Left out: ${names.join(', ')}.` : ''}`;
}

const aboutRelation = ({ collection, options }: Field): string =>
  options.multiple === true ? `ids in ${collection}` : `id in ${collection}`;
