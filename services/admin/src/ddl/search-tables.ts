import {
  type Collection,
  documentSql,
  hasOwnLanguages,
  isSearchIndex,
  knownWordsTableOf,
  languageSql,
  newWordsTableOf,
  quoteIdentifier,
  type SearchIndex,
  searchedColumns,
  searchTableOf,
  tableOf,
} from '@recordbus/schema';

/** How much of the words of new records waits to be sorted into the index, in KiB. Each search reads it. */
const pendingKib = 2048;

const triggerNames = ['search_added', 'search_changed', 'search_dropped'];

/** The function behind the triggers. It has its table's name. */
const functionOf = searchTableOf;

/**
 * Plans a search index's table, which is empty, and the triggers that keep it from now on. As triggers they work for every
 * writer. The records from before are added in batches (indexes/fill-search-table.ts).
 */
export function planSearchTable(collection: Collection, index: SearchIndex): string[] {
  const words = searchTableOf(collection, index);
  const records = tableOf(collection);
  const keep = functionOf(collection, index);
  const named = (kind: string) => quoteIdentifier(`${kind}:${collection.id.replaceAll('-', '')}:${index.id}`);
  return [
    `create table ${words} (id text collate "C" not null constraint ${named('pk')} primary key, created_at bigint not null,
   ${hasOwnLanguages(index) ? 'language text not null, ' : ''}document tsvector not null)`,
    `create index ${named('words')} on ${words} using gin (document) with (gin_pending_list_limit = ${pendingKib})`,
    // Only the newest matches for a word that most records have are ranked.
    `create index ${named('newest')} on ${words} (created_at)`,
    ...(index.search.typos ? planKnownWords(collection, index) : []),
    planSearchFunction(collection, index),
    `create trigger search_added after insert on ${records} referencing new table as fresh
   for each statement execute function ${keep}()`,
    `create trigger search_changed after update on ${records} referencing old table as stale new table as fresh
   for each statement execute function ${keep}()`,
    `create trigger search_dropped after delete on ${records} referencing old table as stale
   for each statement execute function ${keep}()`,
  ];
}

/** Plans the tables with which typos are corrected. `letters` has a bit for each of the word's letters. */
const planKnownWords = (collection: Collection, index: SearchIndex): string[] => [
  `create table ${knownWordsTableOf(collection, index)} (word text collate "C" not null constraint
   ${quoteIdentifier(`known:${collection.id.replaceAll('-', '')}:${index.id}`)} primary key, letters bigint not null)`,
  `create table ${newWordsTableOf(collection, index)} (id text collate "C" not null)`,
];

/** Plans the triggers' function. It names columns, so a rename needs it again. */
function planSearchFunction(collection: Collection, index: SearchIndex): string {
  const words = searchTableOf(collection, index);
  const columns = ['id', 'created_at', ...searchedColumns(collection, index)].join(', ');
  return `create or replace function ${functionOf(collection, index)}() returns trigger language plpgsql as $keep$
begin
  if tg_op = 'DELETE' then
    delete from ${words} where id in (select id from stale);
  elsif tg_op = 'INSERT' then
${keepWords(collection, index, 'fresh')};
  else
${keepWords(collection, index, `(select ${columns} from fresh except select ${columns} from stale)`)};
  end if;
  return null;
end $keep$`;
}

/** Inserts or replaces the words of the records in a FROM item, as SQL. */
function keepWords(collection: Collection, index: SearchIndex, from: string): string {
  const keep = `${insertWords(collection, index, from)} on conflict (id) do ${replaceWords(index)}`;
  return index.search.typos
    ? `with kept as (\n${keep} returning id\n    ) ${noteNewWords(collection, index, 'kept')}`
    : keep;
}

/** Notes the records in a FROM item, whose words may be new, as SQL. */
export const noteNewWords = (collection: Collection, index: SearchIndex, from: string): string =>
  `insert into ${newWordsTableOf(collection, index)} (id) select id from ${from}`;

/** Inserts the words of the records in a FROM item, as SQL. */
export const insertWords = (collection: Collection, index: SearchIndex, from: string): string => {
  const language = hasOwnLanguages(index) ? `${languageSql(collection, index, 'r')}, ` : '';
  return `    insert into ${searchTableOf(collection, index)} (id, created_at, ${language && 'language, '}document)
      select r.id, r.created_at, ${language}${documentSql(collection, index, 'r')} from ${from} r`;
};

const replaceWords = (index: SearchIndex): string =>
  `update set ${hasOwnLanguages(index) ? 'language = excluded.language, ' : ''}document = excluded.document`;

/** Plans how a search index's triggers, function and table are dropped. */
export const planDropSearchTable = (collection: Collection, index: SearchIndex): string[] => [
  ...triggerNames.map((name) => `drop trigger ${name} on ${tableOf(collection)}`),
  ...planDropWords(collection, index),
];

/** Plans how the function and the table are dropped once their triggers are gone. */
const planDropWords = (collection: Collection, index: SearchIndex): string[] => [
  `drop function ${functionOf(collection, index)}()`,
  `drop table ${[searchTableOf, ...(index.search.typos ? [knownWordsTableOf, newWordsTableOf] : [])].map((table) => table(collection, index)).join(', ')}`,
];

const searchIndexesOf = ({ indexes = [] }: Collection): SearchIndex[] => indexes.filter(isSearchIndex);

/** Plans how a dropped collection's search indexes are dropped, after its table. */
export const planDropAllWords = (collection: Collection): string[] =>
  searchIndexesOf(collection).flatMap((index) => planDropWords(collection, index));

/** Plans the drop of search indexes that a change leaves out. The table has its name from before. */
export const planLostSearchTables = (before: Collection, after: Collection): string[] =>
  searchIndexesOf(before)
    .filter(({ id }) => !after.indexes?.some((index) => index.id === id))
    .flatMap((index) => planDropSearchTable(before, index));

/** Plans the functions of kept search indexes whose columns have changed. */
export const planSearchFunctions = (before: Collection, after: Collection): string[] =>
  searchIndexesOf(after)
    .filter(({ id }) => before.indexes?.some((index) => index.id === id))
    .filter((index) => planSearchFunction(before, index) !== planSearchFunction(after, index))
    .map((index) => planSearchFunction(after, index));
