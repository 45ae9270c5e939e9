import type { PocketBaseCollection, PocketBaseField } from '../rules/index.ts';

/** A field as PocketBase 0.23 to 0.40 stores it. Members that a type lacks are absent. */
export interface StoredField extends PocketBaseField {
  readonly id: string;
  readonly min?: number | string | null | undefined;
  readonly max?: number | string | null | undefined;
  readonly autogeneratePattern?: string | undefined;
  readonly onlyInt?: boolean | undefined;
  readonly minSelect?: number | undefined;
  readonly cascadeDelete?: boolean | undefined;
  readonly protected?: boolean | undefined;
  readonly thumbs?: readonly string[] | null | undefined;
  readonly mimeTypes?: readonly string[] | null | undefined;
  readonly maxSize?: number | undefined;
  readonly onCreate?: boolean | undefined;
  readonly onUpdate?: boolean | undefined;
  readonly onlyDomains?: readonly string[] | null | undefined;
  readonly exceptDomains?: readonly string[] | null | undefined;
}

/** A provider's settings in an auth collection. An address is empty where the provider has a fixed one. */
export interface StoredProvider {
  readonly name: string;
  readonly clientId?: string;
  readonly authURL?: string;
  readonly tokenURL?: string;
  readonly userInfoURL?: string;
  readonly displayName?: string;
}

/** What an auth collection or a view adds, as far as a move reads it. */
export interface StoredOptions {
  readonly authRule?: string | null | undefined;
  readonly manageRule?: string | null | undefined;
  readonly viewQuery?: string | undefined;
  readonly oauth2?: { readonly enabled?: boolean; readonly providers?: readonly StoredProvider[] | null } | undefined;
  readonly passwordAuth?: { readonly enabled?: boolean; readonly identityFields?: readonly string[] } | undefined;
  readonly mfa?: { readonly enabled?: boolean; readonly rule?: string } | undefined;
  readonly otp?: { readonly enabled?: boolean } | undefined;
  readonly authToken?: { readonly secret?: string } | undefined;
}

/** A collection, as a `_collections` row has it. */
export interface StoredCollection extends PocketBaseCollection {
  readonly type: 'base' | 'auth' | 'view';
  readonly system: boolean;
  readonly fields: readonly StoredField[];
  readonly indexes: readonly string[];
  readonly options: StoredOptions;
  readonly rules: Readonly<Record<'list' | 'view' | 'create' | 'update' | 'delete', string | null>>;
}

type Row = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Thrown for a row that PocketBase 0.23 to 0.40 would not have written. */
export class UnreadableCollection extends Error {}

/** Reads a `_collections` row. Throws UnreadableCollection. */
export function readCollection(row: Row): StoredCollection {
  const { id, name, type } = row;
  if (typeof id !== 'string' || typeof name !== 'string' || (type !== 'base' && type !== 'auth' && type !== 'view'))
    throw new UnreadableCollection('a collection has no id, name or known type');
  const fields = parse(row.fields, name, 'fields');
  const indexes = parse(row.indexes ?? '[]', name, 'indexes');
  const options = parse(row.options ?? '{}', name, 'options');
  const isField = (item: unknown): item is StoredField =>
    isObject(item) && typeof item.name === 'string' && typeof item.type === 'string' && typeof item.id === 'string';
  if (!Array.isArray(fields) || !fields.every(isField))
    throw new UnreadableCollection(`the collection ${name} has fields in another form`);
  const ruleOf = (member: string) => {
    const text = row[member] ?? null;
    if (text !== null && typeof text !== 'string') throw new UnreadableCollection(`${name}.${member} is not a text`);
    return text;
  };
  return {
    id,
    name,
    type,
    system: Boolean(row.system),
    fields,
    indexes: Array.isArray(indexes) ? indexes.filter((index) => typeof index === 'string') : [],
    options: isObject(options) ? options : {},
    rules: {
      list: ruleOf('listRule'),
      view: ruleOf('viewRule'),
      create: ruleOf('createRule'),
      update: ruleOf('updateRule'),
      delete: ruleOf('deleteRule'),
    },
  };
}

function parse(text: unknown, name: string, member: string): unknown {
  try {
    return JSON.parse(String(text)) ?? undefined;
  } catch {
    throw new UnreadableCollection(`${name}.${member} is not JSON`);
  }
}
