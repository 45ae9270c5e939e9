import { type Directory, type TranslatedRule, translateRule } from '../rules/index.ts';
import { noteAccounts, ownDefinition, translateManageRule } from './accounts.ts';
import type { StoredCollection, StoredField } from './definition.ts';
import { type FieldDefinition, translateField } from './fields.ts';
import { isNotEmpty, readIndex } from './indexes.ts';
import { isOwnMember } from './names.ts';
import type { Note } from './note.ts';

/** A collection's file here (schema §2.2). */
export interface CollectionDefinition {
  readonly name: string;
  /** The id in PocketBase, which file links in use name. */
  readonly alias?: string;
  readonly type: StoredCollection['type'];
  readonly list_rule: string | null;
  readonly view_rule: string | null;
  readonly create_rule: string | null;
  readonly update_rule: string | null;
  readonly delete_rule: string | null;
  readonly sign_in_rule?: string | null;
  readonly view_query?: string;
  readonly fields: readonly FieldDefinition[];
  readonly indexes: readonly IndexDefinition[];
}

interface IndexDefinition {
  readonly name: string;
  readonly columns: readonly string[];
  readonly unique: boolean;
}

/** A collection's translation, with what the report says about it. */
export interface TranslatedCollection {
  readonly from: StoredCollection;
  readonly to: CollectionDefinition;
  readonly rules: readonly TranslatedRule[];
  readonly notes: readonly Note[];
}

/** What a collection's translation depends on. */
export interface CollectionContext {
  readonly directory: Directory;
  /** The target's name here, if its records move too. */
  targetOf(collectionId: string): string | undefined;
  /** How many records have no value in a field, or only ids that nothing has. */
  lackingOf(field: StoredField): number;
}

/** Translates a base or auth collection. */
export function translateCollection(from: StoredCollection, context: CollectionContext): TranslatedCollection {
  const { directory } = context;
  const notes: Note[] = [];
  const noteOf = (field: string | undefined) => (kind: Note['kind'], text: string) => {
    notes.push({ collection: from.name, field, kind, text });
  };
  const nameOf = (field: string) => directory.fieldNameOf(from, field);
  const managers = translateManageRule(from, directory);
  const fields = from.fields.flatMap((field) => {
    const note = noteOf(field.name);
    if (isOwnMember(from, field.name)) {
      if (field.hidden && timeNames.has(field.name)) note('risk', 'is hidden in PocketBase; here records show it');
      return ownDefinition(from, field, managers?.to);
    }
    const name = nameOf(field.name);
    if (name !== field.name) note('changed', `is called ${name} here, also in rules`);
    const lacking = field.required ? context.lackingOf(field) : 0;
    return translateField(field, { collection: from, name, targetOf: context.targetOf, lacking, note }) ?? [];
  });
  const { fields: indexed, indexes } = withIndexes(from, fields, nameOf, noteOf(undefined));
  const ruleOf = (slot: 'list' | 'view' | 'create' | 'update' | 'delete') =>
    translateRule(from.rules[slot], slot, from, directory);
  const rules = {
    list: ruleOf('list'),
    view: ruleOf('view'),
    create: withNonZero(ruleOf('create'), from, nameOf),
    update: withNonZero(ruleOf('update'), from, nameOf),
    delete: ruleOf('delete'),
  };
  const signIn =
    from.type === 'auth' ? translateRule(from.options.authRule ?? null, 'auth', from, directory) : undefined;
  if (from.type === 'auth') noteAccounts(from, directory.nameOf(from), noteOf(undefined));
  return {
    from,
    to: {
      name: directory.nameOf(from),
      alias: from.id,
      type: from.type,
      list_rule: rules.list.to,
      view_rule: rules.view.to,
      create_rule: rules.create.to,
      update_rule: rules.update.to,
      delete_rule: rules.delete.to,
      ...(signIn && signIn.to !== null && { sign_in_rule: signIn.to }),
      fields: indexed,
      indexes,
    },
    rules: [
      ...Object.values(rules),
      ...(signIn && signIn.from !== '' ? [signIn] : []),
      ...(managers ? [managers] : []),
    ],
    notes,
  };
}

/** Members that no rule closes here. */
const timeNames: ReadonlySet<string> = new Set(['created', 'updated']);

/** Adds what a required number or bool asks for: not 0, or true. */
function withNonZero(
  rule: TranslatedRule,
  { fields }: StoredCollection,
  nameOf: (field: string) => string,
): TranslatedRule {
  const asks = fields.filter(({ required, type }) => required && (type === 'number' || type === 'bool'));
  if (asks.length === 0 || rule.to === '') return rule;
  const conditions = asks.map(({ name: from, type }) => {
    const name = nameOf(from);
    // PocketBase takes null for 0.
    const test = (value: string) => (type === 'number' ? `${value} != 0 && ${value} != null` : `${value} = true`);
    const sent = `@request.body.${name}`;
    return rule.rule === 'create_rule' ? test(name) : `(${sent}:isset = false || ${test(sent)})`;
  });
  const to = [...(rule.to === null ? [] : [`(${rule.to})`]), ...conditions].join(' && ');
  const why = `required numbers and bools are tested in the rule`;
  return { ...rule, to, why: rule.why ? `${rule.why}; ${why}` : why };
}

/** The types whose definition has the option `unique`. */
const uniqueTypes: ReadonlySet<string> = new Set(['text', 'number', 'url', 'email']);

const withoutCreation: ReadonlySet<string> = new Set(['id', 'created', 'updated', 'tokenKey', 'password']);

function withIndexes(
  from: StoredCollection,
  fields: readonly FieldDefinition[],
  nameOf: (field: string) => string,
  note: (kind: Note['kind'], text: string) => void,
): { readonly fields: FieldDefinition[]; readonly indexes: IndexDefinition[] } {
  const unique = new Set<string>();
  const ignoring = new Set<string>();
  const indexes = new Map<string, IndexDefinition>();
  for (const sql of from.indexes) {
    const index = readIndex(sql);
    if (!index) {
      note('left_out', `the index ${sql}`);
      continue;
    }
    const columns = index.columns.map(({ name }) => nameOf(name));
    const names = index.columns.map(({ name }) => name);
    const [only = ''] = columns;
    // These have an index here, or no column.
    if (names.every((name) => withoutCreation.has(name))) continue;
    if (from.type === 'auth' && columns.length === 1 && only === 'email') continue;
    if (!columns.every((column) => fields.some(({ name }) => name === column))) {
      note('left_out', `the index ${index.name}: it has a column that has no index here`);
      continue;
    }
    if (index.where !== undefined && !isNotEmpty(index.where, names)) {
      note(index.isUnique ? 'risk' : 'left_out', `the index ${index.name}: its condition ${index.where} is not taken`);
      if (index.isUnique) continue;
    }
    if (columns.some((column) => fields.find(({ name }) => name === column)?.options?.multiple)) {
      note(index.isUnique ? 'risk' : 'left_out', `the index ${index.name}: a list has no such index here`);
      continue;
    }
    for (const [at, { ignoresCase }] of index.columns.entries()) {
      const folded = fields.find(({ name }) => name === columns[at]);
      if (!ignoresCase || !folded || !['text', 'url', 'editor', 'select'].includes(folded.type)) continue;
      if (index.isUnique && folded?.type === 'text') ignoring.add(folded.name);
      else note(index.isUnique ? 'risk' : 'changed', `the index ${index.name} does not ignore case here`);
    }
    const field = fields.find(({ name }) => name === only);
    if (index.isUnique && columns.length === 1 && field && uniqueTypes.has(field.type)) unique.add(only);
    else {
      const name = indexName(index.name, indexes);
      indexes.set(name.toLowerCase(), { name, columns, unique: index.isUnique });
    }
  }
  return {
    fields: fields.map((field) => {
      const more = {
        ...(unique.has(field.name) && { unique: true }),
        ...(ignoring.has(field.name) && { ignoreCase: true }),
      };
      return Object.keys(more).length > 0 ? { ...field, options: { ...field.options, ...more } } : field;
    }),
    indexes: [...indexes.values()],
  };
}

function indexName(given: string, taken: ReadonlyMap<string, unknown>): string {
  const base =
    given
      .replace(/[^A-Za-z0-9_]/g, '_')
      .replace(/^[^A-Za-z]+/, '')
      .slice(0, 50) || 'index';
  let name = base;
  for (let n = 2; taken.has(name.toLowerCase()); n += 1) name = `${base}_${n}`;
  return name;
}
