import { isDeepStrictEqual } from 'node:util';
import { startSlice } from '@recordbus/limits/time-slice';
import { type Collection, type Field, fieldTypeOf, presentField, presentRetain } from '@recordbus/schema';
import { type ChangedSettings, isSecretKey } from '@recordbus/settings';
import { definitionsOfIndexes } from '../indexes/present-indexes.ts';
import type { Webhook } from '../webhooks/webhook-schema.ts';
import type { MigrationFile, Text } from './schema-document.ts';

type Members = Readonly<Record<string, unknown>>;

/** A schema's files, as `cli schema pull` writes them. Members are in a fixed order (schema §2). */
export interface PresentedSchema {
  readonly version: 1;
  readonly collections: readonly Members[];
  readonly webhooks: readonly Members[];
  readonly settings: Readonly<Record<string, Text>>;
  readonly migrations: readonly MigrationFile[];
}

/** Returns the collections' files, sorted by name. Runs in time slices. */
export async function presentCollections(collections: readonly Collection[]): Promise<Members[]> {
  const slice = startSlice();
  const files: Members[] = [];
  for (const collection of collections) {
    if (slice.isOver()) await slice.pause();
    files.push(presentCollectionFile(collection));
  }
  return files.sort(byName);
}

const byName = (a: Members, b: Members): number => (String(a.name) < String(b.name) ? -1 : 1);

/** Returns a collection's file: its definition without the members that belong to one stack. */
export function presentCollectionFile(collection: Collection): Members {
  const { id, name, type, rules } = collection;
  const isView = type === 'view';
  return {
    id,
    name,
    type,
    list_rule: rules.list,
    view_rule: rules.view,
    ...(!isView && { create_rule: rules.create, update_rule: rules.update, delete_rule: rules.delete }),
    ...(collection.alias !== undefined && { alias: collection.alias }),
    ...(rules.sign_in != null && { sign_in_rule: rules.sign_in }),
    ...(rules.webhook && { webhook_rule: rules.webhook }),
    ...(isView ? { view_query: collection.viewQuery } : { history_enabled: collection.historyEnabled }),
    ...(collection.durability === 'relaxed' && { durability: collection.durability }),
    ...(collection.freshSec !== undefined && { fresh_s: collection.freshSec }),
    ...presentRetain(collection),
    ...(collection.historyKeep && { history_keep: collection.historyKeep }),
    ...(!isView && { fields: collection.fields.map(presentFieldFile), indexes: presentIndexFiles(collection) }),
  };
}

/** Returns a field's definition, without options that have their defaults. */
export function presentFieldFile(field: Field): Members {
  const { id, name, type, required, collection, view_rule, write_rule } = presentField(field);
  const options = changedOptions(field);
  const placed = fieldTypeOf(field).hasOuterOptions ? options : { options };
  return {
    id,
    name,
    type,
    ...(required && { required }),
    ...(collection !== undefined && { collection }),
    ...(Object.keys(options).length > 0 && placed),
    ...(view_rule !== undefined && { view_rule }),
    ...(write_rule !== undefined && { write_rule }),
  };
}

const knownOptions = new Map<string, Members>();
const maxKnown = 10_000;

/** Returns the options that differ from their defaults, sorted. Many fields have the same options. */
function changedOptions(field: Field): Members {
  const key = `${field.type} ${JSON.stringify(field.options)}`;
  const known = knownOptions.get(key);
  if (known) return known;
  const { default: fixed, ...own } = field.options;
  const schema = fieldTypeOf(field).options;
  const isDefault = (name: string): boolean => {
    const { [name]: _, ...others } = own;
    const read = schema.safeParse(others);
    return read.success && isDeepStrictEqual(read.data, own);
  };
  const changed = Object.keys(own).filter((name) => !isDefault(name));
  const names = [...changed, ...('default' in field.options ? ['default'] : [])].sort();
  const options = Object.fromEntries(names.map((name) => [name, name === 'default' ? fixed : own[name]]));
  if (knownOptions.size >= maxKnown) knownOptions.clear();
  knownOptions.set(key, options);
  return options;
}

const presentIndexFiles = (collection: Collection): Members[] =>
  definitionsOfIndexes(collection).map(({ name, columns, unique, type, prefix, typos, synonyms = {}, ...search }) => ({
    name,
    ...(columns && { columns }),
    ...(unique && { unique }),
    ...(type !== 'btree' && { type }),
    ...search,
    ...(prefix === false && { prefix }),
    ...(typos === false && { typos }),
    ...(Object.keys(synonyms).length > 0 && { synonyms }),
  }));

/** Returns the settings that differ from their defaults. Each secret becomes a variable. */
export function presentSettings({ texts, unreadable }: ChangedSettings): Record<string, Text> {
  const nameVariable = variableNames();
  const keys = [...Object.keys(texts), ...unreadable].sort();
  return Object.fromEntries(
    keys.map((key) => [key, isSecretKey(key) ? { $env: nameVariable(key) } : (texts[key] ?? '')]),
  );
}

/** Returns the webhooks' files, sorted by id, without secrets and header values. */
export function presentWebhooks(webhooks: readonly Webhook[]): Members[] {
  const nameVariable = variableNames();
  return [...webhooks]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(
      ({
        id,
        name,
        url,
        events,
        headers,
        enabled,
        retry_max,
        retry_backoff,
        retry_delay_ms,
        timeout_ms,
        rate,
        ordering,
        on_failure,
        batch,
        filter,
        payload_days,
      }) => ({
        id,
        name,
        url,
        events,
        secret: { $env: nameVariable(`webhook ${name} secret`) },
        headers: Object.fromEntries(
          Object.keys(headers)
            .sort()
            .map((header) => [header, { $env: nameVariable(`webhook ${name} ${header}`) }]),
        ),
        enabled,
        retry_max,
        retry_backoff,
        retry_delay_ms,
        timeout_ms,
        // Versions before these members refuse them.
        ...(rate !== null && { rate }),
        ...(ordering !== 'none' && { ordering }),
        ...(on_failure !== 'block' && { on_failure }),
        ...(batch !== null && { batch }),
        ...(filter !== null && { filter }),
        ...(payload_days !== null && { payload_days }),
      }),
    );
}

/** Returns a function that turns texts into variable names, such as `SMTP_PASSWORD`, each name once. */
function variableNames(): (text: string) => string {
  const used = new Map<string, number>();
  return (text) => {
    const name = text
      .slice(0, 200)
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '_')
      .replaceAll(/^_|_$/g, '');
    const valid = /^[A-Z]/.test(name) ? name : `V_${name}`;
    const count = (used.get(valid) ?? 0) + 1;
    used.set(valid, count);
    return count === 1 ? valid : `${valid}_${count}`;
  };
}
