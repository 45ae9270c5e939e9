import { AppError, notFound, validationFailed } from '@recordbus/errors';
import { type Collection, definitionOf, type Field } from '@recordbus/schema';
import { isObject } from '@recordbus/text/json';
import type { Actor } from '../audit/actor.ts';
import { getCollection } from '../schema/find-collection.ts';
import type { SchemaChanges } from '../schema/schema-changes.ts';
import { type ChangedCollection, changeWithAudit } from './change-collection.ts';
import type { LostValues } from './lost-values.ts';

/** A field definition, or some of its members, as an admin sends it. `readFieldDefinitions` validates it. */
export type FieldDraft = Readonly<Record<string, unknown>>;

/** Which collection to change, and who changes it. */
interface FieldRequest {
  /** Collection id or name. */
  readonly collection: string;
  readonly nowSec: number;
  readonly actor: Actor;
}

interface ExistingField extends FieldRequest {
  /** Field id or name. */
  readonly field: string;
}

/** A field, and its collection after the change. */
export interface ChangedField {
  readonly field: Field;
  readonly collection: Collection;
}

/** Adds a field after the existing ones. Throws 404, and 422 that names what is wrong. */
export function addField(changes: SchemaChanges, request: FieldRequest, draft: FieldDraft): Promise<ChangedField> {
  return changeFields(changes, request, async (fields, change) => {
    const { collection } = await withRelativePlaces(String(draft.name), fields.length, () =>
      change([...fields.map(definitionOf), draft]),
    );
    const known = new Set(fields.map(({ id }) => id));
    const added = collection.fields.find(({ id }) => !known.has(id));
    if (!added) throw new Error('the added field is missing');
    return { field: added, collection };
  });
}

/**
 * Changes a field and keeps its data, even under a new name. Members and options that the draft leaves out stay; an
 * option that is null returns to its default. Throws 404, and 422 that names what is wrong.
 */
export function changeField(changes: SchemaChanges, request: ExistingField, draft: FieldDraft): Promise<ChangedField> {
  return changeFields(changes, request, async (fields, change) => {
    const field = getField(fields, request.field);
    if (draft.id != null && draft.id !== field.id) throw validationFailed({ id: `cannot change from ${field.id}` });
    const changed = mergeField(field, draft);
    const after = fields.map((other) => (other === field ? changed : definitionOf(other)));
    const { collection } = await withRelativePlaces(String(changed.name), fields.indexOf(field), () => change(after));
    return { field: getField(collection.fields, field.id), collection };
  });
}

/** Drops a field and returns how many values were lost. Throws 404, and 422 for a field that is still needed. */
export function deleteField(changes: SchemaChanges, request: ExistingField): Promise<readonly LostValues[]> {
  return changeFields(changes, request, async (fields, change) => {
    const field = getField(fields, request.field);
    if (field.system) throw validationFailed({ [field.name]: 'every auth collection has this field' });
    const { lostValues } = await change(fields.filter((other) => other !== field).map(definitionOf));
    return lostValues;
  });
}

/** Reads the fields after earlier changes have committed, so concurrent changes all take effect. */
function changeFields<T>(
  changes: SchemaChanges,
  { collection: idOrName, nowSec, actor }: FieldRequest,
  work: (fields: readonly Field[], change: (fields: readonly FieldDraft[]) => Promise<ChangedCollection>) => Promise<T>,
): Promise<T> {
  return changes.make((schema) => {
    const { id, type, fields } = getCollection(schema.collections, idOrName);
    if (type === 'view') throw validationFailed({ fields: "come from the view's query: change view_query" });
    return work(fields, (changed) => changeWithAudit(schema, id, { fields: [...changed] }, nowSec, actor));
  });
}

/** Looks up a field by id, then by name: one field's id may be another one's name. Throws 404. */
function getField(fields: readonly Field[], idOrName: string): Field {
  const found = fields.find(({ id }) => id === idOrName) ?? fields.find(({ name }) => name === idOrName);
  if (!found) throw notFound('field');
  return found;
}

function mergeField(field: Field, draft: FieldDraft): FieldDraft {
  const { options } = draft;
  const definition = definitionOf(field);
  if (options !== undefined && !isObject(options)) return { ...definition, ...draft, id: field.id };
  // Another type is refused, without a word about the options of this one.
  const kept = definition.type === (draft.type ?? definition.type) ? field.options : {};
  const merged = Object.entries({ ...kept, ...options }).filter(([, value]) => value !== null);
  return { ...definition, ...draft, id: field.id, options: Object.fromEntries(merged) };
}

/** Runs the work and reports problems by their place within the definition that the request sent: `options.min`. */
async function withRelativePlaces<T>(name: string, position: number, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 422) throw error;
    const places = [`fields.${name}.`, `fields.${position}.`];
    const details = Object.entries(error.details ?? {}).map(([place, message]) => {
      const own = places.find((prefix) => place.startsWith(prefix));
      return [own === undefined ? place : place.slice(own.length), String(message)];
    });
    throw validationFailed(Object.fromEntries(details));
  }
}
