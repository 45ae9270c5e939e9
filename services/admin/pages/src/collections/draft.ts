import type { CollectionDefinition, CollectionValues, FieldDefinition } from '@recordbus/client';
import { readable, type Unreadable } from '../ui/unreadable.ts';

/** A rule in the editor: `Unreadable` while a custom rule is empty. */
export type DraftRule = string | null | Unreadable;

/** A field in the editor. `key` survives renames and moves. */
export interface FieldDraft {
  key: number;
  id?: string | undefined;
  name: string;
  type: string;
  required: boolean;
  options: Record<string, unknown>;
  collection: string;
  view_rule: DraftRule;
  write_rule: DraftRule;
  onCreate: boolean;
  onUpdate: boolean;
  isSystem: boolean;
}

export const ruleNames = ['list_rule', 'view_rule', 'create_rule', 'update_rule', 'delete_rule'] as const;
export type RuleName = (typeof ruleNames)[number];

/** A collection in the editor. */
export interface Draft extends Record<RuleName, DraftRule> {
  name: string;
  type: CollectionDefinition['type'];
  fields: FieldDraft[];
  view_query: string;
  history_enabled: boolean;
  durability: CollectionDefinition['durability'];
}

let lastKey = 0;

/** Returns a new field with a type. */
export function newField(type: string): FieldDraft {
  lastKey += 1;
  const rules = { view_rule: null, write_rule: null };
  return {
    key: lastKey,
    name: '',
    type,
    required: false,
    options: {},
    collection: '',
    ...rules,
    onCreate: true,
    onUpdate: false,
    isSystem: false,
  };
}

const fieldDraft = (field: FieldDefinition): FieldDraft => ({
  ...newField(field.type),
  id: field.id,
  name: field.name,
  required: field.required === true,
  options: { ...field.options },
  collection: field.collection ?? '',
  view_rule: field.view_rule ?? null,
  write_rule: field.write_rule ?? null,
  onCreate: field.onCreate === true,
  onUpdate: field.onUpdate === true,
  isSystem: field.system === true,
});

/** Returns a collection's draft. A new collection starts with admin-only rules. */
export function draftOf(collection: CollectionDefinition | undefined): Draft {
  if (!collection) {
    const rules = { list_rule: '', view_rule: '', create_rule: '', update_rule: '', delete_rule: '' };
    const options = { history_enabled: false, durability: 'full' } as const;
    return { name: '', type: 'base', fields: [newField('text')], view_query: '', ...options, ...rules };
  }
  const { name, type, list_rule, view_rule, create_rule, update_rule, delete_rule, history_enabled, durability } =
    collection;
  return {
    name,
    type,
    list_rule,
    view_rule,
    create_rule,
    update_rule,
    delete_rule,
    history_enabled,
    durability,
    view_query: collection.view_query ?? '',
    fields: collection.fields.map(fieldDraft),
  };
}

/** Removes empty options. */
const givenOptions = (options: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== '' && value !== undefined && value !== null),
  );

function fieldValues(field: FieldDraft): DraftValues {
  const { id, name, type, required, options, collection, view_rule, write_rule, onCreate, onUpdate } = field;
  return {
    ...(id !== undefined && { id }),
    name: name.trim(),
    type,
    required,
    options: givenOptions(options),
    ...(type === 'relation' && { collection }),
    ...(view_rule !== null && { view_rule }),
    ...(write_rule !== null && { write_rule }),
    ...(type === 'autodate' && { onCreate, onUpdate }),
  };
}

type DraftValues = Readonly<Record<string, unknown>>;

/** Returns a draft's values, which may hold an `Unreadable`. A view has a query instead of fields. */
export function draftValues(draft: Draft): DraftValues {
  const { name, type, list_rule, view_rule, create_rule, update_rule, delete_rule } = draft;
  const reads = { name: name.trim(), type, list_rule, view_rule };
  if (type === 'view') return { ...reads, view_query: draft.view_query };
  const { history_enabled, durability } = draft;
  const options = { history_enabled, ...(type === 'base' && { durability }) };
  return { ...reads, create_rule, update_rule, delete_rule, ...options, fields: draft.fields.map(fieldValues) };
}

/** Returns the values to send to the API. Throws an `UnreadableError` if one cannot be read. */
export const valuesOf = (draft: Draft): CollectionValues => readable(draftValues(draft)) as CollectionValues;

/** Returns a collection's fields that a draft drops. */
export const droppedFields = (
  collection: CollectionDefinition | undefined,
  draft: Draft,
): readonly FieldDefinition[] =>
  draft.type === 'view'
    ? []
    : (collection?.fields ?? []).filter(({ id }) => !draft.fields.some((field) => field.id === id));
