import type { CollectionDefinition, CollectionValues, FieldDefinition } from '@recordbus/client';
import { readable, type Unreadable } from '../ui/unreadable.ts';
import { type RetentionDraft, retentionDraft, retentionValues } from './retention-draft.ts';

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
/** A rule that can be tried for an account. */
export type DefinitionRule = RuleName | 'sign_in_rule';

/** A collection in the editor. */
export interface Draft extends Record<RuleName, DraftRule> {
  /** Only auth collections have it. */
  sign_in_rule: DraftRule;
  /** Which records' events go to webhooks' owners. Views have none. */
  webhook_rule: DraftRule;
  name: string;
  type: CollectionDefinition['type'];
  fields: FieldDraft[];
  view_query: string;
  history_enabled: boolean;
  durability: CollectionDefinition['durability'];
  /** Seconds; null without a bound. Views have none. */
  fresh_s: number | null | Unreadable;
  /** Views have none. */
  retention: RetentionDraft;
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

/** The rules of a new collection. An account is its own. */
const newRules = (type: Draft['type']): Record<RuleName, DraftRule> => {
  const own = type === 'auth' ? 'id = @request.auth.id' : '';
  return { list_rule: '', view_rule: own, create_rule: '', update_rule: own, delete_rule: own };
};

/** Returns a new collection's draft. */
export const newDraft = (type: Draft['type']): Draft => ({
  name: type === 'auth' ? 'users' : '',
  type,
  fields: type === 'auth' ? [] : [newField('text')],
  view_query: '',
  history_enabled: false,
  durability: 'full',
  fresh_s: null,
  retention: retentionDraft({}, []),
  ...newRules(type),
  sign_in_rule: null,
  webhook_rule: '',
});

/** Returns a collection's draft. */
export function draftOf(collection: CollectionDefinition | undefined): Draft {
  if (!collection) return newDraft('base');
  const { name, type, list_rule, view_rule, create_rule, update_rule, delete_rule, history_enabled, durability } =
    collection;
  const fields = collection.fields.map(fieldDraft);
  return {
    name,
    type,
    list_rule,
    view_rule,
    create_rule,
    update_rule,
    delete_rule,
    sign_in_rule: collection.sign_in_rule ?? null,
    webhook_rule: collection.webhook_rule ?? '',
    history_enabled,
    durability,
    fresh_s: collection.fresh_s ?? null,
    retention: retentionDraft(collection, fields),
    view_query: collection.view_query ?? '',
    fields,
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
  const { history_enabled, durability, fresh_s, sign_in_rule, webhook_rule } = draft;
  const options = {
    history_enabled,
    ...(type === 'base' && { durability }),
    ...(type === 'auth' && { sign_in_rule }),
    webhook_rule,
    fresh_s,
    ...retentionValues(draft.retention, draft.fields),
  };
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
