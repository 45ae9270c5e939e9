import type { PocketBaseCollection, PocketBaseField } from './definitions.ts';
import type { RuleSlot, TranslatedRule } from './translate.ts';

/** One line in the language table: what a rule becomes. The guide and the tests are made from them. */
export interface TableRow {
  readonly from: string;
  readonly to: string;
  /** By default exact. */
  readonly result?: TranslatedRule['result'];
  /** By default the list rule for `tasks`. */
  readonly slot?: RuleSlot;
  /** Whether the report calls a part of it a mistake. */
  readonly isMistake?: boolean;
  /** For the guide. */
  readonly note?: string;
}

const field = (name: string, type: string, more: Partial<PocketBaseField> = {}): PocketBaseField => ({
  name,
  type,
  ...more,
});
const relation = (name: string, collectionId: string, maxSelect = 1) =>
  field(name, 'relation', { collectionId, maxSelect });
const id = field('id', 'text', { required: true, pattern: '^[a-z0-9]+$' });
const collection = (name: string, type: string, fields: readonly PocketBaseField[]): PocketBaseCollection => ({
  id: name,
  name,
  type,
  fields: [id, ...fields, field('created', 'autodate'), field('updated', 'autodate')],
});

/** The collections that the table's rules are about. */
export const tableCollections: readonly PocketBaseCollection[] = [
  collection('orgs', 'base', [field('name', 'text')]),
  collection('people', 'auth', [
    field('email', 'email'),
    field('verified', 'bool'),
    field('role', 'select', { values: ['admin', 'editor'] }),
    relation('org', 'orgs'),
    relation('teams', 'orgs', 9),
  ]),
  collection('labels', 'base', [field('name', 'text'), field('color', 'text')]),
  collection('members', 'base', [relation('org', 'orgs'), relation('user', 'people')]),
  collection('tasks', 'base', [
    field('title', 'text'),
    field('status', 'text'),
    field('done', 'bool'),
    field('rank', 'number'),
    field('due', 'date'),
    field('meta', 'json'),
    relation('author', 'people'),
    relation('org', 'orgs'),
    relation('labels', 'labels', 9),
    relation('helpers', 'people', 9),
    field('kinds', 'select', { values: ['bug', 'other'], maxSelect: 2 }),
    field('place', 'geoPoint'),
  ]),
  collection('comments', 'base', [relation('task', 'tasks'), relation('author', 'people')]),
];

/** Rules that are translated. */
export const translatedRows: readonly TableRow[] = [
  {
    from: 'author = @request.auth.id',
    to: 'author = @request.auth.id',
    result: 'narrower',
    note: 'PocketBase also shows guests the records without an author',
  },
  {
    from: 'author != @request.auth.id',
    to: 'author != @request.auth.id',
    result: 'narrower',
    note: 'PocketBase also admits guests',
  },
  { from: '@request.auth.id != ""', to: '@request.auth.id != ""', note: 'a guest has no id' },
  {
    from: '@request.auth.id != "" && author != @request.auth.id',
    to: '@request.auth.id != "" && author != @request.auth.id',
  },
  {
    from: '@request.auth.org = org',
    to: 'org = @request.auth.org',
    result: 'narrower',
    note: 'the account as it is stored now, relations included; give `org` the `write_rule` `""`',
  },
  {
    from: '@request.auth.org != "" && @request.auth.org = org',
    to: '@request.auth.org != "" && org = @request.auth.org',
  },
  {
    from: '@request.auth.email != ""',
    to: '@request.auth.email != "" && @request.auth.email !~ "@users.invalid"',
    note: 'an account without an address has a made-up one; without the second half if PocketBase requires the address',
  },
  { from: '@request.auth.verified = true', to: '@request.auth.verified = true' },
  { from: '@request.auth.collectionName = "people"', to: '@request.auth.collection = "people"' },
  { from: '@request.auth.role != "admin"', to: '@request.auth.role != "admin"', result: 'narrower' },
  { from: 'org ?= @request.auth.teams.id', to: 'org in @request.auth.teams', result: 'narrower' },
  { from: 'title ?= "a"', to: 'title = "a"', note: 'a path with several values always holds if some value does' },
  { from: 'labels.name ?= "bug"', to: 'labels.name = "bug"' },
  {
    from: 'labels.name = "bug"',
    to: 'labels.name = "bug" && all(labels.name = "bug")',
    note: 'a plain operator of PocketBase tests all values, and needs one; `all(…)` alone also admits records without any',
  },
  { from: 'labels.name ~ "b"', to: 'labels.name ~ "b" && all(labels.name ~ "b")' },
  {
    from: 'labels.name !~ "b"',
    to: 'count(labels) > 0 && labels.name !~ "b"',
    note: 'without any label, `!~` does not hold in PocketBase',
  },
  { from: 'labels.name ?!= "bug"', to: 'not all(labels.name = "bug") || count(labels) = 0' },
  {
    from: 'labels.name != "bug"',
    to: 'labels.name != "bug"',
    note: 'no label has this name, which also holds without any label',
  },
  {
    from: 'labels.name ?= "bug" && labels.color ?= "red"',
    to: 'exists(labels, id in record.labels && name = "bug" && color = "red")',
    note: 'in one conjunction, both are about the same label',
  },
  { from: 'labels:length > 2', to: 'count(labels) > 2' },
  {
    from: 'helpers.teams:length > 1',
    to: 'count(helpers) > 0 && all(helpers.teams:length > 1)',
    note: 'how many values each of several records has',
  },
  { from: 'kinds:each ~ "b"', to: 'kinds ~ "b" && all(kinds ~ "b")' },
  { from: 'kinds:each ?= "bug"', to: 'kinds = "bug"' },
  {
    from: 'kinds = "bug" || author = "a"',
    to: 'author = "a"',
    isMistake: true,
    note: 'without `:each`, `=` compares the whole list as JSON text: this part never holds in PocketBase',
  },
  {
    from: 'helpers ?= @request.auth.id || author = "a"',
    to: 'author = "a"',
    isMistake: true,
    note: 'the same; `helpers.id ?= @request.auth.id` was meant, which is `helpers = @request.auth.id` here',
  },
  { from: 'kinds ~ "bug"', to: 'kinds ~ "bug"' },
  {
    from: 'comments_via_task.author ?= @request.auth.id',
    to: 'comments_via_task.author = @request.auth.id',
    result: 'narrower',
  },
  {
    from: '@collection.members.user ?= @request.auth.id && @collection.members.org ?= org',
    to: 'exists(members, user = @request.auth.id && (org = record.org || org = null && record.org = null))',
    result: 'narrower',
    note: 'both conditions apply to the same record. Within `exists`, no two nulls are equal; if `org` is required, `org = record.org` remains',
  },
  {
    from: '@collection.members.user = @request.auth.id',
    to: 'exists(members, user = @request.auth.id) && not exists(members, not (user = @request.auth.id))',
    result: 'narrower',
    note: 'without `?`, every member must be the caller: most likely a mistake',
  },
  { from: 'title:lower = "a"', to: 'title:lower = "a"' },
  {
    from: '@request.body.author:isset = false',
    to: '@request.body.author:isset = false',
    slot: 'update',
    note: "a field's `write_rule` is shorter",
  },
  { from: '@request.body.title:changed = false', to: '@request.body.title:changed = false', slot: 'update' },
  { from: 'created > @now', to: 'created > @now' },
  { from: 'created > @todayStart', to: 'created > @todayStart', note: 'every time takes a shift: `@now-7d`' },
  {
    from: 'due < "2026-01-01 00:00:00.000Z"',
    to: 'due < "2026-01-01" || due = null',
    note: 'an empty date comes before every other',
  },
  {
    from: 'due <= "2026-01-01"',
    to: 'due < "2026-01-01" || due = null',
    note: "PocketBase compares texts, and the day's first second is longer than this one",
  },
  { from: "title = ''", to: 'title = null || title = ""', note: '`""` is a text; null means no value' },
  { from: "title != ''", to: 'title != null && title != ""' },
  { from: "author = ''", to: 'author = null' },
  { from: 'rank != 0', to: 'rank != 0 && rank != null', note: 'PocketBase stores 0 for a number that is not given' },
  { from: 'done != false', to: 'done = true' },
  { from: 'title ~ "%a%"', to: 'title ~ "a"' },
  { from: "title ~ 'a'", to: 'title ~ "a"', note: '`%` and `_` are plain characters; `~` finds the text anywhere' },
  { from: 'author.org.name !~ "a"', to: 'author.org != null && author.org.name !~ "a"' },
  { from: 'meta.open = true', to: 'meta.open = true || meta.open = 1', note: 'SQLite takes true in JSON for 1' },
  {
    from: 'geoDistance(place.lon, place.lat, 16.37, 48.2) < 5',
    to: 'distance(place, 48.2, 16.37) < 5',
    note: 'kilometers; latitude first',
  },
  {
    from: 'status = "a" || status = "b"',
    to: 'status = "a" || status = "b"',
    note: '`status in ("a", "b")` is shorter',
  },
];

/** Rules that are locked. */
export const lockedRows: readonly TableRow[] = [
  { from: '@request.auth.id = ""', to: '', note: 'whatever a guest may do, a user may too' },
  { from: 'title ~ "a%"', to: '', note: 'patterns' },
  { from: 'title ~ author.email', to: '', note: 'a search for a value that may hold a pattern' },
  { from: 'title ~ "ä"', to: '', note: 'PocketBase tells `ä` from `Ä`' },
  { from: 'title > "a"', to: '', note: "texts are in the order of the database's collation" },
  { from: 'due > "2026-01-01 00:00:00.500Z"', to: '', note: 'dates are whole seconds' },
  { from: 'meta.rank > 5', to: '', note: 'SQLite sorts texts in JSON after every number' },
  { from: 'strftime("%Y", created) = "2026"', to: '' },
  { from: '@hour > 8', to: '', note: '`@second @minute @hour @day @weekday @month @year`' },
  { from: '@request.context = "oauth2"', to: '' },
  { from: '@request.body.title:changed = true', to: '', slot: 'create', note: '`:changed` in a create rule' },
  {
    from: 'labels.name ?= "a" && labels.color = "red" && comments_via_task.author.org.name ?!= "b"',
    to: '',
    note: '`?!=` over more than one relation',
  },
];
