import type { Database } from '@recordbus/database';
import { created, mayWarn, ok, type Route, route, toJsonSchema, withWarnings } from '@recordbus/http';
import { exampleDefinitions, fieldJson, loadCollections, presentField, writtenField } from '@recordbus/schema';
import { z } from 'zod';
import { actorOf } from '../audit/actor.ts';
import { addField, type ChangedField, changeField, deleteField } from '../collections/change-fields.ts';
import { warningsOfLostValues } from '../collections/lost-values.ts';
import { warningsOfFields } from '../collections/warn-of-definition.ts';
import type { SchemaChanges } from '../schema/schema-changes.ts';

interface FieldRoutesDeps {
  readonly database: Database;
  readonly changes: SchemaChanges;
  readonly nowSec: () => number;
}

const path = '/api/v1/collections/:collection/fields';
const params = z.strictObject({ collection: z.string().describe('collection id or name') });
const fieldParams = params.extend({ field: z.string().describe('field id or name; an id wins') });

/** Any object: `readFieldDefinitions` validates it with the rest of the collection. */
const draft = z.record(z.string(), z.unknown());
const noSuchField = 'There is no such collection or field.';

/** Routes that change one field in a collection (collections §8). */
export function fieldRoutes({ database, changes, nowSec }: FieldRoutesDeps): Route[] {
  /** Returns the warnings that the save of the collection gives for this field. */
  const warningsOf = async ({ field, collection }: ChangedField) =>
    warningsOfFields([field], collection, (await loadCollections(database.read)).collections);
  return [
    route({
      method: 'POST',
      idempotent: true,
      path,
      access: 'admin',
      scope: 'collections:apply',
      summary: 'Add a field to a collection',
      params,
      body: draft,
      described: { body: { ...writtenField, examples: exampleDefinitions() } },
      answers: { 201: mayWarn(fieldJson), 404: 'There is no such collection.' },
      handler: async (input) => {
        const { collection } = input.params;
        const request = { collection, nowSec: nowSec(), actor: actorOf(input) };
        const added = await addField(changes, request, input.body);
        return withWarnings(created(presentField(added.field)), await warningsOf(added));
      },
    }),
    route({
      method: 'PATCH',
      path: `${path}/:field`,
      access: 'admin',
      scope: 'collections:apply',
      summary: 'Change a field; members and options that the body leaves out stay',
      params: fieldParams,
      body: draft,
      described: { body: toJsonSchema(fieldJson.partial(), 'input') },
      answers: { 200: mayWarn(fieldJson), 404: noSuchField },
      handler: async (input) => {
        const request = { ...input.params, nowSec: nowSec(), actor: actorOf(input) };
        const changed = await changeField(changes, request, input.body);
        return withWarnings(ok(presentField(changed.field)), await warningsOf(changed));
      },
    }),
    route({
      method: 'DELETE',
      path: `${path}/:field`,
      access: 'admin',
      scope: 'collections:apply',
      summary: 'Drop a field with its values',
      params: fieldParams,
      answers: {
        200: mayWarn(z.null()),
        404: noSuchField,
        422: 'A rule or a view names it, or every auth collection has it.',
      },
      handler: async (input) => {
        const request = { ...input.params, nowSec: nowSec(), actor: actorOf(input) };
        return withWarnings(ok(null), warningsOfLostValues(await deleteField(changes, request)));
      },
    }),
  ];
}
